import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { verifies } from '../../test/verifies.ts'
import { startBackend } from './backend.ts'
import { initializeParams, modern, startBridge } from './client.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the launcher in a folder of its own: beside it there is no bundle unless the test makes one. */
function launcherIn(dir: string): string {
  const launcher = join(dir, 'bridge', 'run.mjs')
  cpSync(join(checkout, 'bridge/run.mjs'), launcher)
  return launcher
}

verifies('bridge:launcher', 'without a bundle every request is told to run npm start', async (t) => {
  const dir = t.testdir({ bridge: {} })
  const bridge = startBridge(t, { run: [launcherIn(dir)] })
  bridge.raw('not JSON\n\n')
  for (const [id, method, params] of [
    ['a', 'initialize', initializeParams],
    [0, 'server/discover', modern],
    [1, 'tools/list', {}],
  ] as const) {
    const answer = await bridge.call(id, method, params)
    t.match(answer, { id, error: { code: -32603, data: { code: 'SERVER_UNREACHABLE' } } })
    t.match(answer.error.message, 'npm start')
    t.match(answer.error.message, dir)
  }
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  t.match(await bridge.answer(null), { error: { code: -32700 } })
  bridge.end()
  t.same(await bridge.exited, { code: 0, signal: null })
  t.equal(bridge.lines.length, 4, 'a notification is not answered')
})

verifies(
  'bridge:launcher',
  'both committed configurations run the launcher, which runs the bundle',
  async (t) => {
    const backend = await startBackend(t)
    const read = (path: string) => JSON.parse(readFileSync(join(checkout, path), 'utf8'))
    const servers = [read('.mcp.json').mcpServers.causeway, read('.vscode/mcp.json').servers.causeway]
    const dir = t.testdir({
      bridge: { dist: { 'bridge.js': `import ${JSON.stringify(join(checkout, 'bridge/src/main.ts'))}` } },
    })
    launcherIn(dir)
    for (const { type, command, args } of servers) {
      t.equal(type, 'stdio')
      t.equal(command, 'node')
      const run = args.map((arg: string) => arg.replace(/\$\{workspaceFolder\}/, dir))
      const [path] = run
      t.equal(args.length, 1)
      const launcher = path.startsWith(dir) ? path : join(dir, path)
      t.ok(existsSync(launcher), 'the path is that of the launcher')
      const bridge = startBridge(t, { url: backend.url, run: ['--conditions=@causeway/source', launcher] })
      t.match(await bridge.call(1, 'ping'), { result: { echo: 'ping' } })
    }
  },
)
