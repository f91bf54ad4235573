import { randomUUID } from 'node:crypto'
import { Gateway, type GatewayOptions } from '@causeway/gateway'
import { ConfigWatcher, type GatewayConfig, renderEndpoint } from '@causeway/gateway/config'
import type { CausewayError } from '@causeway/protocol'
import type { Logger } from 'pino'
import { version } from '../process/version.ts'

interface HostedServersOptions
  extends Pick<GatewayOptions, 'dataDir' | 'now' | 'steady' | 'isReserved' | 'onChange' | 'onResource'> {
  readonly log: Logger
  readonly env: NodeJS.ProcessEnv
}

/** The MCP servers of `mcp.json`, which is applied again when it changes. */
export class HostedServers {
  readonly gateway: Gateway
  readonly #watcher: ConfigWatcher

  private constructor(gateway: Gateway, watcher: ConfigWatcher) {
    this.gateway = gateway
    this.#watcher = watcher
  }

  static async open(options: HostedServersOptions): Promise<HostedServers> {
    const { dataDir, log, env } = options
    const logFailure = (err: unknown): void => log.error({ err }, 'the MCP servers could not be updated')
    const watcher: ConfigWatcher = new ConfigWatcher({
      dataDir,
      onChange: ({ servers }) => void gateway.update(servers).catch(logFailure),
      onFailure: (err) => log.error({ err }, 'mcp.json is not used; the last valid configuration remains'),
    })
    const gateway = await Gateway.open(
      {
        ...options,
        log: log.child({ app: 'gateway' }),
        newId: randomUUID,
        clientInfo: { name: 'causeway', version },
        render: (server, project) =>
          renderEndpoint(server, { env, secrets: watcher.current.secrets, project }),
      },
      watcher.current.servers,
    )
    return new HostedServers(gateway, watcher)
  }

  /** The last valid configuration. */
  get config(): GatewayConfig {
    return this.#watcher.current
  }

  /** Why `mcp.json` as it is now is not used. */
  get failure(): CausewayError | undefined {
    return this.#watcher.failure
  }

  /** Reads `mcp.json` now if it changed. */
  check(): void {
    this.#watcher.check()
  }

  async close(): Promise<void> {
    this.#watcher.close()
    await this.gateway.close()
  }
}
