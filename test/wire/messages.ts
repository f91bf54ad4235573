/** Requests of MCP clients, as each revision sends them. */
import type { Case } from './conversation.ts'
import { sends } from './conversation.ts'
import type { Sent } from './transcript.ts'

export const json = { 'content-type': 'application/json' }
/** What a client sends that reads JSON and event streams. */
export const both = { ...json, accept: 'application/json, text/event-stream' }

export const rpc = (method: string, params?: object, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
})

export const notification = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  method,
  ...(params === undefined ? {} : { params }),
})

/** `tools/call` of a tool of the sample app, by its name on the shared mount. */
export const call = (tool: string, args: object = {}, id: unknown = 1, more: object = {}) =>
  rpc('tools/call', { name: `Sample__${tool}`, arguments: args, ...more }, id)

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'transcript', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Options of `stateless`. */
interface StatelessOptions {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Members of `_meta` in addition to the usual ones. */
  readonly meta?: Readonly<Record<string, unknown>>
  readonly capabilities?: object
}

/** A message of 2026-07-28, with the headers that go with it. The transcript abbreviates the usual `_meta`. */
export function stateless(
  message: { readonly method: string; readonly params?: object },
  { path = '/mcp', headers = {}, meta = {}, capabilities }: StatelessOptions = {},
): Sent {
  const own = capabilities === undefined ? {} : { 'io.modelcontextprotocol/clientCapabilities': capabilities }
  const params = message.params as
    | { readonly name?: unknown; readonly uri?: unknown; taskId?: unknown }
    | undefined
  const name = params?.name ?? params?.uri ?? params?.taskId
  const withMeta = (_meta: object) => JSON.stringify({ ...message, params: { ...params, _meta } })
  return {
    path,
    headers: {
      ...both,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': message.method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...headers,
    },
    body: withMeta({ ...envelope, ...own, ...meta }),
    shownBody: withMeta({ '(usual)': true, ...own, ...meta }),
  }
}

/** Requests that are rejected before their body is read, for every route. `valid` is a request that succeeds. */
export function rejected(valid: Sent): Case[] {
  const withHeaders = (headers: Readonly<Record<string, string>>): Sent => ({
    ...valid,
    headers: { ...valid.headers, ...headers },
  })
  const { 'content-type': _, ...untyped } = valid.headers ?? {}
  const cases = [
    sends('a foreign Host is rejected', withHeaders({ host: 'attacker.example' })),
    sends('a foreign Origin is rejected', withHeaders({ origin: 'http://attacker.example' })),
    sends('an allowed Origin is accepted', withHeaders({ origin: 'http://tool.example' })),
    sends('an embedded request of another site is rejected', withHeaders({ 'sec-fetch-site': 'cross-site' })),
    sends('a malformed Causeway-Session is rejected', withHeaders({ 'causeway-session': 'a b' })),
    sends('a malformed Causeway-Request is rejected', withHeaders({ 'causeway-request': 'a b' })),
    sends('the client chooses the request id', withHeaders({ 'causeway-request': 'chosen-1' })),
  ]
  if (valid.body === undefined) return cases
  return [
    ...cases,
    sends('a wrong content type is rejected', withHeaders({ 'content-type': 'text/plain' })),
    sends('a missing content type is rejected', { ...valid, headers: untyped }),
    sends('a content encoding is rejected', withHeaders({ 'content-encoding': 'gzip' })),
    sends('a body over the limit is rejected', {
      ...valid,
      body: `"${'x'.repeat(70_000)}"`,
      shownBody: '(70,002 bytes)',
    }),
    sends('a body that is not JSON is rejected', { ...valid, body: '{"jsonrpc":', shownBody: '{"jsonrpc":' }),
    sends('an empty body is rejected', { ...valid, body: '', shownBody: '(empty)' }),
    sends('JSON that is nested too deeply is rejected', {
      ...valid,
      body: '['.repeat(2000),
      shownBody: '(2,000 opening brackets)',
    }),
  ]
}
