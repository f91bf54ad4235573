/** The bridge that belongs to this server: where it is, of which version, and how a client starts it. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { version } from '../version.ts'

/** The bridge beside this package: in the checkout, or installed next to the server. */
export interface Bridge {
  readonly program: string
  readonly version: string
}

// The same way up from src/cli and from dist/cli.
const folder = new URL('../../../bridge/', import.meta.url)

/** Finds it; undefined where the server is installed alone. */
export function findBridge(from: URL = folder): Bridge | undefined {
  // That of a checkout says what to do where nothing is built.
  const program = ['run.mjs', 'dist/bridge.js']
    .map((path) => fileURLToPath(new URL(path, from)))
    .find((path) => existsSync(path))
  if (program === undefined) return undefined
  const manifest = JSON.parse(readFileSync(new URL('package.json', from), 'utf8')) as { version: string }
  return { program, version: manifest.version }
}

/** npm empties this folder when it likes: nothing in it may be named to a client or a service. */
export const isPassing = (path: string): boolean => /[\\/]_npx[\\/]/.test(path)

/** The program and arguments that start the bridge, by its path where that will last, else through npx. */
export function bridgeCommand(bridge: Bridge | undefined, node = process.execPath): readonly string[] {
  if (bridge === undefined || isPassing(bridge.program)) return ['npx', '-y', `@causeway/bridge@${version}`]
  return [node, bridge.program]
}
