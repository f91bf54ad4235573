import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { createKnownServer, isOlder } from '../src/known-server.ts'
import { handshake, startBackend } from './backend.ts'
import { startBridge } from './client.ts'

t.test('isOlder: number by number; what is no version is not older', async (t) => {
  for (const [version, than] of [
    ['0.1.9', '0.1.10'],
    ['0.9.0', '1.0.0'],
    ['1.2.3-beta', '1.2.4'],
  ] as const) {
    t.ok(isOlder(version, than), `${version} < ${than}`)
    t.notOk(isOlder(than, version))
  }
  for (const [version, than] of [
    ['1.2.3', '1.2.3'],
    ['undefined', '1.0.0'],
    ['1', '2.0.0'],
  ] as const)
    t.notOk(isOlder(version, than), version)
})

t.test('createKnownServer: only our own server answers repeats or is compared', async (t) => {
  const warnings: string[] = []
  const server = createKnownServer('2.0.0', (line) => warnings.push(line))
  for (const result of [undefined, {}, { serverInfo: { name: 'other', version: '1.0.0' } }])
    server.learn(result)
  t.equal(server.answersRepeats(), false)
  server.learn({ serverInfo: { name: 'causeway', version: '1.0.0' } })
  server.learn({ serverInfo: { name: 'causeway', version: '1.0.0' } })
  t.equal(server.answersRepeats(), true)
  t.equal(warnings.length, 1)
})

verifies('bridge:old-server', async (t) => {
  const backend = await startBackend(t)
  const serverInfo = { name: 'causeway', version: '0.0.1' }
  backend.on('initialize', (got) => got.result({ ...handshake, serverInfo }, { 'mcp-session-id': 's1' }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call('again', 'initialize', { protocolVersion: '2025-11-25' })
  bridge.end()
  await bridge.exited
  t.equal(bridge.stderr.match(/the server is version 0\.0\.1, this bridge is /g)?.length, 1)
  t.match(bridge.stderr, 'restart the server')
})
