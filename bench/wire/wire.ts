import { fileURLToPath } from 'node:url'
import { headers, meta, modernVersion } from '@causeway/protocol'
import { Pool } from 'undici'
import { serverModule } from '../../test/downloads/clients.mjs'
import { ask, sustain, type Target } from '../load.ts'
import { type Program, startProgram } from '../program.ts'
import { number, type Section } from '../report.ts'
import { interleaved } from '../rounds.ts'
import { EventAnswers } from './event-answers.ts'
import { type Comparison, ours, references, wireSection } from './wire-report.ts'

const rounds = 5
const load = { ms: 350, inFlight: 16 }
/** V8 optimizes the code of a server during its first 100,000 calls or more. */
const warmUp = { ms: 3000, inFlight: 16 }

const json = { 'content-type': 'application/json' }
const both = { ...json, accept: 'application/json, text/event-stream' }
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo_42', arguments: { text: 'hello' } },
}
type Message = typeof list | typeof call

const source = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** A server that answers messages. `target` returns `undefined` if its route cannot. */
interface Contender {
  readonly name: string
  target(message: Message): Target | undefined
}

/** Compares `tools/list` and a trivial `tools/call` of a server that hosts `bench-app.ts` with its peers. */
export async function measureWire(causeway: Program): Promise<Section[]> {
  const sdk = await startProgram([source('sdk-v1-server.ts')], { NODE_ENV: 'production' })
  const pools: Pool[] = []
  const open = (program: Program, path: string, fields: Record<string, string>) => {
    const pool = new Pool(program.url, { connections: 8 })
    pools.push(pool)
    return (message: Message): Target => ({
      pool,
      program,
      path,
      headers: fields,
      body: withId(message),
    })
  }
  const lenient = open(causeway, '/mcp/bench', json)
  const modern = open(causeway, '/mcp/bench', both)
  const bytes = Buffer.byteLength(await ask(lenient(list)))
  const rest = {
    ...open(causeway, '/api/apps/bench/tools/echo_42', json)(call),
    body: () => JSON.stringify(call.params.arguments),
  }
  const raw = await startProgram([source('raw-server.ts')], { BENCH_BYTES: String(bytes) })
  const rawTarget = open(raw, '/', json)
  const fastmcp = await startFastmcp()
  const contenders: readonly Contender[] = [
    {
      name: references.raw,
      target: (message) => ({ ...rawTarget(message), path: message === list ? '/list' : '/echo' }),
    },
    { name: `${ours}plain JSON`, target: lenient },
    {
      name: `${ours}session`,
      target: open(causeway, '/mcp/bench', await sessionFields(causeway, '/mcp/bench')),
    },
    { name: `${ours}2026-07-28`, target: (message) => stateless(modern(message), message) },
    { name: `${ours}HTTP+SSE`, target: await openEventStream(causeway, pools) },
    { name: `${ours}REST`, target: (message) => (message === call ? rest : undefined) },
    { name: references.sdk, target: open(sdk, '/session', await sessionFields(sdk, '/session')) },
    { name: 'SDK v1 + express, stateless', target: open(sdk, '/stateless', both) },
    ...(fastmcp === undefined
      ? []
      : [{ name: references.fastmcp, target: open(fastmcp, '/mcp', await sessionFields(fastmcp, '/mcp')) }]),
  ]
  try {
    return [
      await compare(contenders, list, { title: `tools/list, 100 tools, ${number(bytes)} bytes`, ofRaw: 1.5 }),
      await compare(contenders, call, { title: 'tools/call of a trivial tool', ofRaw: 3, ofPeers: 3 }),
    ]
  } finally {
    await Promise.all([...pools.map((pool) => pool.destroy()), sdk.stop(), raw.stop(), fastmcp?.stop()])
  }
}

/** Returns the text of a message with any id; it is serialised once. */
function withId(message: object): (id: number) => string {
  const [before = '', after = ''] = JSON.stringify({ ...message, id: '#' }).split('"#"')
  return (id) => `${before}${id}${after}`
}

/** Path of the module; undefined unless `node test/downloads/clients.mjs install servers` has installed it. */
async function startFastmcp(): Promise<Program | undefined> {
  const module = serverModule('fastmcp', process.env)
  if (module === undefined) return undefined
  return startProgram([source('fastmcp-server.mjs'), module], { NODE_ENV: 'production' })
}

async function compare(
  contenders: readonly Contender[],
  message: Message,
  comparison: Omit<Comparison, 'about'>,
): Promise<Section> {
  const candidates = contenders.flatMap(({ name, target }) => {
    const one = target(message)
    if (one === undefined) return []
    return [{ name, warmUp: () => sustain(one, warmUp), run: () => sustain(one, load) }]
  })
  for (const { warmUp } of candidates) await warmUp()
  const about =
    `${load.inFlight} requests in flight over 8 persistent connections; median of ${rounds} interleaved rounds after ` +
    `${warmUp.ms / 1000} s of warm-up, ratios within a round. ` +
    'Raw Fastify sends prepared text of the same length, or its parsed body. Only Causeway logs each call.'
  return wireSection({ ...comparison, about }, await interleaved(candidates, rounds))
}

/** Opens an event stream of MCP 2024-11-05. */
async function openEventStream(program: Program, pools: Pool[]): Promise<Contender['target']> {
  const pool = new Pool(program.url, { connections: 9 })
  pools.push(pool)
  const { endpoint: path, answers } = await EventAnswers.open(pool, '/sse/bench')
  const target = (message: object): Target => ({
    pool,
    program,
    path,
    headers: json,
    body: withId(message),
    answers,
  })
  await ask(target(initialize('2024-11-05')))
  return target
}

/** Opens a session of 2025-11-25 and returns the headers of its requests. */
export async function sessionFields(program: Program, path: string): Promise<Record<string, string>> {
  const post = (body: object, fields: Record<string, string>) =>
    fetch(`${program.url}${path}`, { method: 'POST', headers: fields, body: JSON.stringify(body) })
  const opened = await post(initialize('2025-11-25'), both)
  await opened.text()
  const fields = {
    ...both,
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  }
  await (await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, fields)).text()
  return fields
}

const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})

/** Converts a request to 2026-07-28: each message contains its version, client and capabilities. */
function stateless(target: Target, message: Message): Target {
  const _meta = {
    [meta.protocolVersion]: modernVersion,
    [meta.clientInfo]: { name: 'bench', version: '1' },
    [meta.clientCapabilities]: {},
  }
  const { method, params } = message
  return {
    ...target,
    headers: {
      ...target.headers,
      [headers.protocolVersion]: modernVersion,
      'mcp-method': method,
      ...('name' in params ? { 'mcp-name': params.name } : {}),
    },
    body: withId({ ...message, params: { ...params, _meta } }),
  }
}
