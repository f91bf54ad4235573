/**
 * An authorization server and an MCP server that requires its tokens, on one port of the loopback interface. Both use SDK
 * v1, so that the client is tested against another implementation. Tests can replace routes with hostile ones.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidGrantError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js'
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js'
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
// @ts-expect-error express ships no types
import express from 'express'
import type { Test } from 'tap'
import { z } from 'zod'

interface RouteRequest extends IncomingMessage {
  readonly path: string
  readonly body?: {
    readonly method?: string
    readonly grant_type?: string
    readonly params?: { readonly name?: string }
  }
  readonly auth?: AuthInfo
}

interface RouteResponse extends ServerResponse {
  status(code: number): RouteResponse
  set(name: string, value: string): RouteResponse
  json(body: unknown): void
  send(text: string): void
  redirect(url: string): void
}

/** An Express handler. */
export type Route = (request: RouteRequest, response: RouteResponse, next: () => void) => void

interface Grant {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly resource: string | undefined
}

interface Code extends Grant {
  readonly challenge: string
  readonly redirectUri: string
}

export interface ProtectedServerOptions {
  /** Handlers by path that replace the regular ones. */
  readonly routes?: Readonly<Record<string, Route>>
  /** Lifetime of access tokens in seconds. */
  readonly lifetimeS?: number
  /** Whether clients can register. */
  readonly registers?: boolean
  /** Whether the metadata declares client id metadata documents. */
  readonly metadataDocuments?: boolean
}

/** The state of the fixture, which tests read and change. */
export class ProtectedServer implements OAuthServerProvider {
  readonly clients = new Map<string, OAuthClientInformationFull>()
  readonly access = new Map<string, Grant>()
  readonly refresh = new Map<string, Grant>()
  /** Every token and code that was issued. */
  readonly secrets: string[] = []
  /** Received requests in order, such as `POST /token refresh_token`. */
  readonly requests: string[] = []
  refreshes = 0
  /** Whether refreshes fail with `invalid_grant`. */
  refusesRefresh = false
  url = ''
  readonly #codes = new Map<string, Code>()
  readonly #options: ProtectedServerOptions

  constructor(options: ProtectedServerOptions) {
    this.#options = options
  }

  get issuer(): string {
    return `${this.url}/`
  }

  get mcpUrl(): string {
    return `${this.url}/mcp`
  }

  count(pattern: RegExp): number {
    return this.requests.filter((request) => pattern.test(request)).length
  }

  /** Invalidates all access tokens. */
  expireTokens(): void {
    this.access.clear()
  }

  get clientsStore() {
    const { clients } = this
    const getClient = (id: string) => clients.get(id)
    if (this.#options.registers === false) return { getClient }
    return {
      getClient,
      registerClient: (client: Omit<OAuthClientInformationFull, 'client_id' | 'client_id_issued_at'>) => {
        const registered = { ...client, client_id: randomUUID(), client_id_issued_at: 0 }
        clients.set(registered.client_id, registered)
        return registered
      },
    }
  }

  /** Grants the authorization immediately, without a person. */
  authorize: OAuthServerProvider['authorize'] = async (client, params, response) => {
    const code = this.#create('code')
    this.#codes.set(code, {
      clientId: client.client_id,
      scopes: params.scopes ?? [],
      resource: params.resource?.href,
      challenge: params.codeChallenge,
      redirectUri: params.redirectUri,
    })
    const target = new URL(params.redirectUri)
    target.searchParams.set('code', code)
    if (params.state !== undefined) target.searchParams.set('state', params.state)
    response.redirect(target.href)
  }

  challengeForAuthorizationCode: OAuthServerProvider['challengeForAuthorizationCode'] = async (_, code) =>
    this.#codes.get(code)?.challenge ?? ''

  exchangeAuthorizationCode: OAuthServerProvider['exchangeAuthorizationCode'] = async (
    client,
    code,
    _verifier,
    redirectUri,
  ) => {
    const found = this.#codes.get(code)
    this.#codes.delete(code)
    if (found?.clientId !== client.client_id || found.redirectUri !== redirectUri)
      throw new InvalidGrantError('unknown code')
    return this.#grant(found)
  }

  exchangeRefreshToken: OAuthServerProvider['exchangeRefreshToken'] = async (client, token) => {
    this.refreshes += 1
    const grant = this.refresh.get(token)
    // A refresh token can be used only once.
    this.refresh.delete(token)
    if (grant?.clientId !== client.client_id || this.refusesRefresh)
      throw new InvalidGrantError(`unknown token ${token}`)
    return this.#grant(grant)
  }

  verifyAccessToken: OAuthServerProvider['verifyAccessToken'] = async (token) => {
    const grant = this.access.get(token)
    if (grant === undefined) throw new InvalidTokenError('unknown token')
    const expiresAt = Math.floor(Date.now() / 1000) + 3600
    return { token, clientId: grant.clientId, scopes: [...grant.scopes], expiresAt }
  }

  revokeToken: NonNullable<OAuthServerProvider['revokeToken']> = async (_, { token }) => {
    this.access.delete(token)
    this.refresh.delete(token)
  }

  #grant(grant: Grant): OAuthTokens {
    const access_token = this.#create('access')
    const refresh_token = this.#create('refresh')
    this.access.set(access_token, grant)
    this.refresh.set(refresh_token, grant)
    const scope = grant.scopes.join(' ')
    const { lifetimeS = 3600 } = this.#options
    return { access_token, refresh_token, token_type: 'Bearer', expires_in: lifetimeS, scope }
  }

  #create(kind: string): string {
    const secret = `${kind}-${randomUUID()}`
    this.secrets.push(secret)
    return secret
  }
}

export async function openProtectedServer(
  t: Test,
  options: ProtectedServerOptions = {},
): Promise<ProtectedServer> {
  const fixture = new ProtectedServer(options)
  const app = express()
  const server: Server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  fixture.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  app.use(express.json(), express.urlencoded({ extended: false }))
  const record: Route = ({ method, path, body }, _response, next) => {
    fixture.requests.push([method, path, body?.grant_type ?? body?.method ?? ''].join(' ').trim())
    next()
  }
  app.use(record)
  if (options.metadataDocuments) app.get('/.well-known/oauth-authorization-server', declareDocuments)
  for (const [path, handler] of Object.entries(options.routes ?? {})) app.all(path, handler)
  const rateLimit = false as const
  app.use(
    mcpAuthRouter({
      provider: fixture,
      issuerUrl: new URL(fixture.url),
      resourceServerUrl: new URL(fixture.mcpUrl),
      scopesSupported: ['read', 'admin'],
      authorizationOptions: { rateLimit },
      clientRegistrationOptions: { rateLimit },
      tokenOptions: { rateLimit },
      revocationOptions: { rateLimit },
    }),
  )
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(fixture.mcpUrl))
  app.post(
    '/mcp',
    requireBearerAuth({ verifier: fixture, resourceMetadataUrl, requiredScopes: ['read'] }),
    checkScope,
    answer,
  )
  const reject: Route = (_request, response) => void response.status(405).end()
  app.all('/mcp', reject)
  return fixture
}

/** Declares support for metadata documents, which the router of SDK v1 does not. */
const declareDocuments: Route = (_request, response, next) => {
  const { json } = response
  response.json = (body) =>
    json.call(response, { ...(body as object), client_id_metadata_document_supported: true })
  next()
}

/** The tool `admin` requires a scope that a first login does not have. */
const checkScope: Route = ({ auth, body }, response, next) => {
  const isAdmin = body?.params?.name === 'admin'
  if (!isAdmin || auth?.scopes.includes('admin')) next()
  else
    response
      .status(403)
      .set('www-authenticate', 'Bearer error="insufficient_scope", scope="admin"')
      .json({ error: 'insufficient_scope' })
}

const answer: Route = async (request, response) => {
  const server = new McpServer({ name: 'protected', version: '1.0.0' })
  server.registerTool(
    'echo',
    { description: 'Returns the text.', inputSchema: { text: z.string() } },
    ({ text }) => ({
      content: [{ type: 'text', text }],
    }),
  )
  server.registerTool('admin', { description: 'Requires the scope admin.' }, () => ({
    content: [{ type: 'text', text: 'done' }],
  }))
  server.registerResource('a', 'note:///a', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a note' }] }))
  server.registerPrompt('greet', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Greet.' } }],
  }))
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  response.on('close', () => void server.close())
  await server.connect(transport as Parameters<McpServer['connect']>[0])
  await transport.handleRequest(request, response, request.body)
}

/** Follows the login like a browser, up to the redirect URI. Returns the last page. */
export async function visit(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(await approve(url))
  return { status: response.status, text: await response.text() }
}

/** Logs in at the authorization server. Returns the URL with the code, which the browser would open. */
export async function approve(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual' })
  return response.headers.get('location') ?? ''
}
