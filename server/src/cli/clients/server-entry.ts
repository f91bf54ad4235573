import { findDataFolder, thisMachine } from '@causeway/protocol'
import type { Config } from '../../config/config.ts'
import { bridgeCommand, findBridge } from './bridge-program.ts'

/** The entry of Causeway in the configuration of a client. */
export interface ServerEntry {
  readonly type?: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface EntryOptions {
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  /** Whether the bridge starts the server. */
  readonly autostart: boolean
  /** The list of tools: `full`, `core` or a profile. */
  readonly view?: string | undefined
}

const defaultPort = 3100

/** Omits defaults of the bridge. */
export function createEntry({ config, env, autostart, view }: EntryOptions): ServerEntry {
  const { port, tokenFile, dataDir } = config
  const [command = '', ...bridgeArgs] = bridgeCommand(findBridge())
  const args = [
    ...bridgeArgs,
    ...(port === defaultPort || port === 0 ? [] : ['--url', `http://localhost:${port}/mcp`]),
    ...(tokenFile === undefined ? [] : ['--token-file', tokenFile]),
    ...(autostart ? ['--autostart'] : []),
  ]
  const variables = {
    ...(autostart && dataDir !== findDataFolder(thisMachine(env)) && { CAUSEWAY_DATA_DIR: dataDir }),
    ...(view !== undefined && { CAUSEWAY_VIEW: view }),
  }
  return { command, args, ...(Object.keys(variables).length > 0 && { env: variables }) }
}
