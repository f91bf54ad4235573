import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** @typedef {import('./supervisor.mjs').Run} Run */

const npmFlags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']

/**
 * Installs the locked dependencies unless the last complete installation has them: those of the server, and with `dev`
 * those of tests and builds too. Returns whether it installed.
 *
 * @type {(root: string, run: Run, options: { dev: boolean }) => Promise<boolean>}
 */
export async function installDependencies(root, run, { dev }) {
  const stamp = join(root, 'node_modules/.causeway-install')
  const print = fingerprint(root, ['package-lock.json'])
  const [installed, kind] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : []
  const withDev = dev || kind === 'dev'
  if (installed === print && (kind === 'dev' || !dev)) return false
  rmSync(stamp, { force: true })
  // A complete tree is updated in place, so that a server running from it keeps its modules. An incomplete one is replaced.
  const command = kind === undefined ? ['ci'] : ['install', '--no-save']
  const [program, ...first] = npm(process.env, process.execPath)
  await run(
    `${withDev ? 'installing the dependencies of server, tests and builds' : 'installing the dependencies of the server'} (npm ${command[0]})`,
    program,
    [...first, ...command, withDev ? '--include=dev' : '--omit=dev', ...npmFlags],
    { env: withoutOwnBin(root, process.env) },
  )
  writeFileSync(stamp, `${print} ${withDev ? 'dev' : 'server'}`)
  return true
}

/**
 * Fetches the pinned Node into `.bootstrap/node` unless it is there. npm verifies it against the lockfile in
 * `scripts/bootstrap/node`. The headers, 67 of 189 MB, are removed: nothing is compiled with them. Returns whether it was fetched.
 *
 * @type {(root: string, run: Run) => Promise<boolean>}
 */
export function fetchNode(root, run) {
  const source = join(root, 'scripts/bootstrap/node')
  const folder = join(root, '.bootstrap/node')
  const manifests = ['package.json', 'package-lock.json']
  const stamp = { file: join(folder, 'complete'), print: fingerprint(source, manifests) }
  return unlessStamped(stamp, async () => {
    mkdirSync(folder, { recursive: true })
    for (const name of manifests) copyFileSync(join(source, name), join(folder, name))
    const [program, ...first] = npm(process.env, process.execPath)
    await run('fetching Node (npm ci)', program, [...first, 'ci', ...npmFlags], {
      cwd: folder,
      env: withoutOwnBin(root, process.env),
    })
    const packages = join(folder, 'node_modules')
    for (const name of readdirSync(packages).filter((name) => name.startsWith('node')))
      rmSync(join(packages, name, 'include'), { recursive: true, force: true })
  })
}

/**
 * Builds tap's test class for the plugins in .taprc, after each installation and each change of .taprc.
 *
 * @type {(root: string, run: Run, node: string) => Promise<boolean>}
 */
export function buildTap(root, run, node) {
  const stamp = {
    file: join(root, 'node_modules/.causeway-tap'),
    print: fingerprint(root, ['package-lock.json', '.taprc']),
    outcomes: [join(root, '.tap/plugins/package.json')],
  }
  return unlessStamped(stamp, () =>
    run('building the test runner (tap build)', node, [
      join(root, 'node_modules/tap/dist/esm/run.mjs'),
      'build',
    ]),
  )
}

/**
 * Builds the pages of the console after each change of their sources. Returns whether it built.
 *
 * @type {(root: string, run: Run, node: string) => Promise<boolean>}
 */
export function buildConsole(root, run, node) {
  const folder = 'packages/console'
  const sources = [`${folder}/src`, 'packages/protocol/src'].flatMap((source) => listFiles(root, source))
  const settings = ['index.html', 'vite.config.ts', 'tsconfig.json'].map((name) => join(folder, name))
  const stamp = {
    file: join(root, 'node_modules/.causeway-console'),
    print: fingerprint(root, ['package-lock.json', ...settings, ...sources]),
    outcomes: [join(root, folder, 'pages/index.html')],
  }
  const vite = [join(root, 'node_modules/vite/bin/vite.js'), 'build', join(root, folder)]
  return unlessStamped(stamp, () => run('console (vite build)', node, [...vite, '--logLevel', 'warn']))
}

/**
 * Compiles the server and its packages after each change of their sources. Returns whether it compiled.
 *
 * @type {(root: string, run: Run, node: string, options: object) => Promise<boolean>}
 */
export function compileServer(root, run, node, options) {
  const packages = readdirSync(join(root, 'packages')).filter((name) => name !== 'console')
  const folders = ['server', ...packages.map((name) => join('packages', name))]
  const sources = folders.flatMap((folder) => [
    join(folder, 'package.json'),
    ...listFiles(root, join(folder, 'src')),
  ])
  const stamp = {
    file: join(root, 'node_modules/.causeway-server'),
    print: fingerprint(root, ['package-lock.json', 'tsconfig.base.json', 'scripts/compile.ts', ...sources]),
    // Not the folders: `tsc` writes its declarations there.
    outcomes: ['server/dist/main.js', ...folders.map((folder) => join(folder, 'dist/index.js'))].map((file) =>
      join(root, file),
    ),
  }
  return unlessStamped(stamp, () =>
    run('compiling the server (esbuild)', node, ['scripts/compile.ts'], options),
  )
}

/**
 * Bundles the bridge after each change of its sources. Returns whether it built.
 *
 * @type {(root: string, run: Run, node: string, options: object) => Promise<boolean>}
 */
export function buildBridge(root, run, node, options) {
  const folders = ['bridge/src', 'packages/protocol/src', 'packages/oauth/src', 'scripts/pack']
  const sources = folders.flatMap((folder) => listFiles(root, folder))
  const stamp = {
    file: join(root, 'node_modules/.causeway-bridge'),
    print: fingerprint(root, ['package-lock.json', 'bridge/package.json', 'scripts/bundle.ts', ...sources]),
    outcomes: ['bridge.js', 'login.js'].map((name) => join(root, 'bridge/dist', name)),
  }
  const command = ['--conditions=@causeway/source', 'scripts/bundle.ts']
  return unlessStamped(stamp, () => run('building the bridge (esbuild)', node, command, options))
}

/** Lists the files below a folder of the checkout, sorted, relative to the checkout. */
const listFiles = (root, folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(join(root, path)).isFile())
    .sort()

/**
 * The npm command line: the npm that started this process, else the one next to this Node, else the one on PATH.
 *
 * @type {(env: NodeJS.ProcessEnv, execPath: string) => string[]}
 */
export function npm(env, execPath) {
  if (env.npm_execpath?.endsWith('npm-cli.js')) return [env.npm_node_execpath ?? execPath, env.npm_execpath]
  const adjacent = ['../lib/node_modules/npm/bin/npm-cli.js', 'node_modules/npm/bin/npm-cli.js']
    .map((path) => join(dirname(execPath), path))
    .find((path) => existsSync(path))
  return adjacent === undefined ? ['npm'] : [execPath, adjacent]
}

/**
 * The environment without this checkout's programs on PATH: they are about to be replaced.
 *
 * @type {(root: string, env: NodeJS.ProcessEnv) => NodeJS.ProcessEnv}
 */
export function withoutOwnBin(root, env) {
  const own = join(root, 'node_modules', '.bin')
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  const folders = (env[key] ?? '').split(delimiter).filter((folder) => folder !== own)
  return { ...env, [key]: folders.join(delimiter) }
}

/** A hash over files and the platform. */
function fingerprint(folder, files) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`)
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(folder, file)))
  return hash.digest('hex')
}

/**
 * Runs `work` unless the stamp file holds this fingerprint and every outcome exists. The stamp is removed first and
 * written last, so that an interrupted run is repeated. Returns whether it ran.
 */
async function unlessStamped({ file, print, outcomes = [] }, work) {
  if (existsSync(file) && readFileSync(file, 'utf8') === print && outcomes.every((path) => existsSync(path)))
    return false
  rmSync(file, { force: true })
  await work()
  writeFileSync(file, print)
  return true
}
