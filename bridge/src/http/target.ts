import { toSocketPath } from '@causeway/protocol'
import { createSettingError } from '../errors.ts'

export interface Target {
  /** Scheme, host and port; for a socket, a placeholder for the Host header. */
  readonly origin: string
  readonly path: string
  readonly socketPath: string | undefined
}

const defaultUrl = 'http://localhost:3100/mcp'

interface TargetOptions {
  readonly app?: string | undefined
  /** `full`, `core` or the name of a profile. */
  readonly view?: string | undefined
  readonly platform?: NodeJS.Platform
}

/**
 * Turns `…/mcp` into `…/mcp/replay` for an `app`, and into `…/mcp/core` or `…/mcp/p/<profile>` for a `view`.
 * Throws `INVALID_SETTING` for an invalid URL or a URL with credentials.
 */
export function readTarget(
  text = defaultUrl,
  { app, view, platform = process.platform }: TargetOptions = {},
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(https?|unix):$/.test(url.protocol))
    throw createSettingError(
      `not a server URL: ${text.replace(/\/\/[^/]*@/, '//')}`,
      `use a URL such as ${defaultUrl} for --url or MCP_SERVER_URL`,
    )
  if (url.username !== '' || url.password !== '')
    throw createSettingError('the server URL contains a user name or password', 'remove them from the URL')
  if (url.protocol === 'unix:' && findSocket(url, platform) === undefined)
    throw createSettingError(
      `not a socket URL: ${text}`,
      platform === 'win32' ? 'write it as unix://./pipe/name:/mcp' : 'write it as unix:/path/to.sock:/mcp',
    )
  if (app !== undefined && view !== undefined)
    throw createSettingError(
      '--app and --view exclude each other',
      'an app lists all its tools: omit --view and CAUSEWAY_VIEW',
    )
  if (app !== undefined) return addApp(url, app)
  return view === undefined || view === 'full' ? url : addView(url, view)
}

/** Whether the URL selects no view, so that the bridge may select one. */
export const isFullView = (url: URL): boolean => url.pathname.endsWith('/mcp') && url.search === ''

function addApp(url: URL, app: string): URL {
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(app))
    throw createSettingError(
      `not the name of an app: ${app}`,
      'use a name such as replay; GET /api/apps lists them',
    )
  return extendPath(url, `/${app.toLowerCase()}`, '--app')
}

function addView(url: URL, view: string): URL {
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(view))
    throw createSettingError(`not a view: ${view}`, 'use full, core or the name of a profile in mcp.json')
  return extendPath(url, view === 'core' ? '/core' : `/p/${view}`, '--view')
}

function extendPath(url: URL, segments: string, flag: string): URL {
  if (!url.pathname.endsWith('/mcp'))
    throw createSettingError(
      `the server URL does not end in /mcp: ${url}`,
      `use the URL of a Causeway server, or omit ${flag}`,
    )
  const extendedUrl = new URL(url)
  extendedUrl.pathname += segments
  return extendedUrl
}

export function resolveTarget(url: URL, platform: NodeJS.Platform = process.platform): Target {
  if (url.protocol !== 'unix:')
    return { origin: url.origin, path: url.pathname + url.search, socketPath: undefined }
  return {
    origin: 'http://localhost',
    path: url.pathname.slice(url.pathname.lastIndexOf(':/') + 1) + url.search,
    socketPath: findSocket(url, platform),
  }
}

/** Returns the socket of `unix:/path/to.sock:/mcp`, or the named pipe of `unix://./pipe/name:/mcp` (host `.`). */
function findSocket({ host, pathname }: URL, platform: NodeJS.Platform): string | undefined {
  const [, path] = /^(.+):\/[^:]*$/.exec(pathname) ?? []
  if (path === undefined || (host !== '' && platform !== 'win32')) return undefined
  return toSocketPath(decodeURIComponent(host === '' ? path : `//${host}${path}`), platform)
}
