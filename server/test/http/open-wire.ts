import type { App } from '@causeway/app-kit'
import { meta, modernVersion } from '@causeway/protocol'
import type { Test } from 'tap'
import { request } from 'undici'
import type { Core } from '../../src/host/core.ts'
import { type HttpOptions, HttpServer } from '../../src/http/server.ts'
import { type DemoControl, demoApp } from '../demo-app.ts'
import { captureLog, type LogCapture, openTestCore } from '../test-core.ts'
import { type WireControl, wireApp } from './wire-app.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The parsed text; throws if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the test states the expected shape
  readonly json: any
}

/** Options of a request; the default is a POST of JSON to `/mcp`. */
export interface Sending {
  readonly path?: string
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A running server under test. */
export interface Wire {
  readonly core: Core
  readonly http: HttpServer
  readonly demo: DemoControl
  readonly wire: WireControl
  readonly logged: LogCapture
  /** Sends a value as JSON, but strings and bytes unchanged. */
  send(body?: unknown, sending?: Sending): Promise<Answer>
  /** Yields the messages of an event stream, or the one message of a JSON body. */
  stream(body?: unknown, sending?: Sending): Promise<Stream>
  /** Yields the events of a stream, with data of any form. */
  events(body?: unknown, sending?: Sending): Promise<EventStream>
  /** Opens a session and returns its id. */
  initialize(sending?: Sending): Promise<string>
}

export interface StreamEvent {
  readonly event: string | undefined
  readonly data: string
}

export interface EventStream extends Omit<Stream, 'messages'> {
  readonly events: AsyncGenerator<StreamEvent>
}

export interface Stream {
  readonly status: number
  readonly headers: Answer['headers']
  // biome-ignore lint/suspicious/noExplicitAny: the test states the expected shape
  readonly messages: AsyncGenerator<any>
  /** Comments received so far. */
  readonly comments: readonly string[]
  /** Event ids received so far. */
  readonly ids: readonly string[]
  hangUp(): void
}

const json = 'application/json'
/** Headers of a client that accepts JSON and event streams. */
export const both = { accept: 'application/json, text/event-stream' }

/** Opens a server with the demo apps and closes it with the test. */
export async function openWire(
  t: Test,
  options: {
    dir?: string
    apps?: readonly App[]
    env?: NodeJS.ProcessEnv
    profiles?: () => Readonly<Record<string, readonly string[]>>
  } & Partial<HttpOptions> = {},
): Promise<Wire> {
  const { dir = t.testdir(), apps = [], env = {}, profiles = () => ({}), ...rest } = options
  const demo = demoApp()
  const wire = wireApp()
  const logged = captureLog()
  const core = await openTestCore(t, [demo.app, wire.app, ...apps], {
    dir,
    env,
    profiles,
    log: logged.log,
  })
  const http = await HttpServer.open(core, {
    host: '127.0.0.1',
    port: 0,
    bodyLimitBytes: 16 * 2 ** 20,
    ...rest,
  })
  t.teardown(() => http.close(0))

  const open = (body: unknown, { path = '/mcp', method = 'POST', headers = {}, signal }: Sending) =>
    request(`${http.url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': json }), ...headers },
      ...(body === undefined ? {} : { body: toBody(body) }),
      ...(signal === undefined ? {} : { signal }),
    })

  const send: Wire['send'] = async (body, sending = {}) => {
    const answer = await open(body, sending)
    const text = await answer.body.text()
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text,
      get json() {
        return JSON.parse(text)
      },
    }
  }

  const openEvents = async (body: unknown, sending: Sending = {}) => {
    const hangUp = new AbortController()
    const answer = await open(body, {
      ...sending,
      headers: { ...both, ...sending.headers },
      signal: hangUp.signal,
    })
    const comments: string[] = []
    const ids: string[] = []
    return {
      answer,
      status: answer.statusCode,
      headers: answer.headers,
      events: events(answer.body, { comments, ids }),
      comments,
      ids,
      hangUp: () => hangUp.abort(),
    }
  }

  return {
    core,
    http,
    demo: demo.control,
    wire: wire.control,
    logged,
    send,
    events: openEvents,
    async stream(body, sending = {}) {
      const { events, answer, ...rest } = await openEvents(body, sending)
      const isJson = String(rest.headers['content-type']).startsWith(json)
      return { ...rest, messages: isJson ? only(answer.body.json()) : parseMessages(events) }
    },
    async initialize(sending = {}) {
      const { headers } = await send(initializeMessage(), {
        ...sending,
        headers: { ...both, ...sending.headers },
      })
      const id = headers['mcp-session-id'] as string
      await send(
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { ...sending, headers: { ...both, 'mcp-session-id': id } },
      )
      return id
    },
  }
}

export const rpc = (method: string, params?: object, id: string | number = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
})

export const toolCall = (name: string, args: object = {}, progressToken?: string) =>
  rpc('tools/call', {
    name,
    arguments: args,
    ...(progressToken === undefined ? {} : { _meta: { progressToken } }),
  })

/** The first message of a 2025-11-25 client. */
export const initializeMessage = () =>
  rpc('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  })

/** Converts a message to a stateless message. Returns its body and headers. */
export function modern(message: { method: string; params?: object }) {
  const params: Record<string, unknown> = { ...message.params }
  const _meta = {
    ...(params._meta as object | undefined),
    [meta.protocolVersion]: modernVersion,
    [meta.clientInfo]: { name: 'raw-modern', version: '2' },
    [meta.clientCapabilities]: {},
  }
  const name = params.name ?? params.uri
  return {
    body: { ...message, params: { ...params, _meta } },
    headers: {
      ...both,
      'mcp-protocol-version': modernVersion,
      'mcp-method': message.method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
  }
}

/** Sends a message, stateless or in a session of its own, and returns the response. */
export async function respond(
  wire: Wire,
  {
    path,
    era,
    message,
  }: {
    readonly path: string
    readonly era: 'modern' | 'legacy'
    readonly message: { readonly method: string; readonly params?: object }
  },
) {
  if (era === 'modern') {
    const { body, headers } = modern(message)
    return (await wire.send(body, { path, headers })).json
  }
  const id = await wire.initialize({ path })
  const { messages } = await wire.stream(message, { path, headers: { ...both, 'mcp-session-id': id } })
  return (await messages.next()).value
}

/** Polls until a condition is true; fails after 30 seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 30_000
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not true within 30 s: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

function toBody(body: unknown): string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
}

async function* parseMessages(events: AsyncGenerator<StreamEvent>): AsyncGenerator<unknown> {
  for await (const { data } of events) yield JSON.parse(data)
}

async function* only(message: Promise<unknown>): AsyncGenerator<unknown> {
  yield await message
}

async function* events(
  body: AsyncIterable<Uint8Array>,
  { comments, ids }: { comments: string[]; ids: string[] },
): AsyncGenerator<StreamEvent> {
  let rest = ''
  for await (const chunk of body) {
    const parts = (rest + Buffer.from(chunk).toString()).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      if (part.startsWith(':')) comments.push(part.slice(1).trim())
      const id = /^id: (.+)$/m.exec(part)?.[1]
      if (id !== undefined) ids.push(id)
      const event = /^event: (.+)$/m.exec(part)?.[1]
      const data = /^data: ([^\n]+)$/m.exec(part)?.[1]
      if (data !== undefined) yield { event, data }
    }
  }
}
