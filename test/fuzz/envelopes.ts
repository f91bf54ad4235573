/** Invalid messages and headers for every MCP endpoint. */
import { modernVersion, pathName } from '@causeway/protocol'
import { documented } from '../../scripts/docs/makers.ts'
import type { Random } from '../random.ts'
import { findFaults } from './judge.ts'
import { nasty, nastyName, nastyText, type Traps, toJson, wellFormed, withMember } from './nasty.ts'
import type { Product } from './product.ts'
import type { FuzzCase } from './run.ts'
import { statelessHeaders, statelessMeta, type Ways } from './ways.ts'

const methods = [
  'initialize',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'roots/list',
  'sampling/createMessage',
]

const params: Readonly<Record<string, readonly object[]>> = {
  initialize: [
    { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } },
    { protocolVersion: '2024-11-05' },
  ],
  'tools/list': [{}, { cursor: 'x' }],
  'tools/call': [{ name: 'Causeway__list_apps', arguments: {} }, { name: 'list_apps' }],
  'resources/read': [{ uri: 'replay://recordings/drop/metadata' }, { uri: 'minds://list' }],
  'resources/subscribe': [{ uri: 'plots://list' }],
  'resources/unsubscribe': [{ uri: 'plots://list' }],
  'prompts/get': documented.flatMap(({ name, prompts }) =>
    prompts.map((prompt) => ({ name: `${name}__${prompt.name}`, arguments: {} })),
  ),
  'completion/complete': [
    {
      ref: { type: 'ref/resource', uri: 'replay://recordings/{recording}/metadata' },
      argument: { name: 'recording', value: 'd' },
    },
    {
      ref: { type: 'ref/prompt', name: 'Replay__debug_recording' },
      argument: { name: 'recording', value: '' },
    },
  ],
  'logging/setLevel': [{ level: 'debug' }],
  'notifications/cancelled': [{ requestId: 1 }],
}

const templates = documented.flatMap(({ resources }) => resources.map(({ template }) => template.text))
const mounts = [
  '/mcp',
  '/mcp',
  ...documented.map(({ name }) => `/mcp/${pathName(name)}`),
  '/messages?sessionId=x',
  '/mcp/none',
]

/** Makes a valid message with random faults and the headers of a random era. */
export function makeEnvelopeCase(random: Random, product: Product, ways: Ways): FuzzCase {
  const { traps } = product
  const isStateless = random.below(3) === 0
  const message = random.below(12) === 0 ? batch(random, traps) : envelope(random, traps, isStateless)
  const method = (message as { method?: unknown }).method
  const path = random.pick(mounts)
  const headers = makeHeaders(random, { method: typeof method === 'string' ? method : 'x', isStateless })
  const body = makeBody(random, toJson(message))
  return {
    what: `POST ${path} ${JSON.stringify(headers)} ${body}`,
    send: async () =>
      findFaults(await ways.send({ url: `${product.url}${path}`, headers, body }), 'rpc', product),
  }
}

function envelope(random: Random, traps: Traps, isStateless: boolean): object {
  const method = random.pick(methods)
  const known = random.pick(params[method] ?? [{}]) as Record<string, unknown>
  const given = method === 'resources/read' && random.below(2) === 0 ? { uri: makeUri(random, traps) } : known
  const message: Record<string, unknown> = {
    jsonrpc: '2.0',
    id: random.pick<unknown>([1, 'a', 0, -1, 1.5, '', 'é'.repeat(50), 2 ** 53]),
    method,
    params: isStateless ? { ...given, _meta: statelessMeta } : given,
  }
  if (method.startsWith('notifications/')) delete message.id
  for (let faults = random.pick([0, 0, 1, 1, 2]); faults > 0; faults -= 1) breakMember(message, random, traps)
  return message
}

function breakMember(message: Record<string, unknown>, random: Random, traps: Traps): void {
  const inside = message.params
  const target =
    random.below(2) === 0 && inside !== null && typeof inside === 'object' && !Array.isArray(inside)
      ? (inside as Record<string, unknown>)
      : message
  const chance = random.below(5)
  if (chance === 0) delete target[random.pick(Object.keys(target).concat('none'))]
  else if (chance === 1) Object.assign(target, withMember(nastyName(random, traps), nasty(random, traps)))
  else if (chance === 2)
    target._meta = random.pick([nasty(random, traps), { progressToken: nasty(random, traps) }, statelessMeta])
  else target[random.pick(Object.keys(target).concat('id'))] = nasty(random, traps)
}

const batch = (random: Random, traps: Traps): object =>
  Array.from({ length: random.pick([0, 1, 2, 5, 101]) }, () => envelope(random, traps, random.below(4) === 0))

/** Makes a resource URI of an app with random variables. */
export function makeUri(random: Random, traps: Traps): string {
  const value = (): string =>
    random.pick([
      () => random.pick(['drop', '1', 'latest', 'sample.plot.json', 'mind', 'x']),
      () => nastyText(random, traps),
    ])()
  const whole = random.pick(templates).replace(/\{[a-z_]+\}/g, () => {
    const text = value()
    return random.below(2) === 0 ? encodeURIComponent(wellFormed(text)) : text
  })
  return random.below(10) === 0 ? nastyText(random, traps) : whole
}

/** Replaces the bytes that an HTTP header cannot contain. */
const fieldText = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 2000)

const fieldNames = [
  'accept',
  'content-type',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'causeway-session',
  'causeway-request',
  'causeway-deadline',
  'traceparent',
  'content-encoding',
  'user-agent',
  'origin',
  'x-forwarded-host',
]

const fieldValues = [
  '',
  '*/*',
  'text/event-stream',
  'application/json; charset=utf-16',
  'text/plain',
  'multipart/form-data; boundary=x',
  'gzip',
  '2025-11-25',
  '2024-11-05',
  '9999-99-99',
  modernVersion,
  '1',
  '-1',
  '1e999',
  'NaN',
  'null',
  'http://localhost',
  `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  '../../etc/passwd',
  'x'.repeat(2000),
  '__proto__',
]

function makeHeaders(
  random: Random,
  { method, isStateless }: { readonly method: string; readonly isStateless: boolean },
): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...(isStateless ? statelessHeaders(fieldText(method)) : {}),
    ...(random.below(2) === 0 ? { accept: 'application/json, text/event-stream' } : {}),
  }
  for (let changes = random.pick([0, 0, 1, 2]); changes > 0; changes -= 1)
    headers[random.pick(fieldNames)] = random.pick(fieldValues)
  return headers
}

/** Returns the text, or a body that is not valid JSON. */
function makeBody(random: Random, json: string): string | Buffer {
  if (random.below(6) > 0) return json
  return random.pick<() => string | Buffer>([
    () => json.slice(0, random.below(json.length + 1)),
    () => `\ufeff${json}`,
    () => Buffer.from(json, 'utf16le'),
    () => Buffer.concat([Buffer.from(json), Buffer.from([0xff, 0xfe, 0])]),
    () => json.replaceAll('"', "'"),
    () => `${json}${json}`,
    () => '',
    () => 'null',
    () => '"text"',
    () => '['.repeat(10_000),
    () => `{"jsonrpc":"2.0","jsonrpc":"1.0",${json.slice(1)}`,
    () => `{"a":${'{"a":'.repeat(2000)}1${'}'.repeat(2001)}`,
  ])()
}
