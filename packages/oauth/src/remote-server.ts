export interface RemoteServer {
  readonly name: string
  readonly url: string
  /** Sent with all requests. */
  readonly headers?: Readonly<Record<string, string>>
  readonly oauth: OAuthOptions
  /** Used for logins; default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

export interface OAuthOptions {
  /** A client registered with the authorization server, or the HTTPS URL of a client id metadata document. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** Separated by spaces. */
  readonly scope?: string | undefined
  /** Replaces the resource indicator (RFC 8707). `none` omits it, for servers that reject it. */
  readonly resource?: string | undefined
}

/** Removes query and fragment, which may contain secrets. */
export function toResource(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/** Whether a URL names this machine (RFC 8252, section 7.3). */
export const isLoopbackUrl = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
