import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startServer } from '../../test/e2e/server-process.ts'
import { verifies } from '../../test/verifies.ts'
import { createPulse } from '../src/pulse.ts'
import { type Process, processOf, takeStartLock } from '../src/start-lock.ts'
import { createWaiting } from '../src/wait.ts'
import { type Backend, type Got, startBackend } from './backend.ts'
import { initializeParams, modern, startBridge } from './client.ts'

t.setTimeout(300_000)

/** A backend that has an address and does not run yet. */
async function absentBackend(t: Test): Promise<Backend> {
  const backend = await startBackend(t)
  await backend.stop()
  return backend
}

/** A clock that only the pauses move. */
function stepping(budgetMs: number, takeTurn = () => true) {
  const slept: number[] = []
  let time = 0
  const waiting = createWaiting({
    budgetMs,
    now: () => time,
    pulse: {
      next: async (ms) => {
        slept.push(ms)
        time += ms
        return false
      },
      takeTurn,
    },
    random: () => 0,
  })
  return { waiting, slept }
}

t.test('createWaiting: pauses grow to two seconds and end with the budget', async (t) => {
  const { waiting, slept } = stepping(8000)
  while (await waiting.pause());
  t.same(slept, [100, 200, 400, 800, 1600, 2000, 2000, 900])
  t.equal(waiting.waitedMs(), 8000)
})

t.test('createWaiting: a call that has no turn looks once, at the end of its budget', async (t) => {
  let turns = 0
  const alone = stepping(1000)
  while (await alone.waiting.turn()) turns += 1
  const beside = stepping(1000, () => false)
  t.equal(await beside.waiting.turn(), true)
  t.equal(beside.waiting.waitedMs(), 1000)
  t.equal(await beside.waiting.turn(), false)
  t.equal(turns, 4)
})

t.test(
  'createWaiting: the wish of the server is kept, one beyond the budget is not waited for',
  async (t) => {
    const { waiting, slept } = stepping(3000)
    t.equal(await waiting.pause(2500), true)
    t.equal(await waiting.pause(2500), false)
    t.same(slept, [2500])
  },
)

t.test('createWaiting: until something is done, or the budget is spent', async (t) => {
  t.equal(await stepping(1000).waiting.until(Promise.resolve()), true)
  t.equal(await stepping(1000).waiting.until(new Promise(() => {})), false)
  t.equal(await stepping(0).waiting.until(Promise.resolve()), false)
})

t.test('createPulse: a beat ends every pause at once', async (t) => {
  const pulse = createPulse(Date.now)
  const pauses = [pulse.next(60_000), pulse.next(60_000)]
  pulse.beat()
  t.same(await Promise.all(pauses), [true, true])
  t.equal(await pulse.next(1), false, 'and without a beat time does')
})

t.test('createPulse: turns come less often until the server answers, one at a time', async (t) => {
  let time = 0
  const pulse = createPulse(() => time)
  const taken: number[] = []
  for (; time <= 8000; time += 5) for (const _ of [1, 2]) if (pulse.takeTurn()) taken.push(time)
  t.same(taken, [0, 75, 225, 525, 1125, 2325, 3825, 5325, 6825])
  pulse.beat()
  t.equal(pulse.takeTurn(), true)
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

/** Cuts the connection of the first call of a tool without an answer. */
function cutFirstCall(backend: Backend): Got[] {
  const got: Got[] = []
  backend.on('tools/call', (call) => {
    if (got.push(call) === 1) call.response.destroy()
    else call.result({ again: true })
  })
  return got
}

verifies('bridge:wait:repeat', 'a tool that says so may be called twice, another may not', async (t) => {
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
})

verifies('bridge:wait:repeat', 'our own server gives a repeat the first answer', async (t) => {
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
  t.match(await bridge.call(2, 'prompts/get', { name: 'x' }), late, 'a long wish is told instead of kept')
})

verifies('bridge:wait:busy', 'the error of a busy server is passed on once the time is up', async (t) => {
  const backend = await startBackend(t)
  const error = { code: -32000, message: 'busy' }
  backend.on('ping', (got) => got.json({ jsonrpc: '2.0', id: got.message.id, error }, { status: 503 }))
  const bridge = startBridge(t, { url: backend.url, args: ['--wait', '2000'] })
  t.same((await bridge.call(1, 'ping')).error, error)
  t.ok(backend.methods().length > 1)
})

verifies('bridge:relay:cancel', 'a call that waits for the server is not sent once cancelled', async (t) => {
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
  'what waits for a server that is away does not keep the bridge',
  async (t) => {
    const { url } = await absentBackend(t)
    const bridge = startBridge(t, { url, args: ['--drain', '50', '--wait', '600000'] })
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams })
    bridge.end()
    t.match(await bridge.answer(1), { error: { data: { code: 'SHUTTING_DOWN' } } })
    t.same(await bridge.exited, { code: 0, signal: null })
  },
)

/** The stamp of a stateless request in full, as the real server wants it. */
const stamped = {
  _meta: {
    ...modern._meta,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}

verifies('bridge:wait:session', 'the real server may be stopped and started under a client', async (t) => {
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
})

const self = processOf(process.pid) as Process

/** A process that has been and is gone. */
async function deadProcess(): Promise<Process> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return { pid: child.pid as number, started: '1' }
}

t.test('takeStartLock: one holder, and the next once it is released', async (t) => {
  const file = join(t.testdir(), 'lock')
  const lock = takeStartLock(file, self)
  t.ok(lock)
  t.equal(takeStartLock(file, self), undefined)
  lock?.release()
  t.notOk(existsSync(file))
  t.ok(takeStartLock(file, self))
})

t.test('takeStartLock: the lock of a dead holder is taken over, and not released by it', async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'lock')
  const first = takeStartLock(file, await deadProcess())
  const second = takeStartLock(file, self)
  t.ok(second)
  first?.note(self)
  first?.release()
  t.ok(existsSync(file), 'it is not theirs any more')
  t.same(readdirSync(dir), ['lock'], 'nothing else is left')
})

t.test('takeStartLock: a server that lives keeps the lock of its dead starter', async (t) => {
  const file = join(t.testdir(), 'lock')
  takeStartLock(file, await deadProcess())?.note(self)
  t.equal(takeStartLock(file, self), undefined)
})

t.test('takeStartLock: a pid that another process has by now does not count as alive', async (t) => {
  if (!existsSync('/proc/self/stat')) return void t.comment('this system tells no start times')
  const file = join(t.testdir(), 'lock')
  takeStartLock(file, { ...self, started: 'long ago' })
  t.ok(takeStartLock(file, self))
})

t.test('takeStartLock: a text that nobody wrote here is stale', async (t) => {
  for (const text of ['', 'garbage', 'null', '{"starter":7}']) {
    const file = join(t.testdir(), 'lock')
    writeFileSync(file, text)
    t.ok(takeStartLock(file, self), text)
    t.match(JSON.parse(readFileSync(file, 'utf8')), { starter: self })
  }
})
