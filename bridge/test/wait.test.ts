import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startServer } from '../../test/e2e/server-process.ts'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { RetryBudget } from '../src/calls/retry-budget.ts'
import { ServerMonitor } from '../src/http/server-monitor.ts'
import { type Backend, type Got, startBackend } from './backend.ts'
import { cleanEnv, fromSource, initializeParams, modern, startBridge } from './client.ts'

t.setTimeout(300_000)

/** Creates a backend that has an address but is not running yet. */
async function absentBackend(t: Test): Promise<Backend> {
  const backend = await startBackend(t)
  await backend.stop()
  return backend
}

const url = new URL('http://127.0.0.1:1/mcp')

/** Creates a retry budget with a clock that advances only during waits. */
function createBudget(
  budgetMs: number,
  { tryProbe = (): boolean => true, start = undefined as Promise<void> | undefined } = {},
) {
  const waits: number[] = []
  let time = 0
  const budget = new RetryBudget({
    url,
    budgetMs,
    now: () => time,
    monitor: {
      waitForResponse: async (ms) => {
        waits.push(ms)
        await setImmediate()
        time += ms
        return false
      },
      tryProbe,
      recordFailure() {},
    },
    autostart: start && { start: () => start, logFile: 'server.log' },
    random: () => 0,
  })
  return { budget, waits }
}

t.test('retry delays grow to 2 s and stop when the wait budget is spent', async (t) => {
  const { budget, waits } = createBudget(8000)
  while (await budget.pause());
  t.same(waits, [100, 200, 400, 800, 1600, 2000, 2000, 900])
  t.equal(budget.waitedMs, 8000)
})

t.test('a call that may not probe earlier probes once at the end of its budget', async (t) => {
  let probes = 0
  const alone = createBudget(1000)
  while (await alone.budget.waitForProbe()) probes += 1
  const blocked = createBudget(1000, { tryProbe: () => false })
  t.equal(await blocked.budget.waitForProbe(), true)
  t.equal(blocked.budget.waitedMs, 1000)
  t.equal(await blocked.budget.waitForProbe(), false)
  t.equal(probes, 4)
})

t.test('pause honours Retry-After unless it exceeds the wait budget', async (t) => {
  const { budget, waits } = createBudget(3000)
  t.equal(await budget.pause(2500), true)
  t.equal(await budget.pause(2500), false)
  t.same(waits, [2500])
})

t.test('waitForServer starts the server and fails if that exceeds the wait budget', async (t) => {
  const error = new Error('refused')
  const wait = (budgetMs: number, start: Promise<void>, canStart = true) =>
    createBudget(budgetMs, { start }).budget.waitForServer(error, { canStart })
  const never = new Promise<void>(() => {})
  await t.resolves(wait(1000, Promise.resolve()))
  await t.resolves(wait(1000, never, false))
  for (const budgetMs of [0, 1000])
    await t.rejects(wait(budgetMs, never), { code: 'SERVER_UNREACHABLE', remedy: /server\.log/ })
})

t.test('ServerMonitor wakes every waiting call on a response', async (t) => {
  const monitor = new ServerMonitor({ now: Date.now })
  const waits = [monitor.waitForResponse(60_000), monitor.waitForResponse(60_000)]
  monitor.markResponsive()
  t.same(await Promise.all(waits), [true, true])
  t.equal(await monitor.waitForResponse(1), false, 'the timeout ends the wait without a response')
})

t.test('ServerMonitor.tryProbe backs off until the server responds', async (t) => {
  let time = 0
  const monitor = new ServerMonitor({ now: () => time })
  const probes: number[] = []
  for (; time <= 8000; time += 5) for (const _ of [1, 2]) if (monitor.tryProbe()) probes.push(time)
  t.same(probes, [0, 75, 225, 525, 1125, 2325, 3825, 5325, 6825])
  monitor.markResponsive()
  t.equal(monitor.tryProbe(), true)
})

t.test('ServerMonitor reports an unreachable server once', async (t) => {
  let time = 0
  const reports: unknown[] = []
  const monitor = new ServerMonitor({ now: () => time, onUnreachable: (error) => reports.push(error) })
  monitor.recordFailure('restart')
  monitor.markResponsive()
  t.equal(monitor.failure, undefined)
  for (time = 1000; time < 3000; time += 100) monitor.recordFailure(`refused at ${time}`)
  t.same(reports, ['refused at 1500'])
  t.same(monitor.failure, { error: 'refused at 2900', sinceMs: 2000 })
})

verifies('bridge:wait:start', async (t) => {
  for (const method of ['initialize', 'server/discover']) {
    const backend = await absentBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    bridge.send(
      { jsonrpc: '2.0', id: 1, method, params: method === 'initialize' ? initializeParams : modern },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    )
    bridge.raw('not JSON\n')
    await bridge.answer(null)
    t.equal(bridge.lines.length, 1, 'nothing else is answered meanwhile')
    await backend.start()
    t.match(await bridge.answer(1), { result: {} }, method)
    t.match(await bridge.answer(2), { result: {} })
  }
})

verifies('bridge:wait:budget', async (t) => {
  const { url } = await absentBackend(t)
  const bridge = startBridge(t, { url, env: { CAUSEWAY_WAIT_MS: '250' } })
  const { error } = await bridge.call(1, 'initialize', initializeParams)
  t.match(error, {
    code: -32603,
    data: { code: 'SERVER_UNREACHABLE', retryable: true, data: { url, cause: 'ECONNREFUSED' } },
  })
  t.ok(error.data.data.waited_ms >= 250 && error.data.data.waited_ms < 5000)
  t.match(error.data.remedy, 'npm start')
})

verifies('bridge:wait:report', async (t) => {
  const { url } = await absentBackend(t)
  const bridge = startBridge(t, { url })
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
  await once(bridge.process.stderr as Readable, 'data')
  t.match(bridge.stderr, /^causeway-bridge: SERVER_UNREACHABLE: cannot reach the server at .*npm start/)
  t.same(bridge.lines, [], 'the call still waits')
})

verifies('bridge:wait:report', 'reports an unreachable server to a person at a terminal', async (t) => {
  if (process.platform !== 'linux') return void t.comment('requires script(1) of util-linux')
  const { url } = await absentBackend(t)
  const command = [process.execPath, ...fromSource, '--url', url].map((part) => `'${part}'`).join(' ')
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env: cleanEnv() })
  t.teardown(() => terminal.kill())
  const [text] = await once(terminal.stdout, 'data')
  t.match(String(text), /SERVER_UNREACHABLE: cannot reach the server at .*npm start/)
})

verifies('bridge:wait:report', 'reports an unreachable server if the input ends early', async (t) => {
  const { url } = await absentBackend(t)
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
  for (const input of ['', 'not JSON\n', ping]) {
    const bridge = startBridge(t, { url, args: ['--drain', '300'] })
    bridge.raw(input)
    bridge.end()
    t.same(await bridge.exited, { code: 0, signal: null })
    t.match(bridge.stderr, /^causeway-bridge: SERVER_UNREACHABLE: [^\n]*npm start[^\n]*\n$/)
  }
})

verifies('bridge:wait:session', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call('opened', 'ping')
  await backend.stop()
  const methods = ['tools/list', 'resources/read', 'prompts/get', 'ping', 'completion/complete', 'tools/call']
  const answers = methods.map((method, id) => bridge.call(id, method))
  await backend.start()
  for (const [id, answer] of (await Promise.all(answers)).entries())
    t.match(answer, { result: { echo: methods[id] } })
})

/** Makes the backend close the connection of the first tool call without a response. */
function cutFirstCall(backend: Backend): Got[] {
  const got: Got[] = []
  backend.on('tools/call', (call) => {
    if (got.push(call) === 1) call.response.destroy()
    else call.result({ again: true })
  })
  return got
}

verifies(
  'bridge:wait:repeat',
  'repeats a call only if its tool declares that it is repeatable',
  async (t) => {
    for (const [annotations, isRepeated] of [
      [{ readOnlyHint: true }, true],
      [{ idempotentHint: true }, true],
      [{ destructiveHint: false }, false],
    ] as const) {
      const backend = await startBackend(t)
      const got = cutFirstCall(backend)
      backend.on('tools/list', (list) =>
        list.result({ tools: [{ name: 'read', inputSchema: {}, annotations }] }),
      )
      const bridge = startBridge(t, { url: backend.url })
      await bridge.call(1, 'tools/list')
      const expected = isRepeated
        ? { result: { again: true } }
        : { error: { data: { code: 'SERVER_UNREACHABLE' } } }
      t.match(await bridge.call(2, 'tools/call', { name: 'read' }), expected)
      t.equal(got.length, isRepeated ? 2 : 1)
    }
  },
)

verifies('bridge:wait:repeat', 'repeats calls to a Causeway server, which deduplicates them', async (t) => {
  const backend = await startBackend(t)
  const got = cutFirstCall(backend)
  const info = { name: 'causeway', version: '0.1.0' }
  backend.on('server/discover', (call) =>
    call.result({ _meta: { 'io.modelcontextprotocol/serverInfo': info } }),
  )
  const bridge = startBridge(t, { url: backend.url })
  await bridge.call(1, 'server/discover', modern)
  t.match(await bridge.call(2, 'tools/call', { name: 'write' }), { result: { again: true } })
  t.equal(got[0]?.headers['causeway-request'], got[1]?.headers['causeway-request'], 'under one name')
})

verifies('bridge:wait:busy', async (t) => {
  const backend = await startBackend(t)
  const refusals = new Map([408, 429, 502, 503, 504].map((status) => [`${status}`, status]))
  const answer = (got: Got): void => {
    const status = refusals.get(got.message.params.name)
    refusals.delete(got.message.params.name)
    if (status === undefined) got.result({ ok: true })
    else got.status(status, '', status === 429 ? { 'retry-after': '0' } : {})
  }
  backend.on('prompts/get', answer)
  backend.on('tools/call', (got) => got.status(503))
  const bridge = startBridge(t, { url: backend.url })
  for (const name of [...refusals.keys()])
    t.match(await bridge.call(name, 'prompts/get', { name }), { result: { ok: true } }, name)
  t.match(await bridge.call(1, 'tools/call', { name: 'x' }), { error: { data: { code: 'OVERLOADED' } } })
  backend.on('prompts/get', (got) => got.status(429, '', { 'retry-after': '6' }))
  const late = { error: { data: { code: 'RATE_LIMITED', data: { retry_after_ms: 6000 } } } }
  t.match(
    await bridge.call(2, 'prompts/get', { name: 'x' }),
    late,
    'a long delay is reported instead of waited for',
  )
})

verifies('bridge:wait:busy', 'forwards the error of a busy server when the budget is spent', async (t) => {
  const backend = await startBackend(t)
  const error = { code: -32000, message: 'busy' }
  backend.on('ping', (got) => got.json({ jsonrpc: '2.0', id: got.message.id, error }, { status: 503 }))
  const bridge = startBridge(t, { url: backend.url, args: ['--wait', '2000'] })
  t.same((await bridge.call(1, 'ping')).error, error)
  t.ok(backend.methods().length > 1)
})

verifies('bridge:relay:cancel', 'does not send a cancelled call when the server is back', async (t) => {
  const backend = await absentBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  bridge.send(
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'never' } },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', id: 2, method: 'ping' },
  )
  bridge.raw('not JSON\n')
  await bridge.answer(null)
  await backend.start()
  await bridge.answer(2)
  await bridge.call(3, 'ping')
  t.notOk(backend.methods().includes('tools/call'))
})

verifies(
  'bridge:end:in-flight',
  'at the end of input, a call that waits for the server gets SERVER_UNREACHABLE',
  async (t) => {
    const { url } = await absentBackend(t)
    const bridge = startBridge(t, { url, args: ['--drain', '2000', '--wait', '600000'] })
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams })
    bridge.end()
    t.match(await bridge.answer(1), {
      error: {
        data: { code: 'SERVER_UNREACHABLE', remedy: /npm start/, data: { url, cause: 'ECONNREFUSED' } },
      },
    })
    t.same(await bridge.exited, { code: 0, signal: null })
  },
)

/** The complete envelope of a stateless request, which a real server requires. */
const stamped = {
  _meta: {
    ...modern._meta,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}

verifies(
  'bridge:wait:session',
  'calls wait while a real server restarts',
  inCI(async (t) => {
    const running = await startServer(t, { dir: t.testdir() })
    const bridge = startBridge(t, { url: `${running.url}/mcp` })
    await bridge.open()
    const { result } = await bridge.call(1, 'tools/list')
    await running.server.stop()
    const held = bridge.call(2, 'tools/list')
    const stateless = bridge.call(3, 'tools/list', stamped)
    const env = { MCP_SERVER_PORT: new URL(running.url).port }
    await startServer(t, { ...running.server.start, env })
    t.same((await held).result, result)
    t.match(await stateless, { result: { tools: result.tools } })
  }),
)
