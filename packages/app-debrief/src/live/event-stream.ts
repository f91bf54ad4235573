import type { Plot } from '../plot/plot.ts'
import type { LiveEvent } from './plot-events.ts'

const heartbeatMs = 15_000
/** A viewer with more queued characters receives a snapshot instead of events. */
const maxQueuedCharacters = 8 * 2 ** 20
/** A larger snapshot is incomplete and refers to the features route. */
const maxSnapshotCharacters = 4 * 2 ** 20

/** Returns the missed events or a snapshot, then live events, as server-sent events. */
export const createEventStream = (
  plot: Plot,
  since: string | null,
  signal: AbortSignal,
): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(new EventStreamSource(plot, since, signal), {
    highWaterMark: 0,
    size: (chunk) => chunk?.byteLength ?? 0,
  })

class EventStreamSource {
  readonly #plot: Plot
  readonly #since: string | null
  readonly #signal: AbortSignal
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #isCatchingUp = false
  #hasEnded = false
  #onDrained = (): void => {}

  constructor(plot: Plot, since: string | null, signal: AbortSignal) {
    this.#plot = plot
    this.#since = since
    this.#signal = signal
  }

  async start(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#controller = controller
    this.#heartbeat = setInterval(() => this.#write(': still here\n\n'), heartbeatMs).unref()
    this.#signal.addEventListener(
      'abort',
      () => {
        if (this.#hasEnded) return
        this.cancel()
        controller.close()
      },
      { once: true },
    )
    this.#write('retry: 1000\n\n')
    const missedEvents = this.#plot.live.subscribe(this.#send, this.#since)
    if (missedEvents !== null) for (const event of missedEvents) this.#write(formatEvent(event))
    else await this.#sendSnapshot()
  }

  pull(): void {
    this.#onDrained()
  }

  cancel(): void {
    this.#hasEnded = true
    clearInterval(this.#heartbeat)
    this.#plot.live.unsubscribe(this.#send)
  }

  #write(text: string): void {
    if (!this.#hasEnded) this.#controller?.enqueue(this.#encoder.encode(text))
  }

  readonly #send = (event: LiveEvent): void => {
    if (this.#isCatchingUp) return
    const queuedCharacters = -(this.#controller?.desiredSize ?? 0)
    if (queuedCharacters + event.data.length <= maxQueuedCharacters) this.#write(formatEvent(event))
    else this.#catchUp().catch((error: unknown) => this.#controller?.error(error))
  }

  async #catchUp(): Promise<void> {
    this.#isCatchingUp = true
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve
    })
    await this.#sendSnapshot()
  }

  async #sendSnapshot(): Promise<void> {
    this.#isCatchingUp = true
    const plot = this.#plot
    const route = `"features_route":"/plots/${encodeURIComponent(plot.filename)}/features"`
    await plot.readThen({ kind: 'snapshot', maxCharacters: maxSnapshotCharacters }, (members, rev) => {
      const { dirty, file = 'ok' } = plot.getStatus()
      const data = `{"rev":${rev},"dirty":${dirty},"file":"${file}",${members},${route}}`
      this.#write(formatEvent({ id: plot.live.lastId, event: 'snapshot', data }))
      this.#isCatchingUp = false
    })
  }
}

const formatEvent = ({ id, event, data }: LiveEvent): string =>
  `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
