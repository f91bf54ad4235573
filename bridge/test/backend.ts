import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { Sightings } from './sightings.ts'

/** A JSON-RPC message without types. */
// biome-ignore lint/suspicious/noExplicitAny: tests read messages of every shape
export type Wire = any

/** A received HTTP request, with methods that respond to it. */
export interface Got {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body parsed as JSON; `undefined` if it is empty. */
  readonly message: Wire
  /** Resolves when the response is complete or its connection is closed. */
  readonly closed: Promise<unknown>
  json(value: Wire, head?: { status?: number; headers?: Record<string, string> }): void
  result(result: Wire, headers?: Record<string, string>): void
  status(status: number, body?: string, headers?: Record<string, string>): void
  /** Starts an event stream. */
  stream(headers?: Record<string, string>): Stream
  readonly response: ServerResponse
}

/** An event stream that a test writes. */
export interface Stream {
  send(message: Wire, fields?: string): void
  raw(text: string | Buffer): void
  end(): void
  /** Closes the connection without ending the response. */
  break(): void
}

/** Responds to one JSON-RPC method, or to `GET` or `DELETE`. */
export type Script = (got: Got) => void

/**
 * An HTTP server with scripted responses. By default it is a legacy server without a GET stream: `initialize` opens session
 * `s1` of version 2025-11-25, notifications get 202, and requests are echoed.
 */
export class Backend {
  readonly got = new Sightings<Got>()
  readonly #scripts = new Map<string, Script>()
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const got = makeGot(request, Buffer.concat(chunks).toString(), response)
      this.got.push(got)
      const isBatch = Array.isArray(got.message)
      const script = this.#scripts.get(
        got.method === 'POST' ? (isBatch ? 'batch' : got.message?.method) : got.method,
      )
      if (script === undefined) this.#answer(got)
      else script(got)
    })
  })
  #port = 0

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`
  }

  /** Starts the server, always on the same port. */
  async start(host = '127.0.0.1'): Promise<void> {
    await once(this.#server.listen(this.#port, host), 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Stops the server and closes all connections. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  on(method: string, script: Script): void {
    this.#scripts.set(method, script)
  }

  /** Resolves to the first request with this JSON-RPC method, `GET` or `DELETE`. */
  saw(method: string, matches: (got: Got) => boolean = () => true): Promise<Got> {
    return this.got.first(method, (got) => getName(got) === method && matches(got))
  }

  /** Returns the methods in the order of their arrival. */
  methods(): string[] {
    return this.got.all.map(getName)
  }

  #answer(got: Got): void {
    const { method, message } = got
    if (method === 'GET') got.status(405)
    else if (method === 'DELETE') got.status(200)
    else if (message?.method === 'initialize') got.result(handshake, { 'mcp-session-id': 's1' })
    else if (message?.id === undefined || message.method === undefined) got.status(202)
    else got.result({ echo: message.method })
  }
}

/** Responds with HTTP 400 and a JSON-RPC error. */
export const rejectRequest = (got: Got, code: number, data?: Wire): void =>
  got.json({ jsonrpc: '2.0', id: got.message.id, error: { code, message: 'no', data } }, { status: 400 })

/** Makes the backend a server that supports only the stateless era. */
export function makeStateless(backend: Backend, capabilities: Wire = { tools: {} }): void {
  backend.on('initialize', (got) => rejectRequest(got, -32022, { supported: ['2026-07-28'] }))
  backend.on('server/discover', (got) =>
    got.result({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'm', version: '1' } },
    }),
  )
}

/** Default result of `initialize`. */
export const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'backend', version: '1' },
}

/** Starts a backend that stops at the end of the test. */
export async function startBackend(t: Test): Promise<Backend> {
  const backend = new Backend()
  await backend.start()
  t.teardown(() => backend.stop())
  return backend
}

const getName = ({ method, message }: Got): string =>
  method === 'POST' ? (message?.method ?? (Array.isArray(message) ? 'batch' : 'response')) : method

function makeGot(request: IncomingMessage, text: string, response: ServerResponse): Got {
  const { method = '', url: path = '', headers } = request
  const json: Got['json'] = (value, { status = 200, headers = {} } = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(value))
  }
  const message = text === '' ? undefined : JSON.parse(text)
  return {
    method,
    path,
    headers,
    text,
    message,
    response,
    closed: once(response, 'close'),
    json,
    result: (result, headers = {}) => json({ jsonrpc: '2.0', id: message.id, result }, { headers }),
    status(status, body = '', headers = {}) {
      response.writeHead(status, headers)
      response.end(body)
    },
    stream(headers = {}) {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
      response.flushHeaders()
      return {
        send: (message, fields = '') =>
          void response.write(`${fields}event: message\ndata: ${JSON.stringify(message)}\n\n`),
        raw: (text) => void response.write(text),
        end: () => void response.end(),
        break: () => void response.destroy(),
      }
    },
  }
}
