import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { bridgeCommand, clientRun, target } from './program.ts'

t.setTimeout(300_000)

const { url } = await startServer(t, { dir: t.testdir() })

verifies('client:inspector', async (t, channel) => {
  const inspect = clientRun(t, 'inspector', t.testdir())
  if (inspect === undefined) return
  const server = target(channel, {
    http: [`${url}/mcp`, '--transport', 'http'],
    bridge: bridgeCommand(url),
  })

  const listed = await inspect('--cli', ...server, '--method', 'tools/list', '--strict')
  t.equal(listed.code, 0, 'no schema is in error')
  const names = JSON.parse(listed.stdout).tools.map(({ name }: { name: string }) => name)
  t.ok(names.includes('Replay__check_friction_cone'))

  const args = ['recording=slide_at_45', 'frame_id=45'].flatMap((arg) => ['--tool-arg', arg])
  const call = ['--method', 'tools/call', '--tool-name', 'Replay__check_friction_cone', ...args]
  const called = await inspect('--cli', ...server, ...call)
  t.equal(called.code, 0)
  t.match(JSON.parse(called.stdout).structuredContent, { recording: 'slide_at_45', violation_count: 4 })

  const read = ['--method', 'resources/read', '--uri', 'replay://recordings/slide_at_45/metadata']
  const metadata = await inspect('--cli', ...server, ...read)
  t.equal(metadata.code, 0)
  t.match(JSON.parse(JSON.parse(metadata.stdout).contents[0].text), { recording: 'slide_at_45' })
})
