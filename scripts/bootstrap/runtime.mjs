import { existsSync, linkSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { Exit } from './supervisor.mjs'

/** The oldest Node that runs the server: older ones crash in better-sqlite3 and don't strip types. */
const oldest = [22, 19]

/**
 * The Node that this machine has for building, testing and serving: `CAUSEWAY_NODE`, or the current one if it is new
 * enough. `undefined` if Node has to be fetched. Throws an `Exit` if that is not possible.
 *
 * @type {(root: string, host?: { env?: NodeJS.ProcessEnv, version?: string, execPath?: string,
 *   hasGlibc?: () => boolean }) => string | undefined}
 */
export function findLocalNode(root, host = {}) {
  const { env = process.env, version = process.versions.node, execPath = process.execPath } = host
  const { hasGlibc = isLinkedWithGlibc } = host
  if (env.CAUSEWAY_NODE) {
    if (existsSync(env.CAUSEWAY_NODE)) return env.CAUSEWAY_NODE
    throw new Exit(1, `CAUSEWAY_NODE: file not found: ${env.CAUSEWAY_NODE}`)
  }
  // npm puts the fetched Node first on PATH. It isn't the machine's own: a change of its lockfile replaces it.
  if (isNewEnough(version) && !execPath.startsWith(root + sep)) return execPath
  if (process.platform !== 'linux' || hasGlibc()) return undefined
  // The fetched Node is linked with glibc and does not start on Alpine.
  throw tooOld(version)
}

/**
 * The program of the Node that `fetchNode` installed. Throws an `Exit` if npm has none for this platform.
 *
 * @type {(root: string, version?: string) => string}
 */
export function findFetchedNode(root, version = process.versions.node) {
  const packages = join(root, '.bootstrap/node/node_modules')
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node'
  const program = (existsSync(packages) ? readdirSync(packages) : [])
    .map((name) => join(packages, name, file))
    .find((path) => existsSync(path))
  if (program === undefined) throw tooOld(version)
  return program
}

/**
 * Puts the fetched Node into `node_modules/.bin`, which `npx` and `npm run` put first on PATH: programs such as tap then
 * run on it.
 *
 * @type {(root: string, node: string) => void}
 */
export function linkNode(root, node) {
  const link = join(root, 'node_modules/.bin', basename(node))
  if (existsSync(link) && realpathSync(link) === realpathSync(node)) return
  mkdirSync(dirname(link), { recursive: true })
  rmSync(link, { force: true })
  // A symbolic link would need privileges on Windows.
  if (process.platform === 'win32') linkSync(node, link)
  else symlinkSync(relative(dirname(link), node), link)
}

/**
 * Whether the server runs on this version of Node.
 *
 * @type {(version: string) => boolean}
 */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
}

const tooOld = (version) =>
  new Exit(
    1,
    `Causeway needs Node ${oldest.join('.')} or newer and this is ${version}; install one, or name one in CAUSEWAY_NODE`,
  )

function isLinkedWithGlibc() {
  // Network interfaces would take seconds to look up.
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime !== undefined
}
