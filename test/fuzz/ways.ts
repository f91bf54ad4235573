/** Ways to call a tool: each MCP transport, plain JSON, REST, and the port of the app. */
import { meta, modernVersion, pathName, wireName } from '@causeway/protocol'
import { Agent, fetch, request } from 'undici'
import { LineSplitter } from '../../bridge/src/stdio/lines.ts'
import type { Form, HttpResponse } from './judge.ts'
import { toJson } from './nasty.ts'
import { fields, type Product } from './product.ts'

/** Response timeout in milliseconds, sufficient for slow machines. */
export const deadlineMs = 60_000

/** An HTTP request. */
export interface HttpRequest {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** A client of the product with open sessions. */
export interface Ways {
  /** Sends a request and reads the complete response, or the first chunk of a stream that stays open. */
  send(request: HttpRequest): Promise<HttpResponse>
  /** Names of the ways. */
  readonly names: readonly string[]
  /** Calls a tool in one of the ways. */
  call(
    way: string,
    tool: { readonly app: string; readonly name: string },
    args: unknown,
  ): Promise<{ readonly form: Form; readonly response: HttpResponse }>
  close(): Promise<void>
}

const json = { 'content-type': 'application/json' }
const both = { accept: 'application/json, text/event-stream' }

const rpc = (id: unknown, method: string, params: object): object => ({ jsonrpc: '2.0', id, method, params })

/** The URLs of a product. */
export type Address = Pick<Product, 'url' | 'own'>

/** Opens the sessions and event streams. */
export async function openWays(product: Address): Promise<Ways> {
  const agent = new Agent({
    connections: 32,
    pipelining: 1,
    connect: { timeout: deadlineMs },
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
  })
  const send = async ({ url, method = 'POST', headers = {}, body }: HttpRequest): Promise<HttpResponse> => {
    const response = await request(url, {
      method: method as 'POST',
      headers: { ...fields, ...headers },
      ...(body === undefined ? {} : { body }),
      dispatcher: agent,
      signal: AbortSignal.timeout(deadlineMs),
    })
    const type = String(response.headers['content-type'] ?? '')
    const isOpen = method === 'GET' && type.startsWith('text/event-stream')
    const text = isOpen ? await readFirstChunk(response.body) : await response.body.text()
    return { status: response.statusCode, type, text }
  }
  let ids = 0
  const post = (
    path: string,
    message: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpResponse> =>
    send({
      url: `${product.url}${path}`,
      headers: { ...json, ...headers },
      body: toJson(message),
    })
  const session = await openSession(product, agent)
  const stream = await openStream(product, agent)
  const ways: Readonly<Record<string, (app: string, tool: string, args: unknown) => Promise<HttpResponse>>> =
    {
      plain: (app, tool, args) =>
        post('/mcp', rpc(++ids, 'tools/call', { name: wireName(app, tool), arguments: args })),
      bare: (app, tool, args) =>
        post(`/mcp/${pathName(app)}`, rpc(`b${++ids}`, 'tools/call', { name: tool, arguments: args })),
      session: (app, tool, args) =>
        post(
          '/mcp',
          rpc(++ids, 'tools/call', {
            name: wireName(app, tool),
            arguments: args,
            _meta: { progressToken: ids },
          }),
          {
            ...both,
            'mcp-session-id': session,
          },
        ),
      stateless(app, tool, args) {
        const name = wireName(app, tool)
        const message = rpc(++ids, 'tools/call', { name, arguments: args, _meta: statelessMeta })
        return post('/mcp', message, { ...statelessHeaders('tools/call'), 'mcp-name': name })
      },
      events: (app, tool, args) =>
        stream.call((id) => rpc(id, 'tools/call', { name: wireName(app, tool), arguments: args })),
      ownPort: (app, tool, args) =>
        send({
          url: `${product.own.get(pathName(app))}/mcp`,
          headers: json,
          body: toJson(rpc(++ids, 'tools/call', { name: tool, arguments: args })),
        }),
      rest: (app, tool, args) =>
        send({
          url: `${product.url}/api/apps/${pathName(app)}/tools/${tool}`,
          headers: json,
          body: toJson(args),
        }),
    }
  return {
    send,
    names: Object.keys(ways),
    async call(way, { app, name }, args) {
      const run = ways[way] as (typeof ways)[string] // `way` is one of `names`
      return { form: way === 'rest' ? 'rest' : 'rpc', response: await run(app, name, args) }
    },
    async close() {
      stream.end()
      await send({ url: `${product.url}/mcp`, method: 'DELETE', headers: { 'mcp-session-id': session } })
      await agent.destroy()
    },
  }
}

/** `_meta` of a stateless message. */
export const statelessMeta = {
  [meta.protocolVersion]: modernVersion,
  [meta.clientInfo]: { name: 'fuzz', version: '1' },
  [meta.clientCapabilities]: {},
}

/** Headers of a stateless message. */
export const statelessHeaders = (method: string): Record<string, string> => ({
  ...both,
  'mcp-protocol-version': modernVersion,
  'mcp-method': method,
})

async function openSession({ url }: Address, dispatcher: Agent): Promise<string> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'fuzz', version: '1' },
  }
  const response = await fetch(`${url}/mcp`, {
    dispatcher,
    method: 'POST',
    headers: { ...fields, ...json, ...both },
    body: JSON.stringify(rpc(0, 'initialize', params)),
  })
  await response.text()
  const id = response.headers.get('mcp-session-id')
  if (id === null) throw new Error(`no session: ${response.status}`)
  return id
}

/** Returns the first chunk of a stream. */
async function readFirstChunk(body: AsyncIterable<Buffer> & { destroy(): void }): Promise<string> {
  for await (const chunk of body) {
    body.destroy()
    return chunk.toString()
  }
  return ''
}

/** Opens the event stream of 2024-11-05, which delivers the responses to posted messages. */
async function openStream({ url }: Address, dispatcher: Agent) {
  const hangUp = new AbortController()
  const open = await fetch(`${url}/sse`, { dispatcher, headers: fields, signal: hangUp.signal })
  const waiting = new Map<string, (text: string) => void>()
  let endpoint: (path: string) => void = () => {}
  const endpointPath = new Promise<string>((resolve) => {
    endpoint = resolve
  })
  const read = async (): Promise<void> => {
    const lines = new LineSplitter()
    for await (const chunk of open.body as AsyncIterable<Uint8Array>)
      for (const line of lines.push(Buffer.from(chunk))) {
        const data = /^data: ?([^\n]*)$/.exec(line.toString('utf8'))?.[1]
        if (data === undefined) continue
        if (data.startsWith('/')) endpoint(data)
        else {
          const id = String((JSON.parse(data) as { id?: unknown }).id)
          waiting.get(id)?.(data)
          waiting.delete(id)
        }
      }
  }
  read().catch(() => {}) // closed by the client, or by a server failure that the calls detect
  const path = await endpointPath
  let ids = 0
  return {
    async call(message: (id: string) => object): Promise<HttpResponse> {
      const id = `e${++ids}`
      const answered = new Promise<string>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error('no event within the deadline')), deadlineMs)
        waiting.set(id, (text) => {
          clearTimeout(late)
          resolve(text)
        })
      })
      // The event is not awaited if the request fails.
      answered.catch(() => {})
      const posted = await fetch(`${url}${path}`, {
        dispatcher,
        method: 'POST',
        headers: { ...fields, ...json },
        body: toJson(message(id)),
      })
      const text = await posted.text()
      if (posted.status === 202) return { status: 200, type: 'application/json', text: await answered }
      waiting.get(id)?.('')
      return { status: posted.status, type: String(posted.headers.get('content-type')), text }
    },
    end: () => hangUp.abort(),
  }
}
