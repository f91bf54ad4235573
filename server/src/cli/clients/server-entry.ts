import { findDataFolder, getMachine } from '@causeway/protocol'
import type { Config } from '../../config/config.ts'
import { findBridge, getBridgeCommand } from './bridge-program.ts'

export interface ServerEntry {
  readonly type?: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

interface EntryOptions {
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly autostart: boolean
  /** `full`, `core` or the name of a profile. */
  readonly view?: string | undefined
}

const defaultPort = 3100

export function createEntry({ config, env, autostart, view }: EntryOptions): ServerEntry {
  const { port, tokenFile, dataDir } = config
  const [command = '', ...bridgeArgs] = getBridgeCommand(findBridge())
  const args = [
    ...bridgeArgs,
    ...(port === defaultPort || port === 0 ? [] : ['--url', `http://localhost:${port}/mcp`]),
    ...(tokenFile === undefined ? [] : ['--token-file', tokenFile]),
    ...(autostart ? ['--autostart'] : []),
  ]
  const variables = {
    ...(autostart && dataDir !== findDataFolder(getMachine(env)) && { CAUSEWAY_DATA_DIR: dataDir }),
    ...(view !== undefined && { CAUSEWAY_VIEW: view }),
  }
  return { command, args, ...(Object.keys(variables).length > 0 && { env: variables }) }
}
