import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { staleMetaKey } from '../src/offline-list.ts'
import { type Backend, startBackend } from './backend.ts'
import { type Client, modern, startBridge } from './client.ts'

const folder = (dir: string): string => join(dir, 'causeway')

function start(t: Test, backend: Backend, dir: string): Client {
  const env = { XDG_CACHE_HOME: dir, CAUSEWAY_OFFLINE_LIST: 'true' }
  return startBridge(t, { url: backend.url, env, args: ['--wait', '0'] })
}

/** A bridge that has seen the server once, and left. */
async function visit(t: Test, backend: Backend, dir: string): Promise<void> {
  const bridge = start(t, backend, dir)
  await bridge.open()
  await bridge.call(1, 'tools/list')
  await bridge.call(2, 'server/discover', modern)
  await bridge.call(3, 'tools/list', modern)
  bridge.end()
  await bridge.exited
}

verifies('bridge:offline-list', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/list', (got) => got.result({ tools: [{ name: 'old' }], ttlMs: 9 }))
  const dir = t.testdir()
  await visit(t, backend, dir)
  await backend.stop()

  const bridge = start(t, backend, dir)
  const opened = await bridge.open()
  t.match(opened.result, { serverInfo: { name: 'backend' }, _meta: { [staleMetaKey]: { since: /Z$/ } } })
  t.match((await bridge.call(1, 'tools/list')).result, {
    tools: [{ name: 'old' }],
    _meta: { [staleMetaKey]: {} },
  })
  t.match((await bridge.call(2, 'tools/list', modern)).result, { ttlMs: 0, _meta: { [staleMetaKey]: {} } })
  t.match(await bridge.call(3, 'tools/call', {}), { error: {} }, 'only lists stand in')

  backend.got.all.length = 0
  backend.on('tools/list', (got) => got.result({ tools: [{ name: 'new' }] }))
  await backend.start()
  await bridge.saw('notifications/tools/list_changed')
  t.same((await bridge.call(4, 'tools/list')).result, { tools: [{ name: 'new' }] })
  t.match(backend.methods().slice(0, 2), ['initialize', 'notifications/initialized'])
  t.equal(backend.got.all.at(-1)?.headers['mcp-session-id'], 's1', 'the session is a real one')
})

verifies(
  'bridge:offline-list',
  'a slow server is stood in for, and told about when its list differs',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('tools/list', (got) => got.result({ tools: [{ name: 'old' }] }))
    const dir = t.testdir()
    await visit(t, backend, dir)
    let release = (): void => {}
    backend.on('tools/list', (got) => {
      release = () => got.result({ tools: [{ name: 'new' }] })
    })
    const bridge = start(t, backend, dir)
    await bridge.open()
    t.match((await bridge.call(1, 'tools/list')).result, { tools: [{ name: 'old' }] })
    release()
    await bridge.saw('notifications/tools/list_changed')
    t.equal(bridge.messages.all.filter(({ id }) => id === 1).length, 1, 'one answer')
  },
)

verifies('bridge:offline-list', 'the file is private, and a damaged one is no hindrance', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  await visit(t, backend, dir)
  const [name = '', ...others] = readdirSync(folder(dir))
  t.same(others, [], 'no unfinished file is left')
  const path = join(folder(dir), name)
  t.equal(statSync(path).mode & 0o777, 0o600)
  writeFileSync(path, '{"cut')
  await visit(t, backend, dir)
  t.match(JSON.parse(readFileSync(path, 'utf8')), {})
})

verifies('bridge:offline-list', 'without the option nothing is kept', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const bridge = startBridge(t, { url: backend.url, env: { XDG_CACHE_HOME: dir } })
  await bridge.open()
  bridge.end()
  await bridge.exited
  t.same(readdirSync(dir), [])
})

verifies('bridge:offline-list', 'nothing stands in for a list that the client has cancelled', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  await visit(t, backend, dir)
  backend.on('tools/list', () => {})
  const bridge = start(t, backend, dir)
  await bridge.open()
  bridge.send(
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  )
  // Asked later, so stood in for later.
  t.match((await bridge.call(2, 'tools/list')).result, { _meta: { [staleMetaKey]: {} } })
  t.notOk(bridge.messages.all.some(({ id }) => id === 1))
})
