import {
  asObject,
  type JsonObject,
  legacyVersions,
  meta,
  modernVersion,
  type Request,
} from '@causeway/protocol'

export interface Caller {
  readonly clientInfo: unknown
  readonly clientCapabilities: unknown
}

const logLevelKey = 'io.modelcontextprotocol/logLevel'
const envelopeKeys: readonly string[] = [
  meta.protocolVersion,
  meta.clientInfo,
  meta.clientCapabilities,
  logLevelKey,
]

export const getMembers = (value: unknown, name: string): JsonObject => asObject(asObject(value)[name])

export function toModernRequest(request: Request, caller: Caller, logLevel?: string): Request {
  const _meta = {
    ...getMembers(request.params, '_meta'),
    [meta.protocolVersion]: modernVersion,
    [meta.clientInfo]: caller.clientInfo,
    [meta.clientCapabilities]: caller.clientCapabilities,
    ...(logLevel !== undefined && { [logLevelKey]: logLevel }),
  }
  return { ...request, params: { ...request.params, _meta } }
}

export function readCaller(request: Request): Caller & { readonly logLevel: unknown } {
  const _meta = getMembers(request.params, '_meta')
  return {
    clientInfo: _meta[meta.clientInfo],
    clientCapabilities: _meta[meta.clientCapabilities] ?? {},
    logLevel: _meta[logLevelKey],
  }
}

export function readInitializeCaller({ params }: Request): Caller {
  return { clientInfo: params?.clientInfo, clientCapabilities: params?.capabilities ?? {} }
}

/** Removes the members of the stateless era. Preserves other members of `_meta`. */
export function omitEnvelope<M extends { readonly params?: JsonObject }>(message: M): M {
  if (message.params === undefined) return message
  const params = omitMembers(message.params, ['_meta', 'inputResponses', 'requestState'])
  return {
    ...message,
    params: addMeta(params, omitMembers(getMembers(message.params, '_meta'), envelopeKeys)),
  }
}

/** Methods whose stateless results have cache hints. */
const cacheableMethods = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

/** Adds the members of the stateless era, with hints that forbid caching. */
export function toModernResult(method: string, result: JsonObject, serverInfo: unknown): JsonObject {
  return {
    ...result,
    resultType: 'complete',
    ...(cacheableMethods.has(method) && { ttlMs: 0, cacheScope: 'private' }),
    _meta: { ...getMembers(result, '_meta'), [meta.serverInfo]: serverInfo },
  }
}

export function toLegacyResult(method: string, result: JsonObject): JsonObject {
  const addedMembers = [
    'resultType',
    '_meta',
    ...(cacheableMethods.has(method) ? ['ttlMs', 'cacheScope'] : []),
  ]
  return addMeta(
    omitMembers(result, addedMembers),
    omitMembers(getMembers(result, '_meta'), [meta.serverInfo]),
  )
}

/** Uses the requested version if the bridge supports it. */
export function toInitializeResult(discovered: JsonObject, requestedVersion: unknown): JsonObject {
  const version =
    legacyVersions.find((legacyVersion) => legacyVersion === requestedVersion) ?? legacyVersions[0]
  return {
    protocolVersion: version,
    ...pickOffer(discovered),
    serverInfo: getMembers(discovered, '_meta')[meta.serverInfo] ?? { name: 'unknown', version: '0' },
  }
}

/** The result lacks the members that `toModernResult` adds. */
export const toDiscoverResult = (initialized: JsonObject): JsonObject => ({
  supportedVersions: [modernVersion],
  ...pickOffer(initialized),
})

const pickOffer = ({ capabilities = {}, instructions }: JsonObject): JsonObject => ({
  capabilities,
  ...(instructions !== undefined && { instructions }),
})

export const addMeta = (members: JsonObject, _meta: JsonObject): JsonObject =>
  Object.keys(_meta).length === 0 ? members : { ...members, _meta }

export const omitMembers = (members: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))

export interface Translator {
  fromClient(message: unknown): void
  /** Returns `false` if the message must be forwarded unchanged. */
  fromServer(message: unknown): boolean
}
