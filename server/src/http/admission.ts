/**
 * Who may come in, by address, origin and token. A page of another site can reach a local server by DNS rebinding or by
 * plain requests (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { CausewayError } from '@causeway/protocol'
import type { Tokens } from '../access/token-file.ts'
import type { Access } from '../domain/access.ts'

/**
 * Judges a request by its headers, before anything else happens. Throws for one that must not come in; else says what its
 * token gives, or nothing where none is needed.
 */
export type Admission = (request: { readonly headers: IncomingHttpHeaders }) => Access | undefined

/** Refuses every request whose Host or Origin is not an address of this server, or whose token is not one of its. */
export function admission(allowedHosts: readonly string[], tokens?: Tokens): Admission {
  const isAllowed = hostCheck(allowedHosts)
  const isOurs = remembered((host) => isAllowed(hostname(host)))
  return ({ headers: given }) => {
    const { host, origin, authorization } = given
    if (!isOurs(host ?? ''))
      throw new CausewayError('FORBIDDEN_HOST', `not an address of this server: ${host ?? '(none)'}`)
    if (origin !== undefined && !isAllowed(originHostname(origin)))
      throw new CausewayError('FORBIDDEN_ORIGIN', `calls from this origin are refused: ${origin}`)
    if (origin === undefined && isOfAnotherSite(given))
      throw new CausewayError('FORBIDDEN_ORIGIN', 'calls from pages of other sites are refused')
    return tokens?.admit(authorization)
  }
}

/**
 * True for a request that a page of another site makes without an Origin, as for its images and scripts. A link that a person
 * follows is none (https://www.w3.org/TR/fetch-metadata/).
 */
const isOfAnotherSite = (given: IncomingHttpHeaders): boolean =>
  given['sec-fetch-site'] === 'cross-site' &&
  !(given['sec-fetch-mode'] === 'navigate' && given['sec-fetch-dest'] === 'document')

/** The same answers, looked up for the texts seen first: the host of nearly every request is one of two or three. */
function remembered(check: (text: string) => boolean, capacity = 16): (text: string) => boolean {
  const known = new Map<string, boolean>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const answer = check(text)
    if (known.size < capacity) known.set(text, answer)
    return answer
  }
}

/** True for `localhost` and the addresses of the loopback interface, in any notation. */
export function isLoopback(host: string): boolean {
  return hostCheck([])(hostname(isIP(host) === 6 ? `[${host}]` : host))
}

/** A check for `localhost`, loopback addresses in any notation, and the given names or addresses, without ports. */
function hostCheck(allowedHosts: readonly string[]): (name: string | undefined) => boolean {
  const named = new Set(['localhost', ...allowedHosts.map(hostname)])
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

/** The host of a Host header as a URL writes it (`[::1]`, lower case), or undefined for anything else. */
function hostname(host: string): string | undefined {
  // No userinfo, path or query may hide in it: URL would take the host from elsewhere in the text.
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d*)?$/i.test(host)) return undefined
  return URL.parse(`http://${host}`)?.hostname
}

function originHostname(origin: string): string | undefined {
  const url = URL.parse(origin)
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.hostname : undefined
}
