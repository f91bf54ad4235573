import { type HostedServer, renderRemote, SecretsFile } from '@causeway/gateway/config'
import { AuthFile, type LoginStatus, Logins, type RemoteServer } from '@causeway/oauth'
import { isCausewayError } from '@causeway/protocol'
import type { CommandCall } from '../command.ts'
import type { Fields } from '../format.ts'

export const openLogins = ({ config }: Pick<CommandCall, 'config'>): Logins =>
  new Logins({
    file: new AuthFile(config().dataDir),
    now: Date.now,
    formatLoginCommand: ({ name }) => `causeway mcp login ${name}`,
  })

/** Returns `undefined` for a server that is a process or has a configured token. Throws `VARIABLE_UNSET`. */
export const findRemote = (
  call: Pick<CommandCall, 'config' | 'env'>,
  server: HostedServer,
): RemoteServer | undefined =>
  renderRemote(server, { env: call.env, secrets: new SecretsFile(call.config().dataDir).read() })

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

export function describeLogin(login: LoginStatus | undefined): Fields {
  if (login === undefined) return []
  const { state, issuer, scope, missing_scope, expires_at, can_refresh } = login
  if (state === 'logged_out') return [['login', 'none']]
  const expiry = can_refresh || expires_at === undefined ? '' : `, until ${expires_at}`
  return [
    ['login', `logged in at ${issuer}${expiry}`],
    ['scope', scope],
    ['required scope', missing_scope],
  ]
}
