import { randomBytes } from 'node:crypto'
import type { CausewayError } from '@causeway/protocol'
import type { AuthFile, StoredLogin, StoredTokens } from './auth-file.ts'
import { LoginError } from './errors.ts'
import type { StartedLogin } from './flow.ts'
import { type LoginRequest, PendingLogins } from './pending-logins.ts'
import { type RemoteServer, toResource } from './remote-server.ts'

export interface LoginsOptions {
  readonly file: AuthFile
  /** Unix time in milliseconds. */
  readonly now: () => number
  /** Returns the shell command that logs in. */
  readonly formatLoginCommand: (server: RemoteServer) => string
}

/** Status of a login, without secrets. */
export interface LoginStatus {
  readonly state: 'logged_in' | 'logged_out'
  readonly issuer?: string
  readonly scope?: string
  /** Scope that a call required. */
  readonly missing_scope?: string
  readonly expires_at?: string
  readonly can_refresh?: boolean
}

export class Logins {
  readonly #options: LoginsOptions
  readonly #pendingLogins: PendingLogins
  readonly #refreshes = new Map<string, Promise<string>>()

  constructor(options: LoginsOptions) {
    this.#options = options
    this.#pendingLogins = new PendingLogins(options.now)
  }

  /** Returns a valid token, refreshed if necessary, or `undefined` without a login. Throws `NEEDS_LOGIN`. */
  async getToken(server: RemoteServer): Promise<string | undefined> {
    const tokens = this.#find(server)?.tokens
    if (tokens === undefined) return undefined
    const { access_token, refresh_token, expires_at_ms: expiresAtMs = Number.POSITIVE_INFINITY } = tokens
    const { refresh_at_ms: refreshAtMs = expiresAtMs } = tokens
    const isValid = (): boolean => this.#options.now() < expiresAtMs
    const isRefreshDue = refresh_token !== undefined && this.#options.now() >= refreshAtMs
    if (isValid() && !isRefreshDue) return access_token
    try {
      return await this.refresh(server, access_token)
    } catch (error) {
      if (LoginError.is(error, 'AUTHORIZATION_SERVER_UNAVAILABLE') && isValid()) return access_token
      throw error
    }
  }

  /**
   * Replaces an expired or rejected token. Concurrent calls share one refresh, also between processes. Throws
   * `NEEDS_LOGIN` and `AUTHORIZATION_SERVER_UNAVAILABLE`.
   */
  refresh(server: RemoteServer, rejectedToken: string | undefined): Promise<string> {
    const resource = toResource(server.url)
    const runningRefresh = this.#refreshes.get(resource)
    if (runningRefresh !== undefined) return runningRefresh
    const refresh = this.#refresh(server, rejectedToken).finally(() => this.#refreshes.delete(resource))
    this.#refreshes.set(resource, refresh)
    return refresh
  }

  /** Does not register a client. Throws discovery errors. */
  async preview(server: RemoteServer): Promise<{
    readonly issuer: string
    readonly scope: string | undefined
    readonly registersClient: boolean
  }> {
    const { discover } = await import('./discovery.ts')
    const { acceptsConfiguredClient } = await import('./flow.ts')
    const { metadata, scope } = await discover(server)
    const isClientKnown =
      acceptsConfiguredClient(server, metadata) || this.#find(server)?.issuer === metadata.issuer
    return { issuer: metadata.issuer, scope, registersClient: !isClientKnown }
  }

  /** Throws discovery and registration errors. */
  async begin(server: RemoteServer, redirectUrl: string): Promise<LoginRequest> {
    const { startLogin } = await import('./flow.ts')
    const state = randomBytes(24).toString('base64url')
    return this.#pendingLogins.add(
      state,
      await startLogin(server, { redirectUrl, state, storedLogin: this.#find(server) }),
    )
  }

  /** Returns the login's server. Throws `LOGIN_UNKNOWN` and `LOGIN_FAILED`. */
  async finish(params: URLSearchParams): Promise<RemoteServer> {
    const { login, settle } = this.#pendingLogins.take(params.get('state') ?? '')
    try {
      await this.#store(login, params)
      settle()
      return login.server
    } catch (error) {
      settle(error as Error)
      throw error
    }
  }

  /** `text` is a copied URL or code. A code belongs to the most recently started login. */
  finishManually(server: RemoteServer, text: string): Promise<RemoteServer> {
    const response = text.trim()
    if (URL.canParse(response)) return this.finish(new URL(response).searchParams)
    const state = this.#pendingLogins.findLast(toResource(server.url)) ?? ''
    return this.finish(new URLSearchParams({ code: response, state }))
  }

  /**
   * Resolves when the login is complete. Rejects with the error of the login, `LOGIN_UNKNOWN`, or the reason of the
   * signal.
   */
  wait(state: string, signal: AbortSignal): Promise<void> {
    return this.#pendingLogins.wait(state, signal)
  }

  /** Returns the error for a call that requires another scope. The next login requests that scope. */
  async requireScope(server: RemoteServer, scope: string | undefined): Promise<CausewayError> {
    const { file } = this.#options
    if (scope !== undefined)
      await file.withLock(async () => {
        const login = this.#find(server)
        if (login === undefined) return
        const scopes = new Set(
          `${login.tokens?.scope ?? ''} ${login.required_scope ?? ''} ${scope}`.split(/\s+/),
        )
        scopes.delete('')
        file.save({ ...login, required_scope: [...scopes].join(' ') })
      })
    return new LoginError('SCOPE_MISSING', `the login at ${server.name} does not permit this call`, {
      data: { server: server.name, ...(scope !== undefined && { scope }) },
      remedy: `run ${this.#options.formatLoginCommand(server)}, which requests the scope`,
    })
  }

  /** Waits for a refresh in progress, which would otherwise store the login again. */
  async logout(server: RemoteServer): Promise<{ readonly existed: boolean; readonly revoked: boolean }> {
    const { file } = this.#options
    // Deleted first, so that no call uses the tokens while they are being revoked.
    const login = await file.withLock(async () => {
      const storedLogin = this.#find(server)
      if (storedLogin !== undefined) file.remove(storedLogin.resource)
      return storedLogin
    })
    if (login === undefined) return { existed: false, revoked: false }
    const { revokeTokens } = await import('./flow.ts')
    const revoked = await revokeTokens(server, login).catch(() => false)
    return { existed: login.tokens !== undefined, revoked }
  }

  describe(server: RemoteServer): LoginStatus {
    const login = this.#find(server)
    if (login?.tokens === undefined) return { state: 'logged_out' }
    const { scope, expires_at_ms, refresh_token } = login.tokens
    return {
      state: 'logged_in',
      issuer: login.issuer,
      ...(scope !== undefined && { scope }),
      ...(login.required_scope !== undefined && { missing_scope: login.required_scope }),
      ...(expires_at_ms !== undefined && { expires_at: new Date(expires_at_ms).toISOString() }),
      can_refresh: refresh_token !== undefined,
    }
  }

  createNeedsLoginError(server: RemoteServer): CausewayError {
    const { name } = server
    return new LoginError('NEEDS_LOGIN', `${name} requires a login`, {
      data: { server: name },
      remedy: `run ${this.#options.formatLoginCommand(server)}`,
    })
  }

  #find(server: RemoteServer): StoredLogin | undefined {
    return this.#options.file.find(toResource(server.url))
  }

  #refresh(server: RemoteServer, rejectedToken: string | undefined): Promise<string> {
    const { file, now } = this.#options
    return file.withLock(async () => {
      const login = this.#find(server)
      const tokens = login?.tokens
      // Another process has refreshed the tokens or logged in.
      if (tokens !== undefined && tokens.access_token !== rejectedToken) return tokens.access_token
      if (login === undefined || tokens?.refresh_token === undefined) throw this.createNeedsLoginError(server)
      const { refreshTokens } = await import('./flow.ts')
      let renewedTokens: StoredTokens
      try {
        renewedTokens = await refreshTokens(server, login, now())
      } catch (error) {
        if (!LoginError.is(error, 'LOGIN_FAILED')) throw error
        // The refresh token is invalid.
        const { tokens: _tokens, ...rest } = login
        file.save(rest)
        throw this.createNeedsLoginError(server)
      }
      // Stored before use: the authorization server may have revoked the old tokens.
      file.save({ ...login, tokens: renewedTokens })
      return renewedTokens.access_token
    })
  }

  async #store(login: StartedLogin, params: URLSearchParams): Promise<void> {
    const { file, now } = this.#options
    const { finishLogin } = await import('./flow.ts')
    const newLogin = await finishLogin(login, params, now())
    await file.withLock(async () => file.save(newLogin))
  }
}
