import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../e2e/condition.ts'
import { restartServer, fromSource as serverCommand, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { bridgeCommand, clientRun } from './program.ts'

t.setTimeout(300_000)
const newest = 'claude-code-2.1.330'
const connected = /^causeway: .* - ✔ Connected$/m

verifies('client:claude-code:restart', async (t) => {
  const claude = clientRun(t, newest, t.testdir({ server: {} }))
  if (claude === undefined) return
  const running = await startServer(t, { dir: join(t.testdirName, 'server') })
  await claude('mcp', 'add', '-s', 'local', 'causeway', '--', ...bridgeCommand(running.url))
  t.match((await claude('mcp', 'list')).stdout, connected, 'the server is up')
  await restartServer(t, running)
  t.match((await claude('mcp', 'list')).stdout, connected, 'the server was restarted')
})

verifies('client:claude-code:autostart', async (t) => {
  const home = t.testdir({ data: {} })
  const claude = clientRun(t, newest, home)
  if (claude === undefined) return
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  t.teardown(() => endServer(url))
  const start = ['--autostart', '--server-command', `exec ${[process.execPath, ...serverCommand].join(' ')}`]
  const data = ['-e', `CAUSEWAY_DATA_DIR=${join(home, 'data')}`]
  const bridge = ['--', ...bridgeCommand(url), ...start]
  await claude('mcp', 'add', '-s', 'local', 'causeway', ...data, ...bridge)
  t.match((await claude('mcp', 'list')).stdout, connected)
  t.type(await pidOf(url), 'number', 'the bridge has started a server that stays')
})

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

async function pidOf(url: string): Promise<number | undefined> {
  const answer = await fetch(`${url}/health`).catch(() => undefined)
  return answer === undefined ? undefined : ((await answer.json()) as { pid: number }).pid
}

/** It is nobody's child by design: it is ended by the pid that it tells. */
async function endServer(url: string): Promise<void> {
  const pid = await pidOf(url)
  if (pid === undefined) return
  process.kill(pid, 'SIGTERM')
  await until(
    () => pidOf(url),
    (answer) => answer === undefined,
  )
}
