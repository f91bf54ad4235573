import { join } from 'node:path'
import t from 'tap'
import { until } from '../e2e/condition.ts'
import { restartServer, fromSource as serverCommand, startServer } from '../e2e/server-process.ts'
import { findFreePort } from '../free-port.ts'
import type { Channel } from '../requirement.ts'
import { verifies } from '../verifies.ts'
import { bridgeCommand, clientRun, target } from './program.ts'

t.setTimeout(600_000)

const { server, url } = await startServer(t, { dir: t.testdir(), env: { EXTRA_LOGGING: 'true' } })

/** Arguments that add a server to Claude Code. */
const add = (channel: Channel, url: string): readonly string[] => [
  ...['mcp', 'add', '-s', 'local'],
  ...target<readonly string[]>(channel, {
    http: ['-t', 'http', 'causeway', `${url}/mcp`],
    bridge: ['causeway', '--', ...bridgeCommand(url)],
  }),
]

/** Versions of both eras. The newer version sends `server/discover` first. */
const versions = [
  { client: 'claude-code-2.1.330', discovers: true },
  { client: 'claude-code-2.1.197', discovers: false },
] as const

for (const { client, discovers } of versions) {
  verifies('client:claude-code', `${client} adds the server and is connected`, async (t, channel) => {
    const claude = clientRun(t, client, t.testdir())
    if (claude === undefined) return
    const before = server.log.all.length
    const added = await claude(...add(channel, url))
    t.equal(added.code, 0, added.stderr)

    // The exit code is 0 even if a server fails.
    const listed = await claude('mcp', 'list')
    t.match(listed.stdout, /^causeway: .* - ✔ Connected$/m)
    // The client may end before the log of its last request is read.
    const methods = await until(
      async () => new Set(server.log.all.slice(before).map(({ method }) => method)),
      (found) => found.has('tools/list'),
    )
    t.equal(methods.has('server/discover'), discovers)
    t.equal(methods.has('initialize'), !discovers)
  })
}

verifies('client:claude-code', 'an unreachable server fails to connect', async (t, channel) => {
  const claude = clientRun(t, 'claude-code-2.1.330', t.testdir())
  if (claude === undefined) return
  const unreachable = 'http://127.0.0.1:1' // a reserved port without a listener
  await claude(...add(channel, unreachable))
  t.match((await claude('mcp', 'list')).stdout, /^causeway: .* - ✘ Failed to connect/m)
})

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
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  t.teardown(() => endServer(url))
  const start = ['--autostart', '--server-command', `exec ${[process.execPath, ...serverCommand].join(' ')}`]
  const data = ['-e', `CAUSEWAY_DATA_DIR=${join(home, 'data')}`]
  const bridge = ['--', ...bridgeCommand(url), ...start]
  await claude('mcp', 'add', '-s', 'local', 'causeway', ...data, ...bridge)
  t.match((await claude('mcp', 'list')).stdout, connected)
  t.type(await readPid(url), 'number', 'the bridge started a server that keeps running')
})

async function readPid(url: string): Promise<number | undefined> {
  const response = await fetch(`${url}/health`).catch(() => undefined)
  return response === undefined ? undefined : ((await response.json()) as { pid: number }).pid
}

/** Stops the server by the pid that it reports, because it is detached from this process. */
async function endServer(url: string): Promise<void> {
  const pid = await readPid(url)
  if (pid === undefined) return
  process.kill(pid, 'SIGTERM')
  await until(
    () => readPid(url),
    (pid) => pid === undefined,
  )
}
