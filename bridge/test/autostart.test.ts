import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { stateDir } from '../src/autostart.ts'
import { findServer, serverEnvironment } from '../src/server-command.ts'
import { type Holder, processOf } from '../src/start-lock.ts'
import type { Client } from './client.ts'
import { startBridge } from './client.ts'

/** A place for one server that nobody has started yet. */
interface Site {
  readonly dir: string
  readonly port: number
  start(command?: string): Client
  /** How often the command ran. */
  starts(): number
}

// Ten bridges and a server, on a machine that may be busy.
t.setTimeout(300_000)

const realServer = [
  process.execPath,
  '--conditions=@causeway/source',
  fileURLToPath(new URL('../../server/src/main.ts', import.meta.url)),
].join(' ')

/** Whatever listens at its port at the end of the test is ended. */
async function openSite(t: Test): Promise<Site> {
  const dir = t.testdir({ work: {} })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/mcp`
  t.teardown(async () => {
    // One that a failed test left on its way up is known by the lock alone.
    const pid =
      (await serverPid(port)) ?? holderIn(join(dir, `state/causeway/server-${port}.lock`)).server?.pid
    if (pid !== undefined) await endProcess(pid)
  })
  return {
    dir,
    port,
    starts: () => (existsSync(join(dir, 'starts')) ? statSync(join(dir, 'starts')).size : 0),
    start: (command = `exec ${realServer}`) =>
      startBridge(t, {
        url,
        args: ['--autostart', '--wait', '60000', '--server-command', `printf x >> ${dir}/starts; ${command}`],
        patienceMs: 60_000,
        env: { XDG_STATE_HOME: join(dir, 'state'), CAUSEWAY_DATA_DIR: join(dir, 'data') },
      }),
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function serverPid(port: number): Promise<number | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/health`)
    return ((await answer.json()) as { pid: number }).pid
  } catch {
    return undefined
  }
}

function holderIn(lock: string): Partial<Holder> {
  return existsSync(lock) ? JSON.parse(readFileSync(lock, 'utf8')) : {}
}

async function endProcess(pid: number): Promise<void> {
  if (processOf(pid) === undefined) return
  process.kill(pid, 'SIGTERM')
  for (let tries = 0; processOf(pid) !== undefined; tries += 1) {
    if (tries === 200) process.kill(pid, 'SIGKILL')
    await wait(25)
  }
}

/** Looks every few milliseconds until there is something. */
async function eventually<T>(look: () => T | undefined): Promise<T> {
  for (const end = Date.now() + 60_000; Date.now() < end; await wait(10)) {
    const found = look()
    if (found !== undefined) return found
  }
  throw new Error('it did not come')
}

verifies('bridge:autostart', 'ten bridges at once start one server, which outlives them', async (t) => {
  const site = await openSite(t)
  const bridges = Array.from({ length: 10 }, () => site.start())
  const answers = await Promise.all(
    bridges.map(async (bridge) => {
      await bridge.open()
      return bridge.call(1, 'tools/list')
    }),
  )
  for (const answer of answers) t.ok(answer.result.tools.length > 0)
  t.equal(site.starts(), 1)
  const pid = await serverPid(site.port)
  for (const bridge of bridges) bridge.end()
  for (const bridge of bridges) t.same(await bridge.exited, { code: 0, signal: null })
  t.equal(await serverPid(site.port), pid, 'the same server still answers')
  t.notOk(existsSync(join(site.dir, `state/causeway/server-${site.port}.lock`)))
  t.equal(statSync(join(site.dir, 'state/causeway')).mode & 0o777, 0o700)
})

verifies('bridge:autostart', 'the winner may die in the middle: the others get their answers', async (t) => {
  const site = await openSite(t)
  const lock = join(site.dir, `state/causeway/server-${site.port}.lock`)
  const bridges = Array.from({ length: 3 }, () => site.start(`sleep 1; exec ${realServer}`))
  const opened = bridges.map((bridge) => bridge.open())
  const winner = await eventually(() => {
    const { starter, server } = holderIn(lock)
    return server && starter?.pid
  })
  const at = bridges.findIndex((bridge) => bridge.process.pid === winner)
  bridges[at]?.process.kill('SIGKILL')
  // Nobody answers for the dead one.
  opened[at]?.catch(() => {})
  const others = opened.filter((_, index) => index !== at)
  t.equal(others.length, 2)
  for (const answer of await Promise.all(others)) t.match(answer, { result: { serverInfo: {} } })
  t.equal(site.starts(), 1, 'the server of the dead winner was waited for')
})

verifies('bridge:autostart', 'the lock of a winner that died before its server is taken over', async (t) => {
  const site = await openSite(t)
  mkdirSync(join(site.dir, 'state/causeway'), { recursive: true })
  const holder = { starter: { pid: 2 ** 22 - 1, started: '1' } }
  writeFileSync(join(site.dir, `state/causeway/server-${site.port}.lock`), JSON.stringify(holder))
  const bridge = site.start()
  t.match(await bridge.open(), { result: {} })
  t.equal(site.starts(), 1)
})

verifies(
  'bridge:autostart',
  'a server that fails at its start is told with the end of its log',
  async (t) => {
    const site = await openSite(t)
    const bridges = Array.from({ length: 3 }, () => site.start('echo the disk is full >&2; exit 3'))
    const answers = await Promise.all(bridges.map((bridge) => bridge.open()))
    const log = join(site.dir, `state/causeway/server-${site.port}.log`)
    for (const { error } of answers) {
      t.match(error, {
        code: -32603,
        data: { code: 'SERVER_START_FAILED', data: { log }, remedy: `see ${log}` },
      })
      t.match(error.message, 'the disk is full')
    }
    t.ok(site.starts() <= 3)
  },
)

verifies('bridge:autostart', 'a server elsewhere cannot be started', async (t) => {
  const bridge = startBridge(t, { url: 'https://example.org/mcp', args: ['--autostart'] })
  t.same(await bridge.exited, { code: 2, signal: null })
  t.match(bridge.stderr, /INVALID_SETTING: no server can be started at https:\/\/example\.org\/mcp/)
})

t.test('findServer: the command of a checkout, else the server package beside the bridge', async (t) => {
  const dir = t.testdir({
    checkout: { scripts: { 'run.mjs': '' }, server: { bin: { 'causeway.js': '' } }, bridge: { dist: {} } },
    modules: { server: { bin: { 'causeway.js': '' } }, bridge: { dist: {} } },
  })
  const find = (place: string) => findServer(pathToFileURL(`${dir}/${place}/bridge/dist/bridge.js`), 'node')
  t.same(find('checkout')?.args, [join(dir, 'checkout/scripts/run.mjs'), 'start'])
  t.same(find('modules')?.args, [join(dir, 'modules/server/bin/causeway.js')])
  t.equal(find('elsewhere'), undefined)
})

t.test(
  'serverEnvironment: port and root are set, settings of the bridge and of npm are left out',
  async (t) => {
    const env = {
      PATH: '/bin',
      MCP_SERVER_URL: 'http://localhost:1/mcp',
      CAUSEWAY_WAIT_MS: '1',
      CAUSEWAY_TOKEN_FILE: '/token',
      npm_lifecycle_event: 'npx',
    }
    t.same(serverEnvironment(env, '3100', '/work'), {
      PATH: '/bin',
      CAUSEWAY_TOKEN_FILE: '/token',
      CAUSEWAY_ROOTS: '/work',
      MCP_SERVER_PORT: '3100',
    })
    t.match(serverEnvironment({ CAUSEWAY_ROOTS: '/mine' }, '1', '/work'), { CAUSEWAY_ROOTS: '/mine' })
  },
)

t.test('stateDir: the folder of the platform', async (t) => {
  t.equal(stateDir({ XDG_STATE_HOME: '/state' }, 'linux'), '/state/causeway')
  t.match(stateDir({}, 'darwin'), /\.local\/state\/causeway$/)
  t.match(stateDir({ LOCALAPPDATA: '/local' }, 'win32'), /causeway$/)
})
