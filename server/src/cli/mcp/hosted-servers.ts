import type { HostedServerStatus } from '@causeway/gateway'
import { ConfigFile, GatewayError, type HostedServer, SecretsFile } from '@causeway/gateway/config'
import { isCausewayError } from '@causeway/protocol'
import { formatSuggestion } from '../../config/command-line.ts'
import { type CommandCall, defineCommand } from '../command.ts'
import { ServerClient } from '../server-client.ts'

export class HostedServers {
  readonly file: ConfigFile
  readonly secrets: SecretsFile

  constructor({ config }: Pick<CommandCall, 'config'>) {
    const { dataDir } = config()
    this.file = new ConfigFile(dataDir)
    this.secrets = new SecretsFile(dataDir)
  }

  /** Throws `SERVER_NOT_FOUND` with a suggestion, and the problem of an invalid entry. */
  require(name: string): HostedServer {
    const { servers, problems } = this.file.read()
    const server = servers.find((one) => one.name === name)
    if (server !== undefined) return server
    throw problems.find((one) => one.name === name)?.error ?? this.#unknown(name)
  }

  /** Accepts invalid entries. Throws `SERVER_NOT_FOUND`. */
  requireEntry(name: string): void {
    if (this.file.readEntry(name) === undefined) throw this.#unknown(name)
  }

  #unknown(name: string) {
    const { servers, problems } = this.file.read()
    const names = [...servers, ...problems].map((one) => one.name)
    return new GatewayError(
      'SERVER_NOT_FOUND',
      `mcp.json has no server "${name}"${formatSuggestion(name, names)}`,
      { data: { servers: names }, remedy: 'causeway mcp list prints the names' },
    )
  }
}

export const hostedRoute = (name: string, path: string): string =>
  `/api/hosted/${encodeURIComponent(name)}/${path}`

/** Returns `undefined` without a running server that reports states. */
export async function findStatuses({
  config,
  note,
}: Pick<CommandCall, 'config' | 'note'>): Promise<ReadonlyMap<string, HostedServerStatus> | undefined> {
  const client = ServerClient.findRunning({ config })
  if (client === undefined) return undefined
  try {
    const { servers } = await client.get<{ servers: readonly HostedServerStatus[] }>('/api/hosted')
    return new Map(servers.map((server) => [server.name, server]))
  } catch (error) {
    if (!isCausewayError(error)) throw error
    note(`the states are not known: ${error.message}`)
    return undefined
  }
}

/** A command for one hosted server, by default with only its name as an argument. */
export const defineServerCommand: typeof defineCommand = (declaration) =>
  defineCommand({ forms: ['<name>'], exits: { 1: 'there is no such server' }, ...declaration })
