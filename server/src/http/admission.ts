/**
 * Admits requests by address, origin and token. Web pages can reach a local server by DNS rebinding or by plain
 * cross-origin requests (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { CausewayError } from '@causeway/protocol'
import type { Tokens } from '../access/token-file.ts'
import type { Access } from '../domain/access.ts'

/** Options of `Admission`. */
export interface AdmissionOptions {
  /** Host names or addresses, without ports, that callers may use in addition to those of the loopback interface. */
  readonly allowedHosts: readonly string[]
  /** Exact origins of web pages that may call without a token. */
  readonly allowedOrigins: readonly string[]
  /** If present, every request except a CORS preflight requires one of these tokens. */
  readonly tokens?: Tokens | undefined
}

/** The part of a request that decides whether it is admitted. */
type RequestHead = { readonly headers: IncomingHttpHeaders }

/** Decides from the headers of a request whether it is served. */
export class Admission {
  readonly #isServedHost: (host: string) => boolean
  /** Host names that this server is reached by, as URLs write them. */
  readonly #hostnames: readonly string[]
  /** Origins of this server's own pages, and of the allow-list. */
  readonly #trustedOrigins: Set<string>
  readonly #tokens: Tokens | undefined

  constructor({ allowedHosts, allowedOrigins, tokens }: AdmissionOptions) {
    const isServed = hostCheck(allowedHosts)
    this.#isServedHost = cached((host) => isServed(parseHostname(host)))
    const named = allowedHosts.map(parseHostname).filter((name) => name !== undefined)
    this.#hostnames = ['localhost', '127.0.0.1', '[::1]', ...named]
    this.#trustedOrigins = new Set(allowedOrigins)
    this.#tokens = tokens
  }

  /** Trusts pages that a listener of this server serves on a port. */
  addListener(port: number): void {
    for (const name of this.#hostnames)
      this.#trustedOrigins.add(port === 80 ? `http://${name}` : `http://${name}:${port}`)
  }

  /** Whether pages of an origin may call without a token and read the responses. */
  trustsOrigin(origin: string): boolean {
    return this.#trustedOrigins.has(origin)
  }

  /**
   * Returns what the token of a request permits, or `undefined` if no token is required. Throws `FORBIDDEN_HOST`,
   * `FORBIDDEN_ORIGIN` or `UNAUTHORIZED`. A valid token is sufficient for any origin: browsers never attach one by
   * themselves, so the page was given it.
   */
  admit({ headers }: RequestHead): Access | undefined {
    const { origin, authorization } = headers
    this.#checkHost(headers)
    if (origin === undefined) {
      if (isSubresource(headers)) throw new CausewayError('FORBIDDEN_ORIGIN', 'web pages must not embed this')
    } else if (!this.trustsOrigin(origin) && (this.#tokens === undefined || authorization === undefined))
      throw forbiddenOrigin(origin)
    return this.#tokens?.admit(authorization)
  }

  /** Throws for a CORS preflight whose actual request could not be admitted with any token. A preflight carries none. */
  checkPreflight({ headers }: RequestHead): void {
    this.#checkHost(headers)
    const { origin = '' } = headers
    if (!this.trustsOrigin(origin) && this.#tokens === undefined) throw forbiddenOrigin(origin)
  }

  #checkHost({ host = '' }: IncomingHttpHeaders): void {
    if (this.#isServedHost(host)) return
    throw new CausewayError(
      'FORBIDDEN_HOST',
      `not an address of this server: ${host === '' ? '(none)' : host}`,
    )
  }
}

const forbiddenOrigin = (origin: string): CausewayError =>
  new CausewayError('FORBIDDEN_ORIGIN', `the origin is not allowed: ${origin}`, { data: { origin } })

/**
 * Whether a browser loads this for a page of another origin without sending an Origin, as an image or a frame. Pages on
 * other ports of the same host count as the same site. Opening a link is permitted (https://www.w3.org/TR/fetch-metadata/).
 */
function isSubresource(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== 'cross-site' && site !== 'same-site') return false
  return !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document')
}

/** Caches the first results: the Host of nearly every request is one of two or three. */
function cached(check: (text: string) => boolean, capacity = 16): (text: string) => boolean {
  const known = new Map<string, boolean>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const result = check(text)
    if (known.size < capacity) known.set(text, result)
    return result
  }
}

/** Whether a host is `localhost` or an address of the loopback interface, in any notation. */
export function isLoopback(host: string): boolean {
  return hostCheck([])(parseHostname(isIP(host) === 6 ? `[${host}]` : host))
}

/** Returns a check for `localhost`, loopback addresses in any notation, and the given names or addresses, without ports. */
function hostCheck(allowedHosts: readonly string[]): (name: string | undefined) => boolean {
  const named = new Set(['localhost', ...allowedHosts.map(parseHostname)])
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8, 'ipv4')
  loopback.addAddress('::1', 'ipv6')
  return (name) => {
    if (name === undefined) return false
    if (named.has(name)) return true
    const address = name.replace(/^\[(.*)\]$/, '$1')
    const family = isIP(address)
    return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** Returns the host of a Host header as a URL writes it (`[::1]`, lower case), or `undefined` if it is malformed. */
function parseHostname(host: string): string | undefined {
  // URL would take the host from elsewhere in a text with userinfo, a path or a query.
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d*)?$/i.test(host)) return undefined
  return URL.parse(`http://${host}`)?.hostname
}
