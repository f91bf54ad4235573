import { setTimeout as delay } from 'node:timers/promises'

interface Batch<T> {
  readonly events: readonly T[]
  /** Number of requested events that were already evicted. */
  readonly missed: number
  readonly position: number
}

interface StreamOptions<T> {
  readonly signal: AbortSignal
  readonly toJson: (event: T) => unknown
}

const batchIntervalMs = 100
const recentEvents = 500
const heartbeatMs = 15_000
const blockSize = 50

/**
 * The latest events, for pages that follow them. Events must be JSON values. All but the newest are stored as JSON
 * outside of V8's heap, because minor garbage collections under load would copy them.
 */
export class EventFeed<T> {
  readonly #capacity: number
  /** Distinguishes positions of this run from those of earlier runs. */
  readonly #run = Date.now().toString(36)
  /** JSON arrays of `blockSize` events, oldest first. */
  readonly #blocks: Buffer[] = []
  #newestEvents: T[] = []
  #position = 0
  #openStreams = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get position(): number {
    return this.#position
  }

  get openStreams(): number {
    return this.#openStreams
  }

  publish(event: T): void {
    this.#newestEvents.push(event)
    this.#position += 1
    if (this.#newestEvents.length < blockSize) return
    this.#blocks.push(Buffer.from(JSON.stringify(this.#newestEvents)))
    this.#newestEvents = []
    if (this.#blocks.length > Math.ceil(this.#capacity / blockSize)) this.#blocks.shift()
  }

  /**
   * Returns the position after which a stream starts. `null` selects only new events, `recent` also the latest 500,
   * and an id of an earlier run all stored events.
   */
  parseId(id: string | null): number {
    if (id === null) return this.#position
    if (id === 'recent') return Math.max(0, this.#position - recentEvents)
    const [run, position] = id.split('.')
    const knownPosition = run === this.#run ? Number(position) : 0
    return knownPosition >= 0 && knownPosition <= this.#position ? knownPosition : 0
  }

  readAfter(position: number): Batch<T> {
    const firstPosition = Math.max(position, this.#position - this.#capacity)
    let start = this.#position - this.#newestEvents.length
    const eventLists = [this.#newestEvents.slice(Math.max(0, firstPosition - start))]
    for (const block of this.#blocks.toReversed()) {
      if (start <= firstPosition) break
      start -= blockSize
      const events = JSON.parse(block.toString()) as T[]
      eventLists.unshift(events.slice(Math.max(0, firstPosition - start)))
    }
    return { events: eventLists.flat() as T[], missed: firstPosition - position, position: this.#position }
  }

  /**
   * Streams server-sent events with the position as id and `{ events, missed }` as data. Does not buffer events
   * for slow readers.
   */
  stream(position: number, options: StreamOptions<T>): Response {
    const { signal } = options
    if (!signal.aborted) {
      this.#openStreams += 1
      signal.addEventListener('abort', () => (this.#openStreams -= 1), { once: true })
    }
    return new Response(ReadableStream.from(this.#readMessages(position, options)), {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      },
    })
  }

  async *#readMessages(position: number, { signal, toJson }: StreamOptions<T>): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder()
    let currentPosition = position
    let lastSentMs = 0
    while (!signal.aborted) {
      const batch = this.readAfter(currentPosition)
      const isUnchanged = batch.events.length === 0 && currentPosition === batch.position
      if (!isUnchanged || Date.now() - lastSentMs > heartbeatMs) {
        const data = JSON.stringify({ events: batch.events.map(toJson), missed: batch.missed })
        yield encoder.encode(`id: ${this.#run}.${batch.position}\ndata: ${data}\n\n`)
        currentPosition = batch.position
        lastSentMs = Date.now()
      }
      await pause(signal)
    }
  }
}

const pause = (signal: AbortSignal): Promise<void> =>
  delay(batchIntervalMs, undefined, { signal, ref: false }).catch(() => {})
