import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../test/e2e/server-process.ts'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { readTarget } from '../src/http/target.ts'
import { type Backend, startBackend, type Wire } from './backend.ts'
import { type Client, initializeParams, modern, startBridge } from './client.ts'

const initialize = (name: string) => ({ ...initializeParams, clientInfo: { name, version: '1' } })

const modernParams = (name: string) => ({
  _meta: {
    ...modern._meta,
    'io.modelcontextprotocol/clientInfo': { name, version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
})

/** Returns the distinct paths of the requests so far. */
const paths = (backend: Backend): string[] => [...new Set(backend.got.all.map(({ path }) => path))]

async function open(bridge: Client, name: string): Promise<void> {
  await bridge.call('open', 'initialize', initialize(name))
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await bridge.call(1, 'tools/list')
}

verifies(
  'bridge:view:client',
  'clients that limit the number of tools get the core view, others the full one',
  async (t) => {
    for (const [name, path] of [
      ['Visual Studio Code', '/mcp/core'],
      ['Visual Studio Code - Insiders', '/mcp/core'],
      ['VSCodium', '/mcp/core'],
      ['windsurf-client', '/mcp/core'],
      ['claude-code', '/mcp'],
      ['cursor-vscode', '/mcp'],
      ['my own client', '/mcp'],
    ] as const) {
      const backend = await startBackend(t)
      const bridge = startBridge(t, { url: backend.url })
      await open(bridge, name)
      bridge.end()
      await bridge.exited
      t.same(paths(backend), [path], `${name}: every request, also DELETE`)
    }
  },
)

verifies('bridge:view:client', 'stateless clients are recognized by their first message', async (t) => {
  for (const [name, path] of [
    ['Visual Studio Code', '/mcp/core'],
    ['claude-code', '/mcp'],
  ] as const) {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call(1, 'server/discover', modernParams(name))
    t.same(paths(backend), [path], name)
  }
})

verifies(
  'bridge:view:client',
  'a real server lists the view that fits the client',
  inCI(async (t) => {
    const { url } = await startServer(t, { dir: t.testdir() })
    const list = async (name: string): Promise<Wire[]> => {
      const bridge = startBridge(t, { url: `${url}/mcp` })
      await bridge.call('open', 'initialize', initialize(name))
      bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      const { tools } = (await bridge.call(1, 'tools/list')).result
      const call = { name: 'Replay__list_recordings', arguments: {} }
      t.match(
        await bridge.call(2, 'tools/call', call),
        { result: { structuredContent: { recordings: Array } } },
        name,
      )
      return tools
    }
    const core = await list('Visual Studio Code')
    const full = await list('claude-code')
    t.ok(core.length <= 20 && core.some(({ name }) => name === 'Causeway__find_tools'))
    t.ok(full.length > 100)
  }),
)

verifies('bridge:view:fallback', async (t) => {
  const backend = await startBackend(t)
  const answers = (path: string) => (got: Wire) => {
    if (got.path !== path) got.status(404)
    else
      got.result({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } })
  }
  for (const method of ['initialize', 'server/discover']) backend.on(method, answers('/mcp'))
  const bridge = startBridge(t, { url: backend.url })
  await open(bridge, 'Visual Studio Code')
  t.same(
    backend.got.all.map(({ path }) => path).slice(0, 3),
    ['/mcp/core', '/mcp', '/mcp'],
    'the core view is tried once',
  )
  const stateless = startBridge(t, { url: backend.url })
  t.match(await stateless.call(1, 'server/discover', modernParams('Visual Studio Code')), { result: {} })
})

verifies('bridge:view:fallback', 'errors of the core view other than 404 are forwarded', async (t) => {
  const backend = await startBackend(t)
  backend.on('initialize', (got) => got.status(403))
  const bridge = startBridge(t, { url: backend.url })
  const answer = await bridge.call(1, 'initialize', initialize('Visual Studio Code'))
  t.ok(answer.error)
  t.same(paths(backend), ['/mcp/core'])
})

verifies('bridge:view:setting', async (t) => {
  const view = (name: string) => String(readTarget('http://a/mcp?k=1', { view: name }))
  t.equal(view('full'), 'http://a/mcp?k=1')
  t.equal(view('core'), 'http://a/mcp/core?k=1')
  t.equal(view('physics'), 'http://a/mcp/p/physics?k=1')
  for (const name of ['Physics', '../x', '', 'a'.repeat(65)])
    t.throws(() => view(name), { code: 'INVALID_SETTING' }, name)
  t.throws(() => readTarget('http://a/mcp', { view: 'core', app: 'replay' }), { code: 'INVALID_SETTING' })
  t.throws(() => readTarget('http://a/sse', { view: 'core' }), { code: 'INVALID_SETTING' })
  for (const [start, path] of [
    [{ args: ['--view', 'full'] }, '/mcp'],
    [{ env: { CAUSEWAY_VIEW: 'full' } }, '/mcp'],
    [{ env: { CAUSEWAY_VIEW: 'mine' } }, '/mcp/p/mine'],
    [{ args: ['--app', 'replay'] }, '/mcp/replay'],
  ] as const) {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url, ...start })
    await open(bridge, 'Visual Studio Code')
    t.same(paths(backend), [path], JSON.stringify(start))
  }
})

t.test('a client with the full view does not receive the offline list of the core view', async (t) => {
  const backend = await startBackend(t)
  const env = { XDG_CACHE_HOME: join(t.testdir(), 'cache') }
  const start = () => startBridge(t, { url: backend.url, args: ['--offline-list', '--wait', '100'], env })
  backend.on('tools/list', (got) => got.result({ tools: [{ name: got.path }] }))
  for (const name of ['Visual Studio Code', 'claude-code']) {
    const bridge = start()
    await open(bridge, name)
    bridge.end()
    await bridge.exited
  }
  await backend.stop()
  for (const [name, path] of [
    ['Visual Studio Code', '/mcp/core'],
    ['claude-code', '/mcp'],
  ] as const) {
    const bridge = start()
    bridge.send({ jsonrpc: '2.0', id: 'open', method: 'initialize', params: initialize(name) })
    await bridge.answer('open')
    t.match(await bridge.call(1, 'tools/list'), { result: { tools: [{ name: path }] } }, name)
  }
})
