import type { IncomingHttpHeaders } from 'node:http'
import type Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import type { Backpressure } from './backpressure.ts'
import type { Connections } from './connections.ts'
import type { Fields } from './headers.ts'
import { resolveTarget } from './target.ts'

export interface Reader {
  head(status: number, headers: IncomingHttpHeaders): void
  data(chunk: Buffer): void
  /** Size of the incomplete message, in bytes. */
  kept(): number
}

export interface Exchange {
  /** Rejects with the error of undici if the response breaks or is aborted. */
  readonly done: Promise<void>
  /** Whether the server may have received the request. */
  wasWritten(): boolean
  /** Resolves when the request is written or will never be. */
  whenWritten(): Promise<void>
  abort(): void
}

export interface Upstream {
  readonly url: URL
  /** Longer messages of the server are not stored. */
  readonly maxMessageBytes: number
  /** `path` replaces the path of the URL. */
  post(fields: Fields, body: Buffer, reader: Reader, path?: string): Exchange
  /** Uses a connection of its own, so that it occupies none of the calls. */
  listen(fields: Fields, reader: Reader): Exchange
  /** Reads the rest of one response. */
  resume(fields: Fields, reader: Reader): Exchange
  /** Ends a session. */
  remove(fields: Fields, reader: Reader): Exchange
  destroy(): Promise<void>
}

interface Options {
  readonly url: URL
  /** Replaces the path of the URL; read before each request. */
  readonly path?: (() => string) | undefined
  readonly maxMessageBytes: number
  readonly connections: Connections
  readonly fields: () => Fields
  readonly backpressure: Pick<Backpressure, 'update' | 'end'>
  /** Called when the server responds without an error status. */
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
    dispatch(
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

function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  {
    reader,
    backpressure,
    onResponse,
  }: Pick<Options, 'backpressure' | 'onResponse'> & { readonly reader: Reader },
): Exchange {
  let controller: Dispatcher.DispatchController | undefined
  let isAborted = false
  let isFailed = false
  let markWritten = (): void => {}
  const abort = (): void => {
    isAborted = true
    controller?.abort(new Error('aborted by the bridge'))
  }
  /** `canRedirect`: follow one redirect that keeps method and body. */
  const send = (path: string, canRedirect: boolean, { resolve, reject }: Settle): void => {
    let redirect: string | undefined
    const request = { ...options, path }
    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (isAborted) abort()
        // undici writes the request in this tick, before the promise is handled.
        markWritten()
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return
        if (status < 400) onResponse()
        redirect = canRedirect ? findRedirect(request, status, headers.location) : undefined
        if (redirect === undefined) reader.head(status, headers)
      },
      onResponseData(current, chunk) {
        if (redirect !== undefined) return
        reader.data(chunk)
        backpressure.update(current, reader.kept())
      },
      onResponseEnd(current) {
        backpressure.end(current)
        if (redirect === undefined) resolve()
        else send(redirect, false, { resolve, reject })
      },
      onResponseError(current, error) {
        if (current) backpressure.end(current)
        isFailed = true
        markWritten()
        reject(error)
      },
    })
  }
  const done = new Promise<void>((resolve, reject) => send(options.path, true, { resolve, reject }))
  const wasWritten = (): boolean => controller !== undefined
  return {
    done,
    wasWritten,
    async whenWritten() {
      if (!wasWritten() && !isFailed)
        await new Promise<void>((resolve) => {
          markWritten = resolve
        })
    },
    abort,
  }
}

interface Settle {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
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
