import { type App, defineApp } from '@causeway/app-kit'
import t from 'tap'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { Audit } from '../../src/audit/audit.ts'
import { type AuditEntry, findSubject, toAuditRecord } from '../../src/audit/audit-entry.ts'
import type { AuditStore } from '../../src/audit/audit-store.ts'
import { ServerStore } from '../../src/host/server-store.ts'
import {
  both,
  initializeMessage,
  modern,
  openWire,
  rpc,
  toolCall,
  until,
  type Wire,
} from '../http/open-wire.ts'
import { call, captureLog, openTestCore } from '../test-core.ts'

const planted = 'a-planted-secret-argument'

/** An app that notes facts and calls another app. */
const noting: App = defineApp(
  { name: 'Noting', about: 'Notes facts.', service: 'note-server', open: (env) => env, session: () => ({}) },
  (app) => {
    app.tool('edit', {
      about: 'Edits a plot.',
      input: { filename: z.string().describe('a plot'), secret: z.string().optional().describe('anything') },
      output: { filename: z.string() },
      example: { args: { filename: 'x' } },
      run({ filename }, { note }) {
        note({ rev_before: 1, ids: Array.from({ length: 30 }, (_, id) => id) })
        note({ rev_after: 2 })
        return { filename }
      },
    })
    app.tool('relay', {
      about: 'Calls echo.',
      input: {},
      output: { text: z.string() },
      example: { args: {} },
      run: async (_, ctx) => (await ctx.store.call('Demo', 'echo', { text: 'x' }, ctx)) as { text: string },
    })
    app.route('POST', '/edit', {
      about: 'Edits.',
      handle: async (_request, _variables, ctx) =>
        Response.json(await ctx.call('edit', { filename: 'by-route' })),
    })
    app.socket('/', {
      about: 'Edits.',
      message: async (_text, socket, ctx) => {
        await ctx.call('edit', { filename: 'by-socket' })
        await socket.send('done')
      },
    })
  },
)

const entries = async ({ core }: Pick<Wire, 'core'>, query: object = {}) =>
  core.audit.query({ limit: 200, ...query })

verifies('audit:entry', async (t) => {
  const wire = await openWire(t, { apps: [noting] })
  const { send } = wire
  const echo = { text: planted }
  await send(toolCall('Demo__echo', echo), { headers: { 'causeway-request': 'by-curl' } })
  const stateless = modern(toolCall('Demo__echo', echo))
  await send(stateless.body, { headers: { ...stateless.headers, 'causeway-request': 'by-modern' } })
  const session = await wire.initialize()
  const inSession = { ...both, 'mcp-session-id': session }
  await send(toolCall('Demo__echo', echo), { headers: { ...inSession, 'causeway-request': 'by-session' } })
  await send(toolCall('Demo__echo', echo, 'progress'), {
    headers: { ...inSession, 'causeway-request': 'by-stream' },
  })
  await send(echo, { path: '/api/apps/demo/tools/echo', headers: { 'causeway-request': 'by-rest' } })
  await send({}, { path: '/api/apps/noting/edit', headers: { 'causeway-request': 'by-route' } })
  await send({}, { path: '/api/apps/noting/tools/relay', headers: { 'causeway-request': 'by-app' } })
  const socket = new WebSocket(`${wire.http.url.replace('http', 'ws')}/api/apps/noting`)
  socket.onopen = () => socket.send('go')
  await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }))
  socket.close()
  await callOverSse(wire, echo)
  await send(toolCall('Demo__fail', { code: 'NO_RECORDING' }), { headers: { 'causeway-request': 'failing' } })
  await send(toolCall('Demo__echo', { text: 1, [planted]: planted }), {
    headers: { 'causeway-request': 'bad' },
  })

  const found = await entries(wire)
  const findEntry = (id: string) => found.find(({ request_id }) => request_id === id)
  t.match(findEntry('by-curl'), {
    app: 'Demo',
    service: 'demo',
    tool: 'echo',
    channel: 'mcp',
    client: 'unknown',
    code: 'ok',
    answer_chars: Number,
    request_bytes: Number,
  })
  t.match(findEntry('by-modern'), { channel: 'mcp', client: 'raw-modern' })
  t.match(findEntry('by-session'), { channel: 'session', client: 'raw' })
  t.match(findEntry('by-stream'), { channel: 'session', client: 'raw' })
  t.match(findEntry('by-rest'), { channel: 'rest' })
  t.match(findEntry('by-route/1'), { channel: 'route', service: 'note-server', subject: 'by-route' })
  t.match(findEntry('by-app'), { channel: 'rest', tool: 'relay' })
  t.match(findEntry('by-app/Demo.echo'), {
    channel: 'app',
    tool: 'echo',
    session: findEntry('by-app')?.session,
  })
  t.match(
    found.find(({ channel }) => channel === 'socket'),
    { tool: 'edit', subject: 'by-socket' },
  )
  t.match(
    found.find(({ channel }) => channel === 'sse'),
    { tool: 'echo' },
  )
  t.match(findEntry('failing'), { code: 'NO_RECORDING', answer_chars: null })
  t.match(findEntry('bad'), { code: 'INVALID_ARGUMENTS' })
  t.equal(found.length, 12, 'one entry per call')
  const shown = await send(undefined, { path: '/api/apps/causeway/audit', method: 'GET' })
  t.notMatch(shown.text, planted)
  t.notMatch(JSON.stringify(found), planted)
  t.notMatch(shown.text, session, 'the session id is a secret')
})

/** Makes one call with the transport of MCP 2024-11-05. */
async function callOverSse(wire: Wire, args: object): Promise<void> {
  const stream = await wire.events(undefined, { path: '/sse', method: 'GET' })
  const path = String((await stream.events.next()).value?.data)
  await wire.send(initializeMessage(), { path })
  await stream.events.next()
  await wire.send(toolCall('Demo__echo', args), { path })
  await stream.events.next()
  stream.hangUp()
}

verifies('audit:facts', async (t) => {
  const core = await openTestCore(t, [noting])
  await call(core, 'Noting__edit', { filename: 'm1.plot.json', secret: planted })
  const [entry] = await entries({ core })
  t.match(entry, { subject: 'm1.plot.json', facts: { rev_before: 1, rev_after: 2 } })
  t.match(entry?.facts?.ids, { length: 20 })
  t.notMatch(JSON.stringify(entry), planted)
})

t.test('findSubject prefers the result of a call to its arguments', async (t) => {
  t.equal(findSubject({ filename: 'a' }, { filename: 'b' }), 'a')
  t.equal(findSubject({ other: 1 }, { recording: 'r' }), 'r')
  t.equal(findSubject(undefined, { mind_id: 7 }), null)
  t.equal(findSubject({ filename: 'x'.repeat(500) })?.length, 200)
})

verifies('audit:query', async (t) => {
  const wire = await openWire(t, { apps: [noting] })
  const { send } = wire
  for (const filename of ['a', 'b', 'a', 'c']) await call(wire.core, 'Noting__edit', { filename })
  await call(wire.core, 'Demo__fail', { code: 'NO_RECORDING' })
  const query = async (args: object) =>
    (await send(rpc('tools/call', { name: 'Causeway__query_audit', arguments: args }))).json.result
      .structuredContent
  t.match((await query({ subject: 'a' })).entries.length, 2)
  t.match(await query({ code: 'failed' }), {
    entries: [
      {
        level: 'ERROR',
        operation: 'tool_call',
        toolName: 'fail',
        success: false,
        error: { code: 'NO_RECORDING', message: /^[^;]+$/ },
        metadata: { app: 'Demo', client: 'test', channel: 'mcp' },
      },
    ],
    next_before: null,
    summary: '1 calls, 1 of them failed.',
  })
  t.equal((await query({ app: 'noting', tool: 'edit' })).entries.length, 4)
  t.equal((await query({ since: '2001-01-01T00:00:00Z', until: '2002-01-01T00:00:00Z' })).entries.length, 0)
  const first = await query({ app: 'Noting', limit: 3 })
  const rest = await query({ app: 'Noting', limit: 3, before: first.next_before })
  t.same(
    [...first.entries, ...rest.entries].map(({ metadata }) => metadata.subject),
    ['c', 'a', 'b', 'a'],
  )
  const byQuery = await send(undefined, { path: '/api/apps/causeway/audit?subject=b&limit=9', method: 'GET' })
  t.match(byQuery, { status: 200, json: { entries: [{ metadata: { subject: 'b' } }] } })
  const bad = await send(undefined, { path: '/api/apps/causeway/audit?subjct=b', method: 'GET' })
  t.match(bad, { status: 400, json: { code: 'INVALID_ARGUMENTS' } })
})

verifies('audit:export', async (t) => {
  const wire = await openWire(t, { apps: [noting] })
  await Promise.all(
    Array.from({ length: 450 }, (_, n) => call(wire.core, 'Noting__edit', { filename: `f${n}` })),
  )
  const { headers, text } = await wire.send(undefined, {
    path: '/api/apps/causeway/audit.jsonl',
    method: 'GET',
  })
  t.equal(headers['content-type'], 'application/x-ndjson')
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(new Set(lines.map(({ metadata }) => metadata.subject)).size, 450)
  t.match(lines[0], {
    timestamp: /^\d{4}-\d\d-\d\dT.*Z$/,
    level: 'INFO',
    service: 'note-server',
    operation: 'tool_call',
    toolName: 'edit',
    duration: Number,
    success: true,
    metadata: { rev_after: 2 },
  })
})

const entry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  at_ms: 0,
  app: 'Demo',
  service: 'demo',
  tool: 'echo',
  channel: 'mcp',
  client: 'test',
  client_version: '1',
  session: 'abc',
  request_id: 'r',
  trace_id: null,
  ms: 1,
  code: 'ok',
  request_bytes: null,
  answer_chars: null,
  subject: null,
  facts: null,
  ...changes,
})

t.test('the level of an entry is WARN for a rejected call and ERROR for a failed call', async (t) => {
  const level = (code: string) => toAuditRecord(entry({ code }), { timestamp: '', about: '' }).level
  t.same(['ok', 'RATE_LIMITED', 'INTERNAL'].map(level), ['INFO', 'WARN', 'ERROR'])
})

verifies('audit:retention', async (t) => {
  const clock = { now: 100 * 24 * 3600_000 }
  const store = new ServerStore(`${t.testdir()}/server.db`, { now: () => clock.now })
  t.teardown(() => store.close())
  const old = clock.now - 31 * 24 * 3600_000
  const ages = [...Array(2500).fill(old), ...Array(1500).fill(clock.now)]
  await store.audit.append(ages.map((at_ms, n) => entry({ at_ms, request_id: `r${n}` })))
  const open = (maxRows: number) =>
    new Audit({ store: store.audit, keepDays: 30, maxRows, log: captureLog().log, now: () => clock.now })
  const waitForCount = async (count: number) => {
    while ((await store.audit.readPage({ limit: ages.length })).entries.length !== count)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const readIds = async () =>
    (await store.audit.readPage({ limit: ages.length })).entries.map(({ request_id }) => request_id).reverse()
  const newest = (count: number) => ages.map((_, n) => `r${n}`).slice(-count)
  await open(1_000_000).close()
  await waitForCount(1500)
  t.same(await readIds(), newest(1500), 'older entries are removed')
  await open(1000).close()
  await waitForCount(1000)
  t.same(await readIds(), newest(1000), 'the oldest of too many entries are removed')
})

verifies('audit:stop', async (t) => {
  const dir = t.testdir()
  const core = await openTestCore(t, [noting], { dir })
  await Promise.all(Array.from({ length: 700 }, (_, n) => call(core, 'Noting__edit', { filename: `f${n}` })))
  await core.close()
  const again = await openTestCore(t, [noting], { dir })
  const found: unknown[] = []
  for (let before: number | undefined; ; ) {
    const page = await again.audit.query({ limit: 200, before })
    found.push(...page.map(({ subject }) => subject))
    before = page.at(-1)?.id
    if (page.length < 200) break
  }
  t.equal(new Set(found).size, 700)
})

verifies('audit:stop', 'entries survive a full disk, which is logged once', async (t) => {
  const { log, lines } = captureLog()
  const written: AuditEntry[] = []
  const disk = { isFull: true }
  const store: Pick<AuditStore, 'append' | 'trim'> = {
    async append(entries) {
      if (disk.isFull) throw new Error('disk full')
      written.push(...entries)
    },
    trim: async () => 0,
  }
  const audit = new Audit({ store: store as AuditStore, keepDays: 1, maxRows: 1000, log, now: () => 0 })
  for (let n = 0; n < 300; n++) audit.add(entry({ request_id: `r${n}` }))
  await until(() => lines.length > 0)
  for (let n = 300; n < 400; n++) audit.add(entry({ request_id: `r${n}` }))
  disk.isFull = false
  await audit.close()
  t.same(
    written.map(({ request_id }) => request_id),
    Array.from({ length: 400 }, (_, n) => `r${n}`),
  )
  t.equal(lines.length, 1)
})

verifies(
  'audit:query',
  'a query does not wait for calls that end while it writes earlier ones',
  async (t) => {
    const batches: number[] = []
    const load = { isBusy: true }
    const store: Pick<AuditStore, 'append' | 'trim' | 'readPage'> = {
      async append({ length }) {
        batches.push(length)
        if (load.isBusy && batches.length < 50) audit.add(entry({}))
      },
      trim: async () => 0,
      readPage: async () => ({ entries: [], next: undefined }),
    }
    const { log } = captureLog()
    const audit = new Audit({ store: store as AuditStore, keepDays: 1, maxRows: 1000, log, now: () => 0 })
    audit.add(entry({}))
    await audit.query({ limit: 1 })
    t.same(batches, [1])
    load.isBusy = false
    await audit.close()
    t.same(batches, [1, 1], 'the next flush writes the later entry')
  },
)
