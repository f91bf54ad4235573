import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { findFreePort } from '../../test/free-port.ts'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { createServerEnvironment, findServer } from '../src/autostart/autostart.ts'
import { findProcess, type Holder, type Process, StartLock } from '../src/autostart/start-lock.ts'
import type { Client } from './client.ts'
import { startBridge } from './client.ts'

/** A folder and a port for a server that bridges start. */
interface Site {
  readonly dir: string
  readonly port: number
  start(command?: string): Client
  /** Returns how often bridges ran the server command. */
  starts(): number
}

// The tests run many bridges and real servers.
t.setTimeout(300_000)

const realServer = [
  process.execPath,
  '--conditions=@causeway/source',
  fileURLToPath(new URL('../../server/src/main.ts', import.meta.url)),
].join(' ')

/** Creates a site whose server stops at the end of the test. */
async function openSite(t: Test): Promise<Site> {
  const dir = t.testdir({ work: {} })
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}/mcp`
  t.teardown(async () => {
    // If the server did not finish its start, only the lock contains its pid.
    const pid =
      (await serverPid(port)) ?? readHolder(join(dir, `state/causeway/server-${port}.lock`)).server?.pid
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
        timeoutMs: 60_000,
        env: { XDG_STATE_HOME: join(dir, 'state'), CAUSEWAY_DATA_DIR: join(dir, 'data') },
      }),
  }
}

async function serverPid(port: number): Promise<number | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/health`)
    return ((await answer.json()) as { pid: number }).pid
  } catch {
    return undefined
  }
}

function readHolder(lock: string): Partial<Holder> {
  return existsSync(lock) ? JSON.parse(readFileSync(lock, 'utf8')) : {}
}

async function endProcess(pid: number): Promise<void> {
  if (findProcess(pid) === undefined) return
  process.kill(pid, 'SIGTERM')
  for (let tries = 0; findProcess(pid) !== undefined; tries += 1) {
    if (tries === 200) process.kill(pid, 'SIGKILL')
    await wait(25)
  }
}

/** Polls until a value is defined. */
async function eventually<T>(find: () => T | undefined): Promise<T> {
  for (const end = Date.now() + 60_000; Date.now() < end; await wait(10)) {
    const found = find()
    if (found !== undefined) return found
  }
  throw new Error('timeout')
}

verifies(
  'bridge:autostart',
  'bridges started together start one server, which keeps running after they exit',
  inCI(async (t) => {
    const site = await openSite(t)
    const bridges = Array.from({ length: 5 }, () => site.start())
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
    t.equal(await serverPid(site.port), pid, 'the same server is running')
    t.notOk(existsSync(join(site.dir, `state/causeway/server-${site.port}.lock`)))
    t.equal(statSync(join(site.dir, 'state/causeway')).mode & 0o777, 0o700)
  }),
)

verifies(
  'bridge:autostart',
  'if a bridge is killed while it starts the server, the other bridges use that server',
  inCI(async (t) => {
    const site = await openSite(t)
    const lock = join(site.dir, `state/causeway/server-${site.port}.lock`)
    const bridges = Array.from({ length: 3 }, () => site.start(`sleep 1; exec ${realServer}`))
    const opened = bridges.map((bridge) => bridge.open())
    const starter = await eventually(() => {
      const holder = readHolder(lock)
      return holder.server && holder.starter?.pid
    })
    const at = bridges.findIndex((bridge) => bridge.process.pid === starter)
    bridges[at]?.process.kill('SIGKILL')
    // The call of the killed bridge fails.
    opened[at]?.catch(() => {})
    const others = opened.filter((_, index) => index !== at)
    t.equal(others.length, 2)
    for (const answer of await Promise.all(others)) t.match(answer, { result: { serverInfo: {} } })
    t.equal(site.starts(), 1, 'no other server was started')
  }),
)

verifies(
  'bridge:autostart',
  'the lock of a bridge that was killed before it started the server is replaced',
  inCI(async (t) => {
    const site = await openSite(t)
    mkdirSync(join(site.dir, 'state/causeway'), { recursive: true })
    const holder = { starter: { pid: 2 ** 22 - 1, started: '1' } }
    writeFileSync(join(site.dir, `state/causeway/server-${site.port}.lock`), JSON.stringify(holder))
    const bridge = site.start()
    t.match(await bridge.open(), { result: {} })
    t.equal(site.starts(), 1)
  }),
)

verifies(
  'bridge:autostart',
  'if the server fails to start, the error contains the end of its log',
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

verifies('bridge:autostart', 'a bridge cannot start a server on another machine', async (t) => {
  const bridge = startBridge(t, { url: 'https://example.org/mcp', args: ['--autostart'] })
  t.same(await bridge.exited, { code: 2, signal: null })
  t.match(bridge.stderr, /INVALID_SETTING: no server can be started at https:\/\/example\.org\/mcp/)
})

t.test(
  'findServer returns the start command of the checkout, or of the server package next to the bridge',
  async (t) => {
    const dir = t.testdir({
      checkout: { scripts: { 'run.mjs': '' }, server: { bin: { 'causeway.js': '' } }, bridge: { dist: {} } },
      modules: { server: { bin: { 'causeway.js': '' } }, bridge: { dist: {} } },
    })
    const find = (place: string) => findServer(pathToFileURL(`${dir}/${place}/bridge/dist/bridge.js`), 'node')
    t.same(find('checkout')?.args, [join(dir, 'checkout/scripts/run.mjs'), 'start'])
    t.same(find('modules')?.args, ['--max-semi-space-size=8', join(dir, 'modules/server/bin/causeway.js')])
    t.equal(find('elsewhere'), undefined)
  },
)

t.test(
  'createServerEnvironment sets port and roots, and omits the settings of the bridge and of npm',
  async (t) => {
    const env = {
      PATH: '/bin',
      MCP_SERVER_URL: 'http://localhost:1/mcp',
      CAUSEWAY_WAIT_MS: '1',
      CAUSEWAY_TOKEN_FILE: '/token',
      npm_lifecycle_event: 'npx',
    }
    t.same(createServerEnvironment(env, '3100', '/work'), {
      PATH: '/bin',
      CAUSEWAY_TOKEN_FILE: '/token',
      CAUSEWAY_ROOTS: '/work',
      MCP_SERVER_PORT: '3100',
    })
    t.match(createServerEnvironment({ CAUSEWAY_ROOTS: '/mine' }, '1', '/work'), { CAUSEWAY_ROOTS: '/mine' })
  },
)

const self = findProcess(process.pid) as Process

/** Returns a process that has exited. */
async function deadProcess(): Promise<Process> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return { pid: child.pid as number, started: '1' }
}

t.test('StartLock.take admits one holder, and the next one after a release', async (t) => {
  const file = join(t.testdir(), 'lock')
  const lock = StartLock.take(file, self)
  t.ok(lock)
  t.equal(StartLock.take(file, self), undefined)
  lock?.release()
  t.notOk(existsSync(file))
  t.ok(StartLock.take(file, self))
})

t.test('StartLock.take takes over the lock of a dead holder, whose release then has no effect', async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'lock')
  const first = StartLock.take(file, await deadProcess())
  const second = StartLock.take(file, self)
  t.ok(second)
  first?.setServer(self)
  first?.release()
  t.ok(existsSync(file), 'the first holder no longer owns the file')
  t.same(readdirSync(dir), ['lock'], 'no temporary file remains')
})

t.test('StartLock.take respects the lock of a dead starter while its server is running', async (t) => {
  const file = join(t.testdir(), 'lock')
  StartLock.take(file, await deadProcess())?.setServer(self)
  t.equal(StartLock.take(file, self), undefined)
})

t.test('StartLock.take replaces a lock whose pid another process has reused', async (t) => {
  if (!existsSync('/proc/self/stat')) return void t.comment('this system reports no start times')
  const file = join(t.testdir(), 'lock')
  StartLock.take(file, { ...self, started: 'long ago' })
  t.ok(StartLock.take(file, self))
})

t.test('StartLock.take treats a malformed lock as stale', async (t) => {
  for (const text of ['', 'garbage', 'null', '{"starter":7}']) {
    const file = join(t.testdir(), 'lock')
    writeFileSync(file, text)
    t.ok(StartLock.take(file, self), text)
    t.match(JSON.parse(readFileSync(file, 'utf8')), { starter: self })
  }
})
