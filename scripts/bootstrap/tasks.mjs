import { delimiter, dirname, join } from 'node:path'
import {
  buildBridge,
  buildConsole,
  buildTap,
  compileServer,
  fetchNode,
  installDependencies,
} from './install.mjs'
import { withLock } from './lock.mjs'
import { findFetchedNode, findLocalNode, linkNode } from './runtime.mjs'
import { serving } from './serving.mjs'
import { Exit } from './supervisor.mjs'

const condition = '--conditions=@causeway/source'
const language = ['test/language/lint.ts']
/** Exit code of a command that could not install its dependencies (sysexits.h, EX_UNAVAILABLE). `.ci/run` retries it. */
const unavailable = 69
/** V8's default young generation of 32 MiB costs 20 MB of resident memory and saves no time here. */
const memory = '--max-semi-space-size=8'
const tap = 'node_modules/tap/dist/esm/run.mjs'
// Not bin/tsc: tap's module hooks, which reach the builds that tests start, can't load a file without extension.
const tsc = 'node_modules/typescript/lib/tsc.js'
/**
 * Options of tap for coverage. They replace options of .taprc, by which tap records no files and leaves out the end-to-end tests of
 * the packages.
 */
const coverage = [
  '--no-disable-coverage',
  '--test-env=_TAPJS_PROCESSINFO_EXCLUDE_=/^node:/',
  '--exclude=**/node_modules/**',
]
const biome = ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings']

/**
 * What a task needs in addition to the server's dependencies: `dev` those of tests and builds, `tap` the test runner,
 * `types` the declarations of the packages, `server` the compiled server, `bridge` the bundled bridge, `console` its pages.
 *
 * @typedef {'dev' | 'tap' | 'types' | 'server' | 'bridge' | 'console'} Need
 * @typedef {import('./supervisor.mjs').Supervisor} Supervisor
 * @typedef {(supervisor: Supervisor, args: readonly string[]) => Promise<number>} Task  returns the exit code
 */

/** @type {readonly Need[]} */
const product = ['server', 'bridge', 'console']

/**
 * What `npm run <name>` does. Each task first installs what is missing.
 *
 * @type {Readonly<Record<string, Task>>}
 */
export const tasks = {
  /** Serves with data in the checkout and the example recordings; or runs another command. */
  async start(supervisor, args) {
    const node = await setUp(supervisor, product)
    return serve(supervisor, node, { args })
  },

  /** Bundles the bridge, for `bridge/run.mjs --autostart`. */
  async bridge(supervisor) {
    await setUp(supervisor, ['bridge'])
    return 0
  },

  /** Installs everything, so that `npx tap <file>` runs a test. */
  async setup(supervisor) {
    await setUp(supervisor, ['dev', 'tap', 'bridge', 'console'])
    return 0
  },

  /** Serves from the sources with debug logging, and restarts after every change. */
  async 'server:debug'(supervisor, args) {
    const node = await setUp(supervisor, ['console'])
    const nodeArgs = [condition, '--watch', '--watch-preserve-output']
    return serve(supervisor, node, { nodeArgs, args, extra: { EXTRA_LOGGING: 'true' } })
  },

  async build(supervisor) {
    await setUp(supervisor, ['types', ...product])
    return 0
  },

  async lint(supervisor, args) {
    const node = await setUp(supervisor, ['dev'])
    const formatted = await supervisor.run(node, [...biome, ...args], environment(node))
    const written = await supervisor.run(node, language, environment(node))
    return formatted || written
  },

  async format(supervisor) {
    const node = await setUp(supervisor, ['dev'])
    return supervisor.run(node, [...biome, '--write'], environment(node))
  },

  /** Runs every check, or with file names only these tests and nothing else. `--coverage` measures all tests against the coverage floors. */
  async test(supervisor, args) {
    const node = await setUp(supervisor, ['tap', 'console'])
    const files = args.filter((arg) => arg !== '--coverage')
    const isMeasured = files.length < args.length
    if (isMeasured && files.length > 0) throw new Exit(2, '--coverage measures all tests: name no files')
    return files.length > 0 ? runTests(supervisor, node, files) : check(supervisor, node, isMeasured)
  },

  /** Runs every check with its full counts, and writes docs/reliability.md. */
  async 'check:long'(supervisor, names) {
    const node = await setUp(supervisor, ['tap', ...product])
    return supervisor.run(node, [condition, 'scripts/check-long.ts', ...names], environment(node))
  },

  pack: script('scripts/pack.ts', ['types', ...product]),
  docs: script('scripts/docs.ts', ['dev']),
  pictures: script('scripts/pictures.ts', []),
  fixtures: script('fixtures/generate/main.ts', ['dev']),
  bench: script('bench/main.ts', ['dev', ...product]),
  soak: script('test/soak/main.ts', ['dev', ...product]),

  'help:build': help('build'),
  'help:rebuild': help('rebuild'),
  'help:build_dev': help('build_dev'),
  'help:stats': help('stats'),
  'help:export': help('export'),
  'help:import': help('import'),
  'help:verify': help('verify'),
}

/** A task that runs a TypeScript program of this checkout. */
function script(file, needs) {
  return async (supervisor, args) => {
    const node = await setUp(supervisor, needs)
    return supervisor.run(node, [condition, file, ...args], environment(node))
  }
}

/** A task of Help on the data that `npm start` serves. */
function help(task) {
  return async (supervisor, args) => {
    const node = await setUp(supervisor, [])
    const env = { CAUSEWAY_DATA_DIR: join(supervisor.root, '.causeway'), ...process.env }
    return supervisor.run(node, [condition, 'scripts/help.ts', task, ...args], environment(node, env))
  }
}

/**
 * Installs and builds what a task needs while no other command does so in this checkout. Returns the Node to use.
 *
 * @type {(supervisor: Supervisor, needs: readonly Need[]) => Promise<string>}
 */
function setUp(supervisor, needs) {
  const { root, say, step, signal } = supervisor
  const dev = needs.some((need) => !product.includes(need))
  const install = (...args) =>
    step(...args).catch((error) => {
      throw signal.aborted ? error : new Exit(unavailable, error.message)
    })
  const prepare = async () => {
    const local = findLocalNode(root)
    const node = await settled([
      local ?? fetchNode(root, install).then(() => findFetchedNode(root)),
      installDependencies(root, install, { dev }),
    ])
    if (local === undefined) linkNode(root, node)
    if (needs.includes('tap')) await buildTap(root, step, node)
    if (needs.includes('types'))
      await step('types (tsc)', node, [tsc, '-b', 'server', 'bridge'], environment(node))
    if (needs.includes('server')) await compileServer(root, step, node, environment(node))
    if (needs.includes('bridge')) await buildBridge(root, step, node, environment(node))
    if (needs.includes('console')) await buildConsole(root, step, node)
    return node
  }
  return withLock(join(root, '.bootstrap/lock'), prepare, { say, signal })
}

/** Waits until all promises have settled, then returns the first result or throws the first error. */
async function settled(promises) {
  const results = await Promise.allSettled(promises)
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return results[0].value
}

/** Runs the program `causeway`. It stops when its IPC channel closes, which happens if this process is killed. */
function serve(supervisor, node, { nodeArgs = [], args, extra = {} }) {
  const { serves, cwd, env: defaults } = serving(args, supervisor)
  // glibc keeps up to 8 arenas per core, and raises the threshold above which it returns memory unless it is set.
  const frugal = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' }
  const { env } = environment(node, { ...frugal, ...defaults, ...process.env, ...extra })
  if (serves)
    supervisor.say(
      `starting the server (${nodeArgs.length > 0 ? 'it restarts on change' : 'press Ctrl-C to stop it'})`,
    )
  const program = [...nodeArgs, memory, join(supervisor.root, 'server/bin/causeway.js')]
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  return supervisor.run(node, [...program, ...args], { env, cwd, stdio })
}

/** Runs every check even if an earlier one failed, and returns the exit code of the first failure. */
async function check(supervisor, node, isMeasured) {
  const { say, step } = supervisor
  const options = environment(node)
  const failures = []
  const passes = async (run) => {
    try {
      await run()
      return true
    } catch (error) {
      if (!(error instanceof Exit) || supervisor.signal.aborted) throw error
      say(`  ${error.message}`)
      failures.push(error)
      return false
    }
  }
  await Promise.all([
    passes(() => step('lint (biome)', node, biome, options)),
    passes(() => step('lint (language)', node, language, options)),
    passes(() => step('types (tsc)', node, [tsc, '-b'], options)),
    passes(() => step('docs', node, [condition, 'scripts/docs.ts', '--check'], options)),
  ])
  const tested = await passes(async () => {
    const code = await runTests(supervisor, node, isMeasured ? coverage : [])
    if (code !== 0) throw new Exit(code, 'tests (tap) failed')
  })
  if (tested && isMeasured)
    await passes(() => step('coverage floors', node, ['scripts/coverage.ts'], options))
  if (failures.length > 0) say(`FAILED: ${failures.map((failure) => failure.message).join('; ')}`)
  return failures[0]?.code ?? 0
}

/** Runs tap. The compile cache saves a fifth of the time, but makes coverage less precise. */
function runTests(supervisor, node, args) {
  const cache = { NODE_COMPILE_CACHE: join(supervisor.root, '.bootstrap/compile-cache') }
  const env = args === coverage ? process.env : { ...cache, ...process.env }
  return supervisor.run(node, [tap, ...strictness(env), ...args], environment(node, env))
}

/** CI fails on tests marked as todo, and on skipped ones if the recordings that they need are available. */
function strictness(env) {
  if (!env.CI) return []
  return env.CAUSEWAY_REAL_RECORDINGS ? ['--fail-todo', '--fail-skip'] : ['--fail-todo']
}

/** Options with an environment whose PATH starts with the folder of the chosen Node. */
function environment(node, env = process.env) {
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  return { env: { ...env, [key]: [dirname(node), env[key]].join(delimiter) } }
}
