import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import t from 'tap'
import { sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { Shutdown } from '../../src/lifecycle/shutdown.ts'
import { startBackend } from '../backend.ts'
import { cleanEnv, fromSource, initializeParams, modern, startBridge } from '../client.ts'

t.setTimeout(300_000)

verifies('bridge:end:in-flight', async (t) => {
  const backend = await startBackend(t)
  backend.on('slow', () => {})
  const bridge = startBridge(t, { url: backend.url })
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'slow' })
  const slow = await backend.saw('slow')
  bridge.end()
  slow.result({ delivered: true })
  t.match(await bridge.answer(1), { result: { delivered: true } })
  t.same(await bridge.exited, { code: 0, signal: null })
})

verifies('bridge:end:in-flight', 'calls that exceed the drain time get an error', async (t) => {
  const backend = await startBackend(t)
  backend.on('never', () => {})
  const bridge = startBridge(t, { url: backend.url, args: ['--drain', '50'] })
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'never' })
  await backend.saw('never')
  bridge.end()
  t.match(await bridge.answer(1), { error: { data: { code: 'SHUTTING_DOWN' } } })
  t.same(await bridge.exited, { code: 0, signal: null })
})

verifies('bridge:end:in-flight', 'requests that wait for initialize get a response', async (t) => {
  for (const held of ['initialize', 'notifications/initialized']) {
    const backend = await startBackend(t)
    backend.on(held, () => {})
    const bridge = startBridge(t, { url: backend.url, args: ['--drain', '50'] })
    bridge.send(
      { jsonrpc: '2.0', id: 0, method: 'initialize', params: initializeParams },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    )
    await backend.saw(held)
    bridge.end()
    for (const id of [1, 2])
      t.match(await bridge.answer(id), { error: { data: { code: 'SHUTTING_DOWN' } } }, held)
    t.same(await bridge.exited, { code: 0, signal: null })
    t.notOk(backend.methods().includes('ping'))
  }
})

verifies('bridge:end:in-flight', 'the exit waits until a slow client has read every response', async (t) => {
  const events: string[] = []
  let read = (): void => {}
  const shutdown = new Shutdown({
    relay: { waitUntilIdle: async () => {}, closeSubscriptions() {}, failAll() {} },
    session: { close: async () => void events.push('close') },
    upstream: { destroy: async () => {} },
    output: {
      flush: () =>
        new Promise<void>((resolve) => {
          read = resolve
        }),
    },
    findError: () => undefined,
    log: () => {},
    exit: (code) => void events.push(`exit ${code}`),
  })
  const ended = shutdown.begin('test', 300)
  await new Promise(setImmediate)
  t.same(events, [], 'nothing ends while output is pending')
  read()
  await new Promise(setImmediate)
  read()
  await ended
  t.same(events, ['close', 'exit 0'])
})

verifies(
  'bridge:end:in-flight',
  'a pipelined client that closes its input immediately receives every response',
  async (t) => {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    void bridge.open()
    bridge.send(...Array.from({ length: 300 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })))
    bridge.end()
    await bridge.exited
    t.equal(new Set(bridge.messages.all.map(({ id }) => id)).size, 301)
  },
)

verifies('bridge:end:in-flight', 'an open subscription does not delay the exit', async (t) => {
  const backend = await startBackend(t)
  backend.on('subscriptions/listen', (got) => got.stream().raw(': open\n\n'))
  const bridge = startBridge(t, { url: backend.url, args: ['--drain', '60000'] })
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: modern })
  const listen = await backend.saw('subscriptions/listen')
  bridge.end()
  t.same(await bridge.exited, { code: 0, signal: null })
  await listen.closed
})

verifies('bridge:end:in-flight', 'exits with 0 if the input ends before any message', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  bridge.end()
  t.same(await bridge.exited, { code: 0, signal: null })
  t.same(backend.methods(), ['GET'], 'the bridge checks only whether the server responds')
})

verifies('bridge:end:session', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await backend.saw('GET')
  bridge.end()
  t.match((await backend.saw('DELETE')).headers, { 'mcp-session-id': 's1' })
  t.same(await bridge.exited, { code: 0, signal: null })
})

verifies('bridge:end:session', 'a server that does not answer DELETE does not delay the exit', async (t) => {
  const backend = await startBackend(t)
  backend.on('DELETE', () => {})
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call(1, 'ping')
  bridge.end()
  t.same(await bridge.exited, { code: 0, signal: null })
})

verifies('bridge:end:signal', async (t) => {
  for (const signal of sample(['SIGTERM', 'SIGINT', 'SIGHUP'] as const, 3)) {
    const backend = await startBackend(t)
    backend.on('never', () => {})
    const bridge = startBridge(t, { url: backend.url, args: ['--drain', '60000'] })
    await bridge.open()
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'never' })
    await backend.saw('never')
    bridge.process.kill(signal)
    t.match(await bridge.answer(1), { error: { data: { code: 'SHUTTING_DOWN' } } }, signal)
    t.same(await bridge.exited, { code: 0, signal: null }, signal)
    await backend.saw('DELETE')
  }
})

verifies('bridge:end:signal', 'a second signal exits immediately', async (t) => {
  const backend = await startBackend(t)
  backend.on('never', () => {})
  backend.on('DELETE', () => {})
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'never' })
  await backend.saw('never')
  bridge.process.kill('SIGTERM')
  bridge.process.kill('SIGINT')
  const { code } = await bridge.exited
  // The order in which the two signals arrive is not defined.
  t.ok(
    code === 128 + constants.signals.SIGINT || code === 128 + constants.signals.SIGTERM,
    `exit code ${code}`,
  )
})

verifies('bridge:end:signal', 'a signal shortens the wait for pending calls', async (t) => {
  const backend = await startBackend(t)
  backend.on('never', () => {})
  const bridge = startBridge(t, { url: backend.url, args: ['--drain', '60000'] })
  await bridge.open()
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'never' })
  await backend.saw('never')
  bridge.end()
  bridge.process.kill('SIGTERM')
  t.same(await bridge.exited, { code: 0, signal: null })
})

verifies('bridge:end:signal', 'exits when the client closes standard output', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  bridge.process.stdout?.destroy()
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const [code] = await once(bridge.process, 'exit')
  t.equal(code, 0)
  await backend.saw('DELETE')
})

verifies('bridge:end:signal', 'the bridge keeps running if the client closes standard error', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  bridge.process.stderr?.destroy()
  bridge.process.kill('SIGUSR2')
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
  t.match(await bridge.answer(1), { result: {} })
  bridge.end()
  const [code] = await once(bridge.process, 'exit')
  t.equal(code, 0)
})

verifies('bridge:end:crash', async (t) => {
  const backend = await startBackend(t)
  backend.on('never', () => {})
  const fault = `data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('injected')})`
  const bridge = startBridge(t, { url: backend.url, run: ['--import', fault, ...fromSource] })
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'never' })
  await backend.saw('never')
  bridge.process.kill('SIGUSR2')
  t.match(await bridge.answer(1), { error: { code: -32603, data: { code: 'INTERNAL' } } })
  t.notMatch(bridge.lines[0], 'injected')
  t.same(await bridge.exited, { code: 1, signal: null })
})

verifies('bridge:end:parent', async (t) => {
  const backend = await startBackend(t)
  // The bridge inherits the standard input of its parent, which the test holds open.
  const script = `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, ${JSON.stringify(fromSource)}, { stdio: ['inherit', 'inherit', 'inherit'] })
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['-e', script], {
    env: cleanEnv({ MCP_SERVER_URL: backend.url }),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  parent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`)
  await backend.saw('ping')
  const closed = once(parent.stdout.resume(), 'close')
  parent.kill('SIGKILL')
  await closed
  t.pass('standard output was closed by the end of the bridge')
})
