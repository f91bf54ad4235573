import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Exit } from './exit.mjs'
import { nodePackages } from './node-packages.mjs'

/** The oldest Node that runs the server: better-sqlite3 crashes below, and type stripping is off. */
const oldest = [22, 19]

/**
 * The Node that builds, tests and serves: `CAUSEWAY_NODE`, else the one installed from npm, else the current one if it
 * is new enough; throws an `Exit` with one sentence otherwise.
 *
 * @type {(root: string, host?: { env?: NodeJS.ProcessEnv, platform?: string, arch?: string, version?: string,
 *   execPath?: string, exists?: (path: string) => boolean, hasGlibc?: () => boolean }) => string}
 */
export function chooseNode(root, host = {}) {
  const { env = process.env, platform = process.platform, arch = process.arch } = host
  const { version = process.versions.node, execPath = process.execPath, exists = existsSync } = host
  const { hasGlibc = runsOnGlibc } = host
  if (env.CAUSEWAY_NODE) {
    if (exists(env.CAUSEWAY_NODE)) return env.CAUSEWAY_NODE
    throw new Exit(1, `CAUSEWAY_NODE names no file: ${env.CAUSEWAY_NODE}`)
  }
  const packaged = nodePackages[`${platform}-${arch}`]
  const path = packaged && join(root, 'node_modules', packaged.name, packaged.program)
  // Those of Linux are linked with glibc: elsewhere the file is there and cannot be started.
  if (path && exists(path) && (platform !== 'linux' || hasGlibc())) return path
  if (isNewEnough(version)) return execPath
  throw new Exit(
    1,
    `Causeway needs Node ${oldest.join('.')} or newer and this is ${version}; install one, or name one in CAUSEWAY_NODE`,
  )
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

/** Whether this Node is linked with glibc; one of Alpine is linked with musl. */
function runsOnGlibc() {
  // The names of its network's neighbours would take seconds to ask for.
  process.report.excludeNetwork = true
  const { header } = process.report.getReport()
  return header.glibcVersionRuntime !== undefined
}
