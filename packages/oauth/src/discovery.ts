import { isCausewayError } from '@causeway/protocol'
import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client'
import { LoginError } from './errors.ts'
import { type RemoteServer, toResource } from './remote-server.ts'
import { checkEndpoint, createSafeFetch } from './safe-fetch.ts'

/** The authorization server of a remote server, with checked URLs. */
export interface Discovery {
  readonly metadata: AuthorizationServerMetadata
  /** Resource indicator (RFC 8707), unless the configuration omits it. */
  readonly indicator: string | undefined
  /** Scope of a login, without `offline_access`. */
  readonly scope: string | undefined
}

/** A request without effect: servers of every era reject it without a session. */
const probeBody = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

/**
 * Finds the authorization server (RFC 9728, RFC 8414). Throws `AUTHORIZATION_SERVER_INVALID` and
 * `AUTHORIZATION_SERVER_UNAVAILABLE`.
 */
export async function discover(server: RemoteServer): Promise<Discovery> {
  const url = new URL(server.url)
  const challenge = await readChallenge(server, url)
  const resource = await findResourceMetadata(server, challenge.resourceMetadataUrl)
  if (resource !== undefined && !isSameResource(url, resource))
    throw createInvalidError(url, 'its metadata is that of another resource')
  const metadata = await findServerMetadata(server, resource)
  const { oauth } = server
  return {
    metadata,
    indicator:
      oauth.resource === 'none'
        ? undefined
        : (oauth.resource ?? resource?.resource ?? toResource(server.url)),
    scope: oauth.scope ?? challenge.scope ?? resource?.scopes_supported?.join(' '),
  }
}

async function readChallenge(server: RemoteServer, url: URL) {
  const response = await createSafeFetch(server)(url, {
    method: 'POST',
    headers: {
      ...server.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: probeBody,
  })
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {}
}

/** Returns `undefined` if the server has no metadata (before MCP 2025-06-18). */
async function findResourceMetadata(
  server: RemoteServer,
  resourceMetadataUrl: URL | undefined,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  let status = 0
  const url = new URL(server.url)
  const safeFetch = createSafeFetch(server)
  try {
    const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }
    return await discoverOAuthProtectedResourceMetadata(url, options, async (...request) => {
      const response = await safeFetch(...request)
      status = response.status
      return response
    })
  } catch (error) {
    if (isCausewayError(error)) throw error
    if (status >= 400 && status < 500 && resourceMetadataUrl === undefined) return undefined
    throw createInvalidError(
      url,
      `its protected resource metadata is not available or malformed (HTTP ${status})`,
    )
  }
}

const isSameResource = (url: URL, { resource }: OAuthProtectedResourceMetadata): boolean =>
  checkResourceAllowed({ requestedResource: url, configuredResource: resource })

async function findServerMetadata(
  server: RemoteServer,
  resource: OAuthProtectedResourceMetadata | undefined,
): Promise<AuthorizationServerMetadata> {
  const url = new URL(server.url)
  const issuer = resource?.authorization_servers?.[0] ?? url.origin
  checkEndpoint(issuer, 'authorization server', url)
  try {
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: createSafeFetch(server) })
    if (metadata !== undefined) return checkMetadata(metadata, url)
  } catch (error) {
    if (isCausewayError(error)) throw error
    throw createInvalidError(
      url,
      error instanceof IssuerMismatchError
        ? 'the metadata of its authorization server names another issuer'
        : 'the metadata of its authorization server is malformed',
    )
  }
  if (resource?.authorization_servers?.[0] !== undefined)
    throw createInvalidError(url, 'its authorization server has no metadata')
  return createDefaults(url.origin)
}

/** Endpoints of a server without metadata (MCP 2025-03-26). */
const createDefaults = (origin: string): AuthorizationServerMetadata => ({
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  registration_endpoint: `${origin}/register`,
  response_types_supported: ['code'],
})

/** Checks the URL that the browser opens, and those that receive codes and tokens. */
function checkMetadata(metadata: AuthorizationServerMetadata, url: URL): AuthorizationServerMetadata {
  checkEndpoint(metadata.authorization_endpoint, 'authorization endpoint', url)
  checkEndpoint(metadata.token_endpoint, 'token endpoint', url)
  const { registration_endpoint } = metadata
  if (registration_endpoint !== undefined) checkEndpoint(registration_endpoint, 'registration endpoint', url)
  const revocationEndpoint = findRevocationEndpoint(metadata)
  if (revocationEndpoint !== undefined) checkEndpoint(revocationEndpoint, 'revocation endpoint', url)
  return metadata
}

/** Some servers send the member although OpenID Connect Discovery does not declare it. */
export function findRevocationEndpoint(metadata: AuthorizationServerMetadata): string | undefined {
  const { revocation_endpoint: endpoint } = metadata as { readonly revocation_endpoint?: unknown }
  return typeof endpoint === 'string' ? endpoint : undefined
}

const createInvalidError = (url: URL, problem: string) =>
  new LoginError('AUTHORIZATION_SERVER_INVALID', `${url.host} cannot be used: ${problem}`, {
    data: { server: url.origin },
  })
