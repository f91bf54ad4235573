import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../test/verifies.ts'
import { startBackend } from './backend.ts'
import { startBridge } from './client.ts'

verifies('bridge:help', async (t) => {
  const version = startBridge(t, { args: ['--version'] })
  t.same(await version.exited, { code: 0, signal: null })
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  t.same(version.lines, [manifest.version])
  const help = startBridge(t, { args: ['--help'] })
  t.same(await help.exited, { code: 0, signal: null })
  const text = help.lines.join('\n')
  for (const word of ['--url', '--max-line', '--drain', '--help', '--version', 'MCP_SERVER_URL', 'DEBUG'])
    t.match(text, word)
  for (const word of ['CAUSEWAY_SESSION', 'CAUSEWAY_MAX_LINE_BYTES', 'CAUSEWAY_DRAIN_MS']) t.match(text, word)
})

verifies(
  'bridge:setting:url',
  'main: an unknown flag or a bad URL is one sentence on stderr, exit 2',
  async (t) => {
    for (const start of [{ args: ['--port', '1'] }, { url: 'nonsense' }]) {
      const bridge = startBridge(t, start)
      t.same(await bridge.exited, { code: 2, signal: null })
      t.match(bridge.stderr, /^causeway-bridge: INVALID_SETTING: [^\n]+\n$/)
      t.same(bridge.lines, [], 'nothing on standard output')
    }
  },
)

verifies('bridge:setting:debug', 'main: the log tells what passed, without secrets', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const bridge = startBridge(t, { url: backend.url, env: { DEBUG: 'true', TMPDIR: dir } })
  await bridge.open()
  await bridge.call(1, 'tools/call', { name: 'x', arguments: { api_key: 'hidden-value' } })
  bridge.raw('not JSON\n')
  await bridge.answer(null)
  bridge.end()
  await bridge.exited
  const log = readFileSync(join(dir, 'mcp_wrapper.log'), 'utf8')
  for (const line of log.trimEnd().split('\n'))
    t.match(line, new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z \\[${bridge.process.pid}\\] `))
  t.match(log, 'tools/call')
  t.match(log, 'PARSE_ERROR')
  t.match(log, 'end of input')
  t.notMatch(log, 'hidden-value')
})

verifies('bridge:setting:debug', 'without DEBUG no log is written', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const bridge = startBridge(t, { url: backend.url, env: { TMPDIR: dir } })
  await bridge.call(1, 'ping')
  bridge.end()
  await bridge.exited
  t.throws(() => readFileSync(join(dir, 'mcp_wrapper.log')), { code: 'ENOENT' })
})

verifies(
  'bridge:setting:debug',
  'a log that cannot be opened is told and does not stop the bridge',
  async (t) => {
    const backend = await startBackend(t)
    const dir = t.testdir({ 'mcp_wrapper.log': {} })
    const bridge = startBridge(t, { url: backend.url, env: { DEBUG: 'true', TMPDIR: dir } })
    t.match(await bridge.call(1, 'ping'), { result: {} })
    t.match(bridge.stderr, /no debug log/)
  },
)
