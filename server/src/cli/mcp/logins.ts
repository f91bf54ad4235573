import { type HostedServer, renderRemote } from '@causeway/gateway/config'
import { AuthFile, type LoginStatus, Logins, type RemoteServer } from '@causeway/oauth'
import { isCausewayError } from '@causeway/protocol'
import type { CommandCall } from '../command.ts'
import { HostedServers } from './hosted-servers.ts'

/** A running server reads the same file. */
export const openLogins = ({ config }: Pick<CommandCall, 'config'>): Logins =>
  new Logins({
    file: new AuthFile(config().dataDir),
    now: Date.now,
    command: ({ name }) => `causeway mcp login ${name}`,
  })

/** Returns `undefined` for a process or a configured token. Throws `VARIABLE_UNSET`. */
export const findRemote = (
  call: Pick<CommandCall, 'config' | 'env'>,
  server: HostedServer,
): RemoteServer | undefined =>
  renderRemote(server, { env: call.env, secrets: new HostedServers(call).secrets.read() })

export function findLogin(
  call: Pick<CommandCall, 'config' | 'env'>,
  server: HostedServer,
): LoginStatus | undefined {
  try {
    const remote = findRemote(call, server)
    return remote && openLogins(call).describe(remote)
  } catch (error) {
    if (!isCausewayError(error)) throw error
    return undefined
  }
}

export function describeLogin(login: LoginStatus | undefined): readonly (readonly [string, string])[] {
  if (login === undefined) return []
  const { state, issuer, scope, missing_scope, expires_at, can_refresh } = login
  if (state === 'logged_out') return [['login', 'none']]
  const expiry = can_refresh || expires_at === undefined ? '' : `, until ${expires_at}`
  return [
    ['login', `logged in at ${issuer}${expiry}`],
    ...(scope === undefined ? [] : ([['scope', scope]] as const)),
    ...(missing_scope === undefined ? [] : ([['required scope', missing_scope]] as const)),
  ]
}
