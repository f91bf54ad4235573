import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { type Backend, type Got, handshake, startBackend } from './backend.ts'
import { startBridge } from './client.ts'

t.setTimeout(300_000)

/** Fails the first request with this method, then answers 202; how often it came is the length of the result. */
function failFirst(backend: Backend, method: string, fail: (got: Got) => void): Got[] {
  const all: Got[] = []
  backend.on(method, (got) => (all.push(got) === 1 ? fail(got) : got.status(202)))
  return all
}

/** An answer of the client has no method, and so its script has no name. */
const response = undefined as unknown as string

const losses: Readonly<Record<string, (got: Got) => void>> = {
  'a connection that breaks': (got) => got.response.destroy(),
  'a busy server': (got) => got.status(503, '', { 'retry-after': '0' }),
  'a limit': (got) => got.status(429, '', { 'retry-after': '0' }),
}

verifies('bridge:relay:one-way', async (t) => {
  for (const [loss, fail] of Object.entries(losses)) {
    const backend = await startBackend(t)
    const initialized = failFirst(backend, 'notifications/initialized', fail)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    await backend.saw('GET')
    t.equal(initialized.length, 2, `initialized, ${loss}`)

    const answers = failFirst(backend, response, fail)
    bridge.send({ jsonrpc: '2.0', id: 'asked', result: { action: 'accept' } })
    const isAgain = (got: Got) => answers.length > 0 && got !== answers[0]
    await backend.saw('response', isAgain)
    await bridge.call('answered', 'ping')
    t.equal(answers[1]?.text, answers[0]?.text, `an answer, ${loss}`)

    const other = failFirst(backend, 'notifications/x', fail)
    bridge.send({ jsonrpc: '2.0', method: 'notifications/x' })
    await backend.saw('notifications/x')
    await bridge.call('after', 'ping')
    t.equal(other.length, 1, `what might count twice is sent once, ${loss}`)
  }
})

verifies(
  'bridge:relay:one-way',
  'a session whose server never takes initialized is listened to, and its successor is told',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('notifications/initialized', (got) => got.status(500))
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    t.equal((await backend.saw('GET')).headers['mcp-session-id'], 's1')

    backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': 's2' }))
    const error = { code: -32001, message: 'Session not found' }
    backend.on('tools/call', (got) =>
      got.headers['mcp-session-id'] === 's2'
        ? got.result({})
        : got.json({ jsonrpc: '2.0', id: null, error }, { status: 404 }),
    )
    t.match(await bridge.call(1, 'tools/call'), { result: {} })
    const again = await backend.saw(
      'notifications/initialized',
      ({ headers }) => headers['mcp-session-id'] === 's2',
    )
    t.ok(again)
  },
)

verifies('bridge:relay:one-way', 'a notification is dropped when the wait budget is spent', async (t) => {
  const backend = await startBackend(t)
  let received = 0
  backend.on('notifications/x', (got) => {
    received += 1
    got.status(202)
  })
  const bridge = startBridge(t, { url: backend.url, args: ['--wait', '0'] })
  await bridge.open()
  await backend.saw('GET')
  await backend.stop()
  bridge.send({ jsonrpc: '2.0', method: 'notifications/x' })
  t.match(await bridge.call(1, 'ping'), { error: { data: { code: 'SERVER_UNREACHABLE' } } })
  await backend.start()
  for (const id of [2, 3]) t.match(await bridge.call(id, 'ping'), { result: {} })
  t.equal(received, 0)
})
