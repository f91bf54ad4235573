import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { version } from '../../process/version.ts'

export interface Bridge {
  readonly program: string
  readonly version: string
}

// In the published package, and in a checkout. `src` and `dist` have the same depth.
const bridgeFolders = ['../../../bridge/', '../../../../bridge/']

export function findBridge(): Bridge | undefined {
  for (const path of bridgeFolders) {
    const folder = new URL(path, import.meta.url)
    // run.mjs exists only in a checkout.
    const program = ['run.mjs', 'dist/bridge.js']
      .map((file) => fileURLToPath(new URL(file, folder)))
      .find((file) => existsSync(file))
    if (program === undefined) continue
    const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as Bridge
    return { program, version }
  }
  return undefined
}

/** Whether npm may delete the program from its cache. */
export const isInNpxCache = (path: string): boolean => /[\\/]_npx[\\/]/.test(path)

export function getBridgeCommand(bridge: Bridge | undefined, node = process.execPath): readonly string[] {
  if (bridge === undefined || isInNpxCache(bridge.program))
    return ['npx', '-y', `causeway-mcp-bridge@${version}`]
  return [node, bridge.program]
}
