import {
  ConfigFile,
  type GatewayConfig,
  GatewayError,
  type HostedServer,
  SecretsFile,
} from '@causeway/gateway/config'
import { closest } from '@causeway/protocol'
import type { CommandCall } from '../command.ts'

export class HostedServers {
  readonly file: ConfigFile
  readonly secrets: SecretsFile

  constructor(dataDir: string) {
    this.file = new ConfigFile(dataDir)
    this.secrets = new SecretsFile(dataDir)
  }

  /** Throws `GATEWAY_CONFIG_INVALID`. */
  read(): GatewayConfig {
    return this.file.read()
  }

  /** Throws `SERVER_NOT_FOUND` with a suggestion, and the problem of an invalid entry. */
  require(name: string): HostedServer {
    const { servers, problems } = this.read()
    const server = servers.find((one) => one.name === name)
    if (server !== undefined) return server
    throw problems.find((one) => one.name === name)?.error ?? this.#unknown(name)
  }

  /** Accepts invalid entries. Throws `SERVER_NOT_FOUND`. */
  requireEntry(name: string): void {
    if (this.file.readEntry(name) === undefined) throw this.#unknown(name)
  }

  #unknown(name: string) {
    const { servers, problems } = this.read()
    const names = [...servers, ...problems].map((one) => one.name)
    const suggestion = closest(name, names)
    return new GatewayError(
      'SERVER_NOT_FOUND',
      `mcp.json has no server "${name}"${suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`}`,
      { data: { servers: names }, remedy: 'causeway mcp list prints the names' },
    )
  }
}

export const openHostedServers = ({ config }: Pick<CommandCall, 'config'>): HostedServers =>
  new HostedServers(config().dataDir)
