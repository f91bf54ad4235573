import { asObject, type JsonObject, meta, modernVersion, type Request } from '@causeway/protocol'

/** Who a client is and what it can do, as each message of the stateless era says it. */
export interface Caller {
  readonly clientInfo: unknown
  readonly clientCapabilities: unknown
}

/** A client's log level in the stateless era stands in each request. */
const logLevelKey = 'io.modelcontextprotocol/logLevel'
const envelopeKeys: readonly string[] = [
  meta.protocolVersion,
  meta.clientInfo,
  meta.clientCapabilities,
  logLevelKey,
]

/** The object under a name, empty where there is none. */
export const membersOf = (value: unknown, name: string): JsonObject => asObject(asObject(value)[name])

/** A request of a legacy client as one of the stateless era. */
export function modernRequest(request: Request, caller: Caller, logLevel?: string): Request {
  const _meta = {
    ...membersOf(request.params, '_meta'),
    [meta.protocolVersion]: modernVersion,
    [meta.clientInfo]: caller.clientInfo,
    [meta.clientCapabilities]: caller.clientCapabilities,
    ...(logLevel !== undefined && { [logLevelKey]: logLevel }),
  }
  return { ...request, params: { ...request.params, _meta } }
}

/** Who sent a message of the stateless era, and the log level that it asks for. */
export function callerOf(request: Request): Caller & { readonly logLevel: unknown } {
  const _meta = membersOf(request.params, '_meta')
  return {
    clientInfo: _meta[meta.clientInfo],
    clientCapabilities: _meta[meta.clientCapabilities] ?? {},
    logLevel: _meta[logLevelKey],
  }
}

/** A message of the stateless era without what that era adds; what a client puts into `_meta` itself stays. */
export function withoutEnvelope<M extends { readonly params?: JsonObject }>(message: M): M {
  if (message.params === undefined) return message
  const params = without(message.params, ['_meta', 'inputResponses', 'requestState'])
  return { ...message, params: withMeta(params, without(membersOf(message.params, '_meta'), envelopeKeys)) }
}

/** Results that the stateless era lets a client keep for a time. */
const cacheable = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

/** A result of a legacy server as one of the stateless era: complete, and not to be kept. */
export function modernResult(method: string, result: JsonObject, serverInfo: unknown): JsonObject {
  return {
    ...result,
    resultType: 'complete',
    ...(cacheable.has(method) && { ttlMs: 0, cacheScope: 'private' }),
    _meta: { ...membersOf(result, '_meta'), [meta.serverInfo]: serverInfo },
  }
}

/** A result of the stateless era as a legacy client expects it. */
export function legacyResult(method: string, result: JsonObject): JsonObject {
  const added = ['resultType', '_meta', ...(cacheable.has(method) ? ['ttlMs', 'cacheScope'] : [])]
  return withMeta(without(result, added), without(membersOf(result, '_meta'), [meta.serverInfo]))
}

/** JsonObject with this `_meta`, or none where it is empty. */
export const withMeta = (members: JsonObject, _meta: JsonObject): JsonObject =>
  Object.keys(_meta).length === 0 ? members : { ...members, _meta }

/** JsonObject without those of these names. */
export const without = (members: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
