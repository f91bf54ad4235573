import { randomUUID } from 'node:crypto'
import { Gateway, type GatewayOptions } from '@causeway/gateway'
import {
  ConfigWatcher,
  type GatewayConfig,
  GatewayError,
  type HostedServer,
  renderEndpoint,
  renderRemote,
} from '@causeway/gateway/config'
import { AuthFile, Logins, type RemoteServer, ServerLogin } from '@causeway/oauth'
import type { CausewayError } from '@causeway/protocol'
import type { Logger } from 'pino'
import { version } from '../process/version.ts'

interface HostedServersOptions
  extends Pick<
    GatewayOptions,
    'dataDir' | 'now' | 'monotonicNow' | 'isReserved' | 'onChange' | 'onResource'
  > {
  readonly log: Logger
  readonly env: NodeJS.ProcessEnv
}

interface HostedServices {
  readonly gateway: Gateway
  readonly logins: Logins
  readonly watcher: ConfigWatcher
  readonly renderRemote: (server: HostedServer) => RemoteServer | undefined
}

/** The MCP servers of `mcp.json`, updated when the file changes. */
export class HostedServers {
  readonly gateway: Gateway
  readonly logins: Logins
  /** URL for responses of authorization servers. Set while the server listens. */
  callbackUrl: string | undefined
  readonly #watcher: ConfigWatcher
  readonly #renderRemote: HostedServices['renderRemote']

  private constructor({ gateway, logins, watcher, renderRemote }: HostedServices) {
    this.gateway = gateway
    this.logins = logins
    this.#watcher = watcher
    this.#renderRemote = renderRemote
  }

  static async open(options: HostedServersOptions): Promise<HostedServers> {
    const { dataDir, log, env } = options
    const logFailure = (err: unknown): void => log.error({ err }, 'the MCP servers could not be updated')
    const watcher: ConfigWatcher = new ConfigWatcher({
      dataDir,
      onChange: ({ servers }) => void gateway.update(servers).catch(logFailure),
      onFailure: (err) => log.error({ err }, 'mcp.json is not used; the last valid configuration remains'),
    })
    const logins = new Logins({
      file: new AuthFile(dataDir),
      now: options.now,
      formatLoginCommand: ({ name }) => `causeway mcp login ${name}`,
    })
    const resolveRemote = (server: HostedServer) =>
      renderRemote(server, { env, secrets: watcher.current.secrets })
    let hosted: HostedServers | undefined
    const gateway = await Gateway.open(
      {
        ...options,
        log: log.child({ app: 'gateway' }),
        createId: randomUUID,
        clientInfo: { name: 'causeway', version },
        render: (server, project) =>
          renderEndpoint(server, { env, secrets: watcher.current.secrets, project }),
        createLogin: (server) => {
          const remote = resolveRemote(server)
          return remote && new ServerLogin({ logins, server: remote, redirectUrl: hosted?.callbackUrl })
        },
      },
      watcher.current.servers,
    )
    // Started last, because a change of `mcp.json` needs the gateway.
    watcher.start()
    hosted = new HostedServers({ gateway, logins, watcher, renderRemote: resolveRemote })
    return hosted
  }

  get config(): GatewayConfig {
    return this.#watcher.current
  }

  get failure(): CausewayError | undefined {
    return this.#watcher.failure
  }

  /** Throws `SERVER_NOT_FOUND` and `LOGIN_UNSUPPORTED`. */
  findRemote(name: string): RemoteServer {
    this.gateway.listPendingChanges(name)
    const server = this.config.servers.find((server) => server.name === name)
    const remote = server && this.#renderRemote(server)
    if (remote !== undefined) return remote
    throw new GatewayError('LOGIN_UNSUPPORTED', `${name} does not use a login`, { data: { server: name } })
  }

  async restartAfterLogin(): Promise<void> {
    const waitingServers = this.gateway.describe().filter(({ state }) => state === 'needs_login')
    const names = new Set(waitingServers.map(({ name }) => name))
    const isLoggedIn = (server: HostedServer): boolean => {
      const remote = this.#renderRemote(server)
      return remote !== undefined && this.logins.describe(remote).state === 'logged_in'
    }
    const servers = this.config.servers.filter((server) => names.has(server.name) && isLoggedIn(server))
    await Promise.all(servers.map(({ name }) => this.gateway.restart(name)))
  }

  check(): void {
    this.#watcher.check()
  }

  async close(): Promise<void> {
    this.#watcher.close()
    await this.gateway.close()
  }
}
