import { isCausewayError } from '@causeway/protocol'
import {
  type AuthorizationServerMetadata,
  computeScopeUnion,
  exchangeAuthorization,
  OAuthError,
  type OAuthTokens,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
import type { StoredClient, StoredEndpoints, StoredLogin, StoredTokens } from './auth-file.ts'
import { type Discovery, discover, findRevocationEndpoint } from './discovery.ts'
import { LoginError } from './errors.ts'
import { type RemoteServer, toResource } from './remote-server.ts'
import { createSafeFetch } from './safe-fetch.ts'

/** Maximum time between a refresh and the expiry of a token. */
const maxRefreshLeadMs = 60_000

export interface StartedLogin {
  readonly server: RemoteServer
  readonly authorizationUrl: URL
  readonly redirectUrl: string
  readonly discovery: Discovery
  readonly client: StoredClient
  readonly codeVerifier: string
  /** Requested scope, which the response may omit. */
  readonly scope: string | undefined
}

interface StartOptions {
  readonly redirectUrl: string
  readonly state: string
  readonly storedLogin: StoredLogin | undefined
}

/** Registers a client if necessary (OAuth 2.1 with PKCE). */
export async function startLogin(
  server: RemoteServer,
  { redirectUrl, state, storedLogin }: StartOptions,
): Promise<StartedLogin> {
  const discovery = await discover(server)
  const { metadata, indicator } = discovery
  const offlineScope = metadata.scopes_supported?.includes('offline_access') ? 'offline_access' : undefined
  const scope = computeScopeUnion(discovery.scope, storedLogin?.required_scope, offlineScope)
  const client =
    findClient(server, metadata, { redirectUrl, storedLogin }) ??
    (await register(server, metadata, { redirectUrl, scope }))
  const { authorizationUrl, codeVerifier } = await rejectAs('the login could not be started', () =>
    startAuthorization(metadata.issuer, {
      metadata,
      clientInformation: client,
      redirectUrl,
      state,
      ...(scope !== undefined && { scope }),
      ...(indicator !== undefined && { resource: indicator }),
    }),
  )
  return { server, authorizationUrl, redirectUrl, discovery, client, codeVerifier, scope }
}

export async function finishLogin(
  login: StartedLogin,
  params: URLSearchParams,
  nowMs: number,
): Promise<StoredLogin> {
  const { server, redirectUrl, client, codeVerifier, discovery, scope } = login
  const { metadata, indicator } = discovery
  const iss = params.get('iss') ?? undefined
  const code = params.get('code')
  await rejectAs('the response is not from the authorization server', () =>
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    }),
  )
  if (code === null) throw createRefusedError('the login was refused', params.get('error') ?? 'no_code')
  const tokens = await rejectAs('the code was refused', () =>
    exchangeAuthorization(metadata.issuer, {
      metadata,
      clientInformation: client,
      authorizationCode: code,
      ...(iss !== undefined && { iss }),
      codeVerifier,
      redirectUri: redirectUrl,
      ...(indicator !== undefined && { resource: indicator }),
      fetchFn: createSafeFetch(server),
    }),
  )
  return {
    resource: toResource(server.url),
    issuer: metadata.issuer,
    ...(client.redirect_uri !== undefined && { client }),
    endpoints: toEndpoints(metadata),
    ...(indicator !== undefined && { indicator }),
    tokens: toStoredTokens(tokens, { scope, nowMs }),
  }
}

/** Throws `LOGIN_FAILED` if the authorization server rejects the refresh token. */
export async function refreshTokens(
  server: RemoteServer,
  login: StoredLogin,
  nowMs: number,
): Promise<StoredTokens> {
  const { tokens, indicator } = login
  const refreshedTokens = await rejectAs('the refresh was refused', () =>
    refreshAuthorization(login.issuer, {
      metadata: toMetadata(login),
      clientInformation: getClient(server, login),
      refreshToken: tokens?.refresh_token ?? '',
      ...(indicator !== undefined && { resource: indicator }),
      fetchFn: createSafeFetch(server),
    }),
  )
  return toStoredTokens(refreshedTokens, { scope: tokens?.scope, nowMs })
}

/** Revokes the tokens (RFC 7009). Returns whether the authorization server revoked all of them. */
export async function revokeTokens(server: RemoteServer, login: StoredLogin): Promise<boolean> {
  const { endpoints, tokens } = login
  const endpoint = endpoints.revocation_endpoint
  if (endpoint === undefined || tokens === undefined) return false
  const safeFetch = createSafeFetch(server)
  const revoke = async (token: string, tokenTypeHint: string): Promise<boolean> => {
    const { fields, headers } = authenticateClient(getClient(server, login), endpoints)
    const body = new URLSearchParams({ token, token_type_hint: tokenTypeHint, ...fields })
    const { ok } = await safeFetch(endpoint, { method: 'POST', headers, body })
    return ok
  }
  const { refresh_token: refreshToken, access_token: accessToken } = tokens
  const isRefreshRevoked = refreshToken === undefined || (await revoke(refreshToken, 'refresh_token'))
  return (await revoke(accessToken, 'access_token')) && isRefreshRevoked
}

function findClient(
  server: RemoteServer,
  metadata: AuthorizationServerMetadata,
  { redirectUrl, storedLogin }: Pick<StartOptions, 'redirectUrl' | 'storedLogin'>,
): StoredClient | undefined {
  const { oauth } = server
  if (oauth.clientId !== undefined && acceptsConfiguredClient(server, metadata))
    return toClient(oauth.clientId, oauth.clientSecret)
  const client = storedLogin?.issuer === metadata.issuer ? storedLogin.client : undefined
  return client?.redirect_uri === redirectUrl ? client : undefined
}

function getClient({ oauth, name }: RemoteServer, { client }: StoredLogin): StoredClient {
  if (client !== undefined) return client
  if (oauth.clientId !== undefined) return toClient(oauth.clientId, oauth.clientSecret)
  throw createRefusedError(`the client of the login at ${name} is not configured any more`, 'no_client')
}

/** Whether the configured client can be used. Otherwise, Causeway registers one. */
export function acceptsConfiguredClient(
  { oauth: { clientId } }: RemoteServer,
  { client_id_metadata_document_supported: supportsDocuments }: AuthorizationServerMetadata,
): boolean {
  return clientId !== undefined && (!isMetadataDocument(clientId) || supportsDocuments === true)
}

/** https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document */
const isMetadataDocument = (clientId: string): boolean =>
  clientId.startsWith('https://') && URL.canParse(clientId) && new URL(clientId).pathname !== '/'

const toClient = (id: string, secret: string | undefined): StoredClient => ({
  client_id: id,
  ...(secret !== undefined && { client_secret: secret }),
})

async function register(
  server: RemoteServer,
  metadata: AuthorizationServerMetadata,
  { redirectUrl, scope }: { redirectUrl: string; scope: string | undefined },
): Promise<StoredClient> {
  if (metadata.registration_endpoint === undefined)
    throw new LoginError(
      'CLIENT_ID_REQUIRED',
      `the authorization server of ${server.name} does not register clients`,
      { data: { server: server.name, issuer: metadata.issuer, redirect_uri: redirectUrl } },
    )
  const {
    client_id,
    client_secret,
    token_endpoint_auth_method: method,
  } = await rejectAs('the client was not registered', () =>
    registerClient(metadata.issuer, {
      metadata,
      clientMetadata: {
        client_name: 'Causeway',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      },
      ...(scope !== undefined && { scope }),
      fetchFn: createSafeFetch(server),
    }),
  )
  return {
    ...toClient(client_id, client_secret),
    ...(method !== undefined && { token_endpoint_auth_method: method }),
    redirect_uri: redirectUrl,
  }
}

function toStoredTokens(
  { access_token, refresh_token, token_type, expires_in: seconds, scope: granted }: OAuthTokens,
  { scope = granted, nowMs }: { scope: string | undefined; nowMs: number },
): StoredTokens {
  if (token_type.toLowerCase() !== 'bearer' || !/^[\x21-\x7e]+$/.test(access_token))
    throw createRefusedError('the token cannot be used', 'unsupported_token_type')
  const grantedScope = granted ?? scope
  const lifetimeMs = seconds !== undefined && Number.isFinite(seconds) ? seconds * 1000 : undefined
  return {
    access_token,
    ...(refresh_token !== undefined && { refresh_token }),
    ...(grantedScope !== undefined && { scope: grantedScope }),
    ...(lifetimeMs !== undefined && {
      expires_at_ms: nowMs + lifetimeMs,
      refresh_at_ms: nowMs + lifetimeMs - Math.min(maxRefreshLeadMs, lifetimeMs / 4),
    }),
  }
}

function toEndpoints(metadata: AuthorizationServerMetadata): StoredEndpoints {
  const { token_endpoint, token_endpoint_auth_methods_supported: methods } = metadata
  const revocation = findRevocationEndpoint(metadata)
  return {
    token_endpoint,
    ...(revocation !== undefined && { revocation_endpoint: revocation }),
    ...(methods !== undefined && { token_endpoint_auth_methods_supported: methods }),
  }
}

/** A refresh uses only the token endpoint, and never discovers another server. */
const toMetadata = ({ issuer, endpoints }: StoredLogin): AuthorizationServerMetadata => ({
  issuer,
  authorization_endpoint: endpoints.token_endpoint,
  token_endpoint: endpoints.token_endpoint,
  response_types_supported: ['code'],
  ...(endpoints.token_endpoint_auth_methods_supported !== undefined && {
    token_endpoint_auth_methods_supported: [...endpoints.token_endpoint_auth_methods_supported],
  }),
})

/** https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1 */
function authenticateClient(client: StoredClient, endpoints: StoredEndpoints) {
  const { client_id, client_secret = '' } = client
  const method = selectClientAuthMethod(client, [...(endpoints.token_endpoint_auth_methods_supported ?? [])])
  if (method === 'client_secret_basic') {
    const credentials = Buffer.from(`${client_id}:${client_secret}`).toString('base64')
    return { fields: {}, headers: { authorization: `Basic ${credentials}` } }
  }
  return {
    fields: { client_id, ...(method === 'client_secret_post' && { client_secret }) },
    headers: {},
  }
}

/** Converts SDK errors, whose messages may contain responses with tokens. */
async function rejectAs<T>(problem: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (isCausewayError(error)) throw error
    if (error instanceof OAuthError) {
      if (error.code === 'server_error' || error.code === 'temporarily_unavailable')
        throw new LoginError('AUTHORIZATION_SERVER_UNAVAILABLE', `${problem} (${error.code})`)
      throw createRefusedError(problem, error.code)
    }
    if (error instanceof RegistrationRejectedError) throw createRefusedError(problem, `http_${error.status}`)
    throw createRefusedError(problem, (error as Error).name)
  }
}

/** `reason` is untrusted. */
function createRefusedError(problem: string, reason: string) {
  const safeReason = reason.replace(/[^\w.-]+/g, '_').slice(0, 60)
  return new LoginError('LOGIN_FAILED', `${problem}: ${safeReason}`, { data: { reason: safeReason } })
}
