import { CausewayError } from '@causeway/protocol'

/** Where the server is, as the HTTP client wants it. */
export interface Target {
  /** Scheme, host and port; for a socket a stand-in, which becomes the Host header. */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /** The Unix socket to connect to instead of the host. */
  readonly socketPath: string | undefined
}

const defaultUrl = 'http://localhost:3100/mcp'

/**
 * A server URL, and with `app` that of one app: `…/mcp` becomes `…/mcp/replay`. Throws `INVALID_SETTING`, which never
 * repeats a password that stands in the URL.
 */
export function readTarget(text = defaultUrl, app?: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(https?|unix):$/.test(url.protocol))
    throw invalid(`not a server URL: ${text}`, `give one like ${defaultUrl} as --url or MCP_SERVER_URL`)
  if (url.username !== '' || url.password !== '')
    throw invalid('the server URL holds a user name or password', 'leave them out of the URL')
  if (url.protocol === 'unix:' && !/^\/.+:\/[^:]*$/.test(url.pathname))
    throw invalid(`not a socket URL: ${text}`, 'write it as unix:/path/to.sock:/mcp')
  return app === undefined ? url : appUrl(url, app)
}

function appUrl(url: URL, app: string): URL {
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(app))
    throw invalid(`not the name of an app: ${app}`, 'use one like replay; GET /api/apps lists them')
  if (!url.pathname.endsWith('/mcp'))
    throw invalid(
      `the server URL names no server to choose an app of: ${url}`,
      'let it end in /mcp, or leave out --app',
    )
  const chosen = new URL(url)
  chosen.pathname += `/${app.toLowerCase()}`
  return chosen
}

/** What to connect to and what to ask it for. */
export function targetOf(url: URL): Target {
  if (url.protocol !== 'unix:')
    return { origin: url.origin, path: url.pathname + url.search, socketPath: undefined }
  const at = url.pathname.lastIndexOf(':/')
  return {
    origin: 'http://localhost',
    path: url.pathname.slice(at + 1) + url.search,
    socketPath: decodeURIComponent(url.pathname.slice(0, at)),
  }
}

const invalid = (message: string, remedy: string): CausewayError =>
  new CausewayError('INVALID_SETTING', message, { remedy })
