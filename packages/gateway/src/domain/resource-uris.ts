import { isObject, type JsonObject } from '@causeway/protocol'

const scheme = 'causeway-mcp://'

/** Hosts of MCP Apps require this scheme for pages. */
const pageScheme = 'ui://'
const pagePrefix = 'ui://causeway-mcp/'

/**
 * Returns Causeway's URI of a hosted resource or template. `file:///a` of `myfiles` ->
 * `causeway-mcp://myfiles/file:///a`, and `ui://page` -> `ui://causeway-mcp/myfiles/page`.
 */
export const toCausewayUri = (app: string, uri: string): string =>
  uri.startsWith(pageScheme)
    ? `${pagePrefix}${app}/${uri.slice(pageScheme.length)}`
    : `${scheme}${app}/${uri}`

/** Returns the hosted server's URI, or `undefined` if the URI belongs to another app. */
export function toUpstreamUri(app: string, uri: string): string | undefined {
  const pageUriPrefix = `${pagePrefix}${app}/`
  if (uri.startsWith(pageUriPrefix)) return `${pageScheme}${uri.slice(pageUriPrefix.length)}`
  const plainUriPrefix = `${scheme}${app}/`
  return uri.startsWith(plainUriPrefix) ? uri.slice(plainUriPrefix.length) : undefined
}

export function rewriteBlock(app: string, block: unknown): unknown {
  if (!isObject(block)) return block
  if (block.type === 'resource_link' && typeof block.uri === 'string')
    return { ...block, uri: toCausewayUri(app, block.uri) }
  const { resource } = block
  if (block.type !== 'resource' || !isObject(resource) || typeof resource.uri !== 'string') return block
  return { ...block, resource: { ...resource, uri: toCausewayUri(app, resource.uri) } }
}

/** Rewrites the page URIs of MCP Apps in `_meta`. */
export function rewriteToolMeta<T extends JsonObject>(app: string, tool: T): T {
  const { _meta } = tool
  if (!isObject(_meta)) return tool
  const { ui, 'ui/resourceUri': legacyUri } = _meta
  const pageUriPrefix = isObject(ui) ? ui.resourceUri : undefined
  if (typeof pageUriPrefix !== 'string' && typeof legacyUri !== 'string') return tool
  return {
    ...tool,
    _meta: {
      ..._meta,
      ...(typeof pageUriPrefix === 'string'
        ? { ui: { ...(ui as JsonObject), resourceUri: toCausewayUri(app, pageUriPrefix) } }
        : {}),
      ...(typeof legacyUri === 'string' ? { 'ui/resourceUri': toCausewayUri(app, legacyUri) } : {}),
    },
  }
}
