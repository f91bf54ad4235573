import type { RemoteServer } from '@causeway/oauth'
import type { Variables } from './domain/expand.ts'
import type { HostedServer } from './domain/server-schema.ts'
import { renderEndpoint, renderOAuth } from './render.ts'

/**
 * Returns the server to log in to, or `undefined` for a process or a server with a configured token. Throws
 * `VARIABLE_UNSET` and `GATEWAY_CONFIG_INVALID`.
 */
export function renderRemote(server: HostedServer, variables: Variables): RemoteServer | undefined {
  if (server.endpoint.kind === 'stdio') return undefined
  const endpoint = renderEndpoint(server, variables)
  if (endpoint.kind === 'stdio') return undefined
  const { url, headers } = endpoint
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return undefined
  return { name: server.name, url, headers, oauth: renderOAuth(server, variables) }
}
