import type { HostedServerStatus } from '@causeway/gateway'
import { ConfigFile, GatewayError, type HostedServer } from '@causeway/gateway/config'
import { isCausewayError } from '@causeway/protocol'
import { formatSuggestion } from '../../config/command-line.ts'
import { type CommandCall, defineCommand } from '../command.ts'
import { ServerClient } from '../server-client.ts'

/** `mcp.json` of the data folder. */
export class ServersFile extends ConfigFile {
  constructor({ config }: Pick<CommandCall, 'config'>) {
    super(config().dataDir)
  }

  get names(): readonly string[] {
    const { servers, problems } = this.read()
    return [...servers, ...problems].map(({ name }) => name)
  }

  /** Throws `SERVER_NOT_FOUND` with a suggestion, or the error of an invalid entry. */
  require(name: string): HostedServer {
    this.requireEntry(name)
    const { servers, problems } = this.read()
    const server = servers.find((candidate) => candidate.name === name)
    if (server !== undefined) return server
    throw problems.find((candidate) => candidate.name === name)?.error
  }

  /** Accepts invalid entries. Throws `SERVER_NOT_FOUND`. */
  requireEntry(name: string): void {
    const { names } = this
    if (names.includes(name)) return
    throw new GatewayError(
      'SERVER_NOT_FOUND',
      `mcp.json has no server "${name}"${formatSuggestion(name, names)}`,
      { data: { servers: names }, remedy: 'causeway mcp list prints the names' },
    )
  }
}

export const getHostedRoute = (name: string, path: string): string =>
  `/api/hosted/${encodeURIComponent(name)}/${path}`

/** Returns `undefined` if no running server reports states. */
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

export const defineServerCommand: typeof defineCommand = (declaration) =>
  defineCommand({ forms: ['<name>'], exits: { 1: 'there is no such server' }, ...declaration })
