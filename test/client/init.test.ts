import { join } from 'node:path'
import t from 'tap'
import { runHere } from '../../server/test/cli/run-here.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { clientRun } from './program.ts'

t.setTimeout(300_000)

verifies('command:init', 'Claude Code is connected by what init wrote', async (t) => {
  const dir = t.testdir({ home: {}, data: {} })
  const home = join(dir, 'home')
  const claude = clientRun(t, 'claude-code-2.1.330', home)
  if (claude === undefined) return
  const { url } = await startServer(t, { dir: join(dir, 'data') })
  const env = { CLAUDE_CONFIG_DIR: home }
  const port = new URL(url).port
  const user = await runHere(t, ['init', 'claude', '--scope', 'user', '--port', port], { env, cwd: home })
  t.equal(user.code, 0, user.stderr)
  t.match((await claude('mcp', 'list')).stdout, /^causeway: .*run\.mjs.* - ✔ Connected$/m)
  await claude('mcp', 'add', '-s', 'user', 'another', '--', 'true')
  const again = await runHere(t, ['init', 'claude', '--scope', 'user', '--port', port], { env, cwd: home })
  t.match(again.stdout, /^unchanged/, 'also after Claude Code has written the file')

  await claude('mcp', 'remove', 'causeway', '-s', 'user')
  await runHere(t, ['init', 'claude', '--port', port], { env: {}, cwd: home })
  const { stdout } = await claude('mcp', 'list')
  t.match(stdout, /^causeway: .*run\.mjs.* approv/im, 'that of a project waits for its user')
})
