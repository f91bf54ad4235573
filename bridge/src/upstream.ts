import type { IncomingHttpHeaders } from 'node:http'
import type Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import type { Connections } from './connections.ts'
import type { Flow } from './flow.ts'
import type { Fields } from './headers.ts'
import { targetOf } from './target.ts'

/** Takes one HTTP answer as it comes in. */
export interface Reader {
  head(status: number, headers: IncomingHttpHeaders): void
  data(chunk: Buffer): void
  /** Bytes kept of a message that is not complete. */
  kept(): number
}

/** One HTTP request on its way. */
export interface Exchange {
  /** Resolves once the request is written, or never will be. */
  readonly sent: Promise<void>
  /** Resolves when the answer is complete; rejects with undici's error when it breaks or was aborted. */
  readonly done: Promise<void>
  /** True once anything was written to a socket: from then on the server may have seen it. */
  wasWritten(): boolean
  abort(): void
}

/** The server at the other end. */
export interface Upstream {
  readonly url: URL
  /** To `path` where the server has named another one than that of its URL. */
  post(fields: Fields, body: Buffer, reader: Reader, path?: string): Exchange
  /** A GET stream; it has a connection of its own, so that it never takes one from the calls. */
  listen(fields: Fields, reader: Reader): Exchange
  /** A GET stream that brings the rest of one answer. */
  resume(fields: Fields, reader: Reader): Exchange
  /** Ends a session on the server. */
  remove(fields: Fields, reader: Reader): Exchange
  /** Breaks every connection. */
  destroy(): Promise<void>
}

interface Parts {
  readonly url: URL
  readonly connections: Connections
  /** What every request carries; asked for before each. */
  readonly fields: () => Fields
  readonly flow: Flow
  /** Called when the server has begun to answer a request well. */
  readonly onAnswer: () => void
}

/** Opens nothing yet; connections are made by the first request. */
export function createUpstream({ url, connections, fields, flow, onAnswer }: Parts): Upstream {
  const { origin, path } = targetOf(url)
  const { calls, streams } = connections
  const start = (
    dispatcher: Dispatcher,
    own: Fields,
    reader: Reader,
    method: 'GET' | 'POST' | 'DELETE',
    body?: Buffer,
    at = path,
  ) =>
    dispatch(
      dispatcher,
      { origin, method, path: at, headers: { ...fields(), ...own }, body: body ?? null },
      { reader, flow, onAnswer },
    )

  return {
    url,
    post: (own, body, reader, at) => start(calls, own, reader, 'POST', body, at),
    listen: (own, reader) => start(streams, own, reader, 'GET'),
    resume: (own, reader) => start(calls, own, reader, 'GET'),
    remove: (own, reader) => start(calls, own, reader, 'DELETE'),
    async destroy() {
      await Promise.allSettled([calls.destroy(), streams.destroy()])
    },
  }
}

function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { reader, flow, onAnswer }: Pick<Parts, 'flow' | 'onAnswer'> & { readonly reader: Reader },
): Exchange {
  let controller: Dispatcher.DispatchController | undefined
  let isAborted = false
  const abort = (): void => {
    isAborted = true
    controller?.abort(new Error('aborted by the bridge'))
  }

  let isSent: () => void
  const sent = new Promise<void>((resolve) => {
    isSent = resolve
  })
  /** `mayMove`: follows one redirect that keeps method and body, to another path of the same server. */
  const send = (path: string, mayMove: boolean, { resolve, reject }: Settle): void => {
    let moved: string | undefined
    const request = { ...options, path }
    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (isAborted) abort()
        // undici writes in this very tick, after this call.
        else setImmediate(isSent)
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return
        if (status < 400) onAnswer()
        moved = mayMove ? movedTo(request, status, headers.location) : undefined
        if (moved === undefined) reader.head(status, headers)
      },
      onResponseData(current, chunk) {
        if (moved !== undefined) return
        reader.data(chunk)
        flow.gathered(current, reader.kept())
      },
      onResponseEnd(current) {
        flow.ended(current)
        if (moved === undefined) resolve()
        else send(moved, false, { resolve, reject })
      },
      onResponseError(current, error) {
        if (current) flow.ended(current)
        isSent()
        reject(error)
      },
    })
  }
  const done = new Promise<void>((resolve, reject) => send(options.path, true, { resolve, reject }))
  return { sent, done, wasWritten: () => controller !== undefined, abort }
}

interface Settle {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The other path of the same origin to which 307 or 308 sends; what the request carries must not go to another. */
function movedTo(
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
