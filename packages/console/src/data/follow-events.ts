import { type FeedBatch, takeNewEvents } from './feed-position.ts'
import { pause, type Server } from './server.ts'

type ReceiveBatch<T> = (batch: Omit<FeedBatch<T>, 'id'>) => void

/**
 * Follows a feed while the page is visible, starting with the next event or `recent` ones. The first batch arrives when
 * the stream is open and may be empty. Returns a function that ends following.
 */
export function followEvents<T>(
  server: Server,
  path: string,
  receive: ReceiveBatch<T>,
  { from = '' }: { readonly from?: '' | 'recent' } = {},
): () => void {
  const follower = new FeedFollower<T>({ server, path, receive, from })
  let controller: AbortController | undefined
  const update = (): void => {
    controller?.abort()
    controller = undefined
    if (document.hidden) return
    controller = new AbortController()
    void follower.follow(controller.signal)
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    controller?.abort()
  }
}

interface FeedOptions<T> {
  readonly server: Server
  readonly path: string
  readonly receive: ReceiveBatch<T>
  readonly from: string
}

/**
 * Receives a feed from the server or from another tab, because a browser opens only six connections to a server. The
 * tab that holds the feed's lock opens the stream and sends its batches to the others.
 */
class FeedFollower<T> {
  readonly #options: FeedOptions<T>
  #lastEventId: string
  /** Batches of another tab that arrived while this tab requests earlier ones. */
  #queuedBatches: FeedBatch<T>[] | undefined

  constructor(options: FeedOptions<T>) {
    this.#options = options
    this.#lastEventId = options.from
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { server, path } = this.#options
    const name = await server.getSharedName(path)
    while (!signal.aborted) {
      try {
        if (name === undefined) await this.#streamAsLeader(signal)
        else await this.#share(name, signal)
      } catch {
        // The shell shows whether the server is reachable.
      }
      if (!signal.aborted) await pause()
    }
  }

  /** Ends when the stream ends, so that another tab can open one. */
  async #share(name: string, outerSignal: AbortSignal): Promise<void> {
    const endController = new AbortController()
    const signal = AbortSignal.any([outerSignal, endController.signal])
    this.#queuedBatches = undefined
    const channel = new BroadcastChannel(name)
    channel.onmessage = ({ data }) => this.#receiveShared(data as FeedBatch<T>, signal)
    const streamToOthers = () => this.#streamAsLeader(signal, (batch) => channel.postMessage(batch))
    try {
      const isLeader = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
        if (lock !== null) await streamToOthers()
        return lock !== null
      })
      if (isLeader) return
      const catchUpPromise = this.#catchUp(signal)
      await Promise.all([
        catchUpPromise,
        navigator.locks.request(name, { signal }, () => catchUpPromise.then(streamToOthers)),
      ])
    } finally {
      endController.abort()
      channel.close()
    }
  }

  async #streamAsLeader(signal: AbortSignal, send?: (batch: FeedBatch<T>) => void): Promise<void> {
    for await (const batch of this.#readBatches(signal)) {
      this.#receiveOwn(batch)
      send?.(batch)
    }
  }

  #receiveShared(batch: FeedBatch<T>, signal: AbortSignal): void {
    if (this.#queuedBatches !== undefined) {
      this.#queuedBatches.push(batch)
      return
    }
    const newEvents = takeNewEvents(this.#lastEventId, batch)
    if (newEvents !== undefined) this.#receive(newEvents)
    else this.#catchUp(signal).catch(() => {})
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    if (this.#queuedBatches !== undefined) return
    const queuedBatches: FeedBatch<T>[] = []
    this.#queuedBatches = queuedBatches
    try {
      for await (const batch of this.#readBatches(signal)) {
        this.#receiveOwn(batch)
        break
      }
    } finally {
      if (this.#queuedBatches === queuedBatches) this.#queuedBatches = undefined
    }
    for (const batch of queuedBatches) this.#receiveShared(batch, signal)
  }

  /** Another tab may already have sent a part of this batch. */
  #receiveOwn(batch: FeedBatch<T>): void {
    this.#receive(takeNewEvents(this.#lastEventId, batch) ?? batch)
  }

  #receive({ id, events, missed }: FeedBatch<T>): void {
    this.#lastEventId = id
    this.#options.receive({ events, missed })
  }

  async *#readBatches(outerSignal: AbortSignal): AsyncGenerator<FeedBatch<T>> {
    const { server, path } = this.#options
    const endController = new AbortController()
    const signal = AbortSignal.any([outerSignal, endController.signal])
    try {
      const response = await server.openStream(path, { lastEventId: this.#lastEventId, signal })
      for await (const { id, data } of readEvents(response)) {
        if (signal.aborted) return
        yield { id, ...(JSON.parse(data) as Omit<FeedBatch<T>, 'id'>) }
      }
    } finally {
      endController.abort()
    }
  }
}

export async function* readEvents(
  response: Response,
): AsyncGenerator<{ id: string; event: string; data: string }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
    if (done || value === undefined) return
    const blocks = (text + value).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1] ?? ''
      const data = /^data: (.*)$/m.exec(block)?.[1]
      const event = /^event: (.*)$/m.exec(block)?.[1] ?? 'message'
      if (data !== undefined) yield { id, event, data }
    }
  }
}
