import type { IncomingHttpHeaders } from 'node:http'
import type Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import type { Backpressure } from './backpressure.ts'
import type { Connections } from './connections.ts'
import type { Fields } from './headers.ts'
import { resolveTarget } from './target.ts'

export interface Reader {
  head(status: number, headers: IncomingHttpHeaders): void
  data(chunk: Buffer): void
  /** Returns the size of the incomplete message. */
  bufferedBytes(): number
}

export interface Exchange {
  /** Rejects with undici's error if the response breaks or is aborted. */
  readonly done: Promise<void>
  /** Whether the server may have received the request. */
  wasWritten(): boolean
  /** Resolves when the request is written or will never be. */
  whenWritten(): Promise<void>
  abort(): void
}

export interface Upstream {
  readonly url: URL
  /** Longer messages are not stored. */
  readonly maxMessageBytes: number
  /** `path` replaces the path of the URL. */
  post(fields: Fields, body: Buffer, reader: Reader, path?: string): Exchange
  /** Uses its own connection. */
  listen(fields: Fields, reader: Reader): Exchange
  /** Reads the rest of one response. */
  resume(fields: Fields, reader: Reader): Exchange
  /** Ends a session. */
  remove(fields: Fields, reader: Reader): Exchange
  destroy(): Promise<void>
}

interface Options {
  readonly url: URL
  /** Replaces the URL's path; read before each request. */
  readonly path?: (() => string) | undefined
  readonly maxMessageBytes: number
  readonly connections: Connections
  readonly fields: () => Fields
  readonly backpressure: Pick<Backpressure, 'update' | 'end'>
  /** Called for a response without an error status. */
  readonly onResponse: () => void
}

export function createUpstream({
  url,
  path: readPath,
  maxMessageBytes,
  connections,
  fields,
  backpressure,
  onResponse,
}: Options): Upstream {
  const { origin, path } = resolveTarget(url)
  const getPath = readPath ?? (() => path)
  const { calls, streams } = connections
  const start = (
    dispatcher: Dispatcher,
    own: Fields,
    reader: Reader,
    method: 'GET' | 'POST' | 'DELETE',
    body?: Buffer,
    at = getPath(),
  ) =>
    new HttpExchange(
      dispatcher,
      { origin, method, path: at, headers: { ...fields(), ...own }, body: body ?? null },
      { reader, backpressure, onResponse },
    )

  return {
    url,
    maxMessageBytes,
    post: (own, body, reader, at) => start(calls, own, reader, 'POST', body, at),
    listen: (own, reader) => start(streams, own, reader, 'GET'),
    resume: (own, reader) => start(calls, own, reader, 'GET'),
    remove: (own, reader) => start(calls, own, reader, 'DELETE'),
    async destroy() {
      await Promise.allSettled([calls.destroy(), streams.destroy()])
    },
  }
}

type Receiver = Pick<Options, 'backpressure' | 'onResponse'> & { readonly reader: Reader }

class HttpExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly done: Promise<void>
  readonly #dispatcher: Dispatcher
  readonly #request: Dispatcher.DispatchOptions
  readonly #receiver: Receiver
  #resolve: () => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #isAborted = false
  #isFailed = false
  #markWritten: (() => void) | undefined
  /** The path at which to repeat the request. */
  #redirect: string | undefined
  #wasRedirected = false

  constructor(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions, receiver: Receiver) {
    this.#dispatcher = dispatcher
    this.#request = request
    this.#receiver = receiver
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    dispatcher.dispatch(request, this)
  }

  wasWritten(): boolean {
    return this.#controller !== undefined
  }

  async whenWritten(): Promise<void> {
    if (this.wasWritten() || this.#isFailed) return
    await new Promise<void>((resolve) => {
      this.#markWritten = resolve
    })
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort(new Error('aborted by the bridge'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isAborted) this.abort()
    // undici writes the request in this tick, before the promise is handled.
    this.#markWritten?.()
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return
    if (status < 400) this.#receiver.onResponse()
    if (!this.#wasRedirected) this.#redirect = findRedirect(this.#request, status, headers.location)
    if (this.#redirect === undefined) this.#receiver.reader.head(status, headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#redirect !== undefined) return
    const { reader, backpressure } = this.#receiver
    reader.data(chunk)
    backpressure.update(controller, reader.bufferedBytes())
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#receiver.backpressure.end(controller)
    const path = this.#redirect
    if (path === undefined) this.#resolve()
    else {
      this.#redirect = undefined
      this.#wasRedirected = true
      this.#dispatcher.dispatch({ ...this.#request, path }, this)
    }
  }

  onResponseError(controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (controller) this.#receiver.backpressure.end(controller)
    this.#isFailed = true
    this.#markWritten?.()
    this.#reject(error)
  }
}

/** Follows 307 and 308, but not to another origin, which must not receive credentials. */
function findRedirect(
  { origin, path }: Pick<Dispatcher.DispatchOptions, 'origin' | 'path'>,
  status: number,
  location: unknown,
): string | undefined {
  const here = `${origin}${path}`
  if ((status !== 307 && status !== 308) || typeof location !== 'string' || !URL.canParse(location, here))
    return undefined
  const to = new URL(location, here)
  return to.origin === new URL(here).origin ? to.pathname + to.search : undefined
}
