import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Exit } from './exit.mjs'
import { buildTap, installDependencies } from './install.mjs'
import { withLock } from './lock.mjs'
import { chooseNode } from './runtime.mjs'
import { serving } from './serving.mjs'

const condition = '--conditions=@causeway/source'
const language = ['test/language/lint.ts']

/**
 * @typedef {import('./supervisor.mjs').Supervisor} Supervisor
 * @typedef {(supervisor: Supervisor, args: readonly string[]) => Promise<number>} Task  answers the exit code
 */

/**
 * What `npm run <name>` does. Each installs first whatever is missing.
 *
 * @type {Readonly<Record<string, Task>>}
 */
export const tasks = {
  /**
   * Builds and serves, with the data in the checkout and the example recordings as root, unless the user says else; or runs
   * another command of the program.
   */
  async start(supervisor, args) {
    const node = await setUp(supervisor, ['build'])
    return serve(supervisor, node, { program: [join(supervisor.root, 'server/bin/causeway.js')], args })
  },

  /** Serves from the sources with debug logging, and again after every change. */
  async 'server:debug'(supervisor, args) {
    const node = await setUp(supervisor, ['bundle'])
    const program = [
      '--watch',
      '--watch-preserve-output',
      condition,
      join(supervisor.root, 'server/src/main.ts'),
    ]
    return serve(supervisor, node, { program, args, extra: { EXTRA_LOGGING: 'true' } })
  },

  async build(supervisor) {
    await setUp(supervisor, ['build'])
    return 0
  },

  async lint(supervisor, args) {
    const node = await setUp(supervisor, [])
    const formatted = await supervisor.run(node, [...biome(supervisor), ...args], environment(node))
    const written = await supervisor.run(node, language, environment(node))
    return formatted || written
  },

  async format(supervisor) {
    const node = await setUp(supervisor, [])
    return supervisor.run(node, [...biome(supervisor), '--write'], environment(node))
  },

  /** Every check; with file names, only those tests run; with `--coverage` all do, and coverage has to reach its floors. */
  async test(supervisor, args) {
    const node = await setUp(supervisor, ['build', 'tap'])
    const files = args.filter((arg) => arg !== '--coverage')
    const isMeasured = files.length < args.length
    if (isMeasured && files.length > 0) throw new Exit(1, 'coverage is that of all tests: name no files')
    return check(supervisor, node, { files, isMeasured }, process.env)
  },

  /** Every check with the full counts, kept in docs/reliability.md: tests that repeat something read CAUSEWAY_LONG. */
  async 'check:long'(supervisor, names) {
    const node = await setUp(supervisor, ['build', 'tap'])
    return supervisor.run(node, [condition, 'scripts/check-long.ts', ...names], environment(node))
  },

  pack: script('scripts/pack.ts', ['build']),
  docs: script('scripts/docs.ts'),
  fixtures: script('fixtures/generate/main.ts'),
  bench: script('bench/main.ts', ['build']),
  soak: script('test/soak/main.ts', ['build']),

  'help:build': help('build'),
  'help:rebuild': help('rebuild'),
  'help:build_dev': help('build_dev'),
  'help:stats': help('stats'),
  'help:export': help('export'),
  'help:import': help('import'),
  'help:verify': help('verify'),
}

/** A task of Help, on the data that `npm start` serves. */
function help(task) {
  return async (supervisor, args) => {
    const node = await setUp(supervisor, [])
    const { env } = environment(node, {
      CAUSEWAY_DATA_DIR: join(supervisor.root, '.causeway'),
      ...process.env,
    })
    return supervisor.run(node, [condition, 'scripts/help.ts', task, ...args], { env })
  }
}

/** Installs and builds what a task needs, alone in this checkout, and answers the Node to use from then on. */
async function setUp(supervisor, needs) {
  const { root, say, step, signal } = supervisor
  const prepare = async () => {
    await installDependencies(root, step)
    const node = chooseNode(root)
    if (needs.includes('tap')) await buildTap(root, step, node)
    if (needs.includes('build'))
      await step('build (tsc)', node, [tsc(root), '-b', 'server', 'bridge'], environment(node))
    if (needs.includes('build') || needs.includes('bundle')) {
      await step('bridge (esbuild)', node, [condition, 'scripts/bundle.ts'], environment(node))
    }
    return node
  }
  return withLock(join(root, '.bootstrap/lock'), prepare, { say, signal })
}

/** Runs the server with an IPC channel, whose end tells it that this process was killed. */
function serve(supervisor, node, { program, args, extra = {} }) {
  const { serves, cwd, env: defaults } = serving(args, supervisor)
  const { env } = environment(node, { ...defaults, ...process.env, ...extra })
  if (serves) supervisor.say(`server (${program[0] === '--watch' ? 'restarts on change' : 'Ctrl-C ends it'})`)
  return supervisor.run(node, [...program, ...args], {
    env,
    cwd,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
}

/** Runs every check though an earlier one failed, so that one run tells everything, and answers the first failure's code. */
async function check(supervisor, node, { files, isMeasured }, env) {
  const { root, say, step } = supervisor
  // Kept compiled code saves a fifth of the time, and measuring costs a third; together they would measure less precisely.
  const quick = { NODE_COMPILE_CACHE: join(root, '.bootstrap/compile-cache'), ...env }
  const options = environment(node, isMeasured ? env : quick)
  const measuring = isMeasured ? [] : ['--disable-coverage']
  const tap = [join(root, 'node_modules/tap/dist/esm/run.mjs'), ...strictness(env), ...measuring, ...files]
  const failures = []
  const passes = async (...args) => {
    try {
      await step(...args)
      return true
    } catch (error) {
      if (!(error instanceof Exit) || supervisor.signal.aborted) throw error
      say(`  ${error.message}`)
      failures.push(error)
      return false
    }
  }
  await passes('lint (biome)', node, biome(supervisor), options)
  await passes('lint (language)', node, language, options)
  await passes('types (tsc)', node, [tsc(root), '-b'], options)
  await passes('docs', node, [condition, 'scripts/docs.ts', '--check'], options)
  const tested = await passes('tests (tap)', node, tap, { ...options, stdio: 'inherit' })
  if (tested && isMeasured) await passes('coverage floors', node, ['scripts/coverage.ts'], options)
  if (failures.length > 0) say(`FAILED: ${failures.map((failure) => failure.message).join('; ')}`)
  return failures[0]?.code ?? 0
}

/** In continuous integration nothing may be left open, and nothing skipped once the recordings that some tests need are there. */
function strictness(env) {
  if (!env.CI) return []
  return env.CAUSEWAY_REAL_RECORDINGS ? ['--fail-todo', '--fail-skip'] : ['--fail-todo']
}

/** A task that runs one of our TypeScript programs. */
function script(file, needs = []) {
  return async (supervisor, args) => {
    const node = await setUp(supervisor, needs)
    if (!existsSync(join(supervisor.root, file))) throw new Exit(1, `${file} does not exist in this checkout`)
    return supervisor.run(node, [condition, file, ...args], environment(node))
  }
}

/** The environment in which `node` means the chosen one, for every program that looks for it on PATH. */
function environment(node, env = process.env) {
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  return { env: { ...env, [key]: [dirname(node), env[key]].join(delimiter) } }
}

function tsc(root) {
  return join(root, 'node_modules/typescript/bin/tsc')
}

function biome({ root }) {
  return [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '--error-on-warnings']
}
