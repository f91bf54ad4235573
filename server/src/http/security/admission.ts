import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { CausewayError } from '@causeway/protocol'
import type { Access } from '../../access/access.ts'
import type { TokenFile } from '../../access/token-file.ts'
import { InFlightList } from '../../limits/in-flight-list.ts'

interface AdmissionOptions {
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** If present, all requests except preflights require a token. */
  readonly tokens?: TokenFile | undefined
}

type RequestHead = { readonly headers: IncomingHttpHeaders }

interface OpenResponse extends RequestHead {
  index: number
  readonly end: () => void
}

const recheckIntervalMs = 1000

/**
 * Checks host, origin and token: web pages can reach a local server by DNS rebinding or cross-origin requests
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
 */
export class Admission {
  readonly #isServedHost: (host: string) => boolean
  /** Host names as in URLs, with IPv6 addresses in brackets. */
  readonly #hostnames: readonly string[]
  readonly #trustedOrigins: Set<string>
  readonly #tokens: TokenFile | undefined
  readonly #openResponses = new InFlightList<OpenResponse>()
  readonly #timer: NodeJS.Timeout | undefined

  constructor({ allowedHosts, allowedOrigins, tokens }: AdmissionOptions) {
    const isServedName = createHostCheck(allowedHosts)
    this.#isServedHost = cacheResults((host) => isServedName(parseHostname(host)))
    const allowedNames = allowedHosts.map(parseHostname).filter((name) => name !== undefined)
    this.#hostnames = ['localhost', '127.0.0.1', '[::1]', ...allowedNames]
    this.#trustedOrigins = new Set(allowedOrigins)
    this.#tokens = tokens
    if (tokens !== undefined) this.#timer = setInterval(() => this.#recheck(), recheckIntervalMs).unref()
  }

  addListener(port: number): void {
    for (const name of this.#hostnames)
      this.#trustedOrigins.add(port === 80 ? `http://${name}` : `http://${name}:${port}`)
  }

  /** Whether an origin's pages are admitted like programs. */
  trustsOrigin(origin: string): boolean {
    return this.#trustedOrigins.has(origin)
  }

  /**
   * Returns `undefined` if no token is required. Throws `FORBIDDEN_HOST`, `FORBIDDEN_ORIGIN` or `UNAUTHORIZED`. A
   * token permits any origin, because browsers never attach it by themselves.
   */
  admit({ headers }: RequestHead, { isPublic = false } = {}): Access | undefined {
    const { origin, authorization } = headers
    this.#checkHost(headers)
    if (origin === undefined) {
      if (isSubresource(headers)) throw new CausewayError('FORBIDDEN_ORIGIN', 'web pages must not embed this')
    } else if (!this.trustsOrigin(origin) && (this.#tokens === undefined || authorization === undefined))
      throw createOriginError(origin)
    return isPublic ? undefined : this.#tokens?.authenticate(authorization)
  }

  /** Throws if no token could make the following request valid. */
  checkPreflight({ headers }: RequestHead): void {
    this.#checkHost(headers)
    const { origin = '' } = headers
    if (!this.trustsOrigin(origin) && this.#tokens === undefined) throw createOriginError(origin)
  }

  /** Calls `end` when an open response's token is revoked. Returns a function that ends the check. */
  watch({ headers }: RequestHead, end: () => void): () => void {
    const response = { index: 0, headers, end }
    this.#openResponses.add(response)
    return () => this.#openResponses.remove(response)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #recheck(): void {
    for (const response of this.#openResponses) {
      try {
        this.admit(response)
      } catch {
        this.#openResponses.remove(response)
        response.end()
      }
    }
  }

  #checkHost({ host = '' }: IncomingHttpHeaders): void {
    if (this.#isServedHost(host)) return
    throw new CausewayError(
      'FORBIDDEN_HOST',
      `not an address of this server: ${host === '' ? '(none)' : host}`,
    )
  }
}

const createOriginError = (origin: string): CausewayError =>
  new CausewayError('FORBIDDEN_ORIGIN', `the origin is not allowed: ${origin}`, { data: { origin } })

/**
 * Whether a page of another origin embeds the response, as an image or frame, without sending an Origin. Pages on
 * other ports are `same-site` (https://www.w3.org/TR/fetch-metadata/).
 */
function isSubresource(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== 'cross-site' && site !== 'same-site') return false
  return !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document')
}

function cacheResults(check: (text: string) => boolean, capacity = 16): (text: string) => boolean {
  const results = new Map<string, boolean>()
  return (text) => {
    const cachedResult = results.get(text)
    if (cachedResult !== undefined) return cachedResult
    const result = check(text)
    if (results.size < capacity) results.set(text, result)
    return result
  }
}

export const isLoopbackAddress = (ip: string): boolean => /^(::ffff:)?127\.|^::1$/.test(ip)

/** Whether a host is `localhost` or a loopback address in any notation. */
export function isLoopback(host: string): boolean {
  return createHostCheck([])(parseHostname(isIP(host) === 6 ? `[${host}]` : host))
}

function createHostCheck(allowedHosts: readonly string[]): (name: string | undefined) => boolean {
  const allowedNames = new Set(['localhost', ...allowedHosts.map(parseHostname)])
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8, 'ipv4')
  loopback.addAddress('::1', 'ipv6')
  return (name) => {
    if (name === undefined) return false
    if (allowedNames.has(name)) return true
    const address = name.replace(/^\[(.*)\]$/, '$1')
    const family = isIP(address)
    return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** Returns a normalized name, or `undefined` for a malformed host. */
function parseHostname(host: string): string | undefined {
  // With user information, `URL` would return another host.
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d*)?$/i.test(host)) return undefined
  return URL.parse(`http://${host}`)?.hostname
}
