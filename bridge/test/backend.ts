import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { Sightings } from './sightings.ts'

/** A JSON-RPC message as loosely as tests need it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
export type Wire = any

/** One HTTP request that the backend got, and the means to answer it in pieces. */
export interface Got {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON, undefined when it has none. */
  readonly message: Wire
  /** Resolves when the connection of this answer is closed or the answer is complete. */
  readonly closed: Promise<unknown>
  json(value: Wire, head?: { status?: number; headers?: Record<string, string> }): void
  result(result: Wire, headers?: Record<string, string>): void
  status(status: number, body?: string, headers?: Record<string, string>): void
  /** Begins an event stream. */
  stream(headers?: Record<string, string>): Stream
  readonly response: ServerResponse
}

/** An event stream under the control of a test. */
export interface Stream {
  send(message: Wire, fields?: string): void
  raw(text: string | Buffer): void
  end(): void
  /** Cuts the connection. */
  break(): void
}

/** What a test says about the answers to one JSON-RPC method, or to `GET` and `DELETE`. */
export type Script = (got: Got) => void

/**
 * A real HTTP server whose answers the test scripts. Unscripted, it is a small legacy server: `initialize` opens
 * session `s1` of version 2025-11-25, notifications get 202, requests are echoed, there is no GET stream.
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
      const script = this.#scripts.get(got.method === 'POST' ? got.message?.method : got.method)
      if (script === undefined) this.#answer(got)
      else script(got)
    })
  })
  #port = 0

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`
  }

  /** Starts, or starts again on the same port. */
  async start(host = '127.0.0.1'): Promise<void> {
    await once(this.#server.listen(this.#port, host), 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Stops like a process that is killed. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  on(method: string, script: Script): void {
    this.#scripts.set(method, script)
  }

  /** The first request with this JSON-RPC method, `GET` or `DELETE`. */
  saw(method: string, matches: (got: Got) => boolean = () => true): Promise<Got> {
    return this.got.first(method, (got) => nameOf(got) === method && matches(got))
  }

  /** Methods in the order of their arrival. */
  methods(): string[] {
    return this.got.all.map(nameOf)
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

/** What the unscripted backend answers to `initialize`. */
export const handshake = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'backend', version: '1' },
}

/** A running backend that ends with the test. */
export async function startBackend(t: Test): Promise<Backend> {
  const backend = new Backend()
  await backend.start()
  t.teardown(() => backend.stop())
  return backend
}

const nameOf = ({ method, message }: Got): string =>
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
