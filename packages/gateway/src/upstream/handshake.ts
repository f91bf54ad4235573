import { setTimeout as delay } from 'node:timers/promises'
import {
  isObject,
  type JsonObject,
  legacyVersions,
  meta,
  modernVersion,
  type Params,
} from '@causeway/protocol'
import type { ServerDescription, UpstreamEra } from '../domain/catalogue.ts'
import { GatewayError } from '../errors.ts'
import type { Channel } from './channel.ts'
import type { Connection } from './connection.ts'

/** Time without a response to `server/discover` after which `initialize` is also sent. */
const discoverTimeoutMs = 5000

export interface HandshakeOptions {
  readonly server: string
  readonly capabilities: JsonObject
  readonly clientInfo: { readonly name: string; readonly version: string }
  /** Era of the last handshake, if known. */
  readonly era?: UpstreamEra | undefined
  readonly signal: AbortSignal
}

/**
 * Sends `server/discover` of MCP 2026-07-28 and, if the server responds with an error or not at all, `initialize`.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle
 */
export async function performHandshake(
  connection: Connection,
  channel: Channel,
  options: HandshakeOptions,
): Promise<ServerDescription> {
  if (options.era === 'legacy')
    return initialize(connection, channel, options).catch((error: unknown) => {
      // Since the last handshake, a server without `initialize` may have replaced the old one.
      if (GatewayError.is(error, 'UPSTREAM_ERROR', 'UPSTREAM_INVALID')) return discover(connection, options)
      throw error
    })
  const discovery = discover(connection, options).catch(() => undefined)
  const timeout = delay(discoverTimeoutMs, 'silent' as const, { ref: false })
  const firstResult = await Promise.race([discovery, timeout])
  if (firstResult !== undefined && firstResult !== 'silent') return firstResult
  options.signal.throwIfAborted()
  const legacyDescription = initialize(connection, channel, options)
  if (firstResult === undefined) return legacyDescription
  // The server may only be slow to start, so the discovery wins if it succeeds later.
  const lateDescription = discovery.then((resultObject) => resultObject ?? legacyDescription)
  return Promise.race([lateDescription, legacyDescription.catch(() => lateDescription)])
}

async function discover(connection: Connection, options: HandshakeOptions): Promise<ServerDescription> {
  const { server, signal, clientInfo, capabilities } = options
  const envelope = createEnvelope(clientInfo, capabilities)
  const result = await connection.request('server/discover', { _meta: envelope }, { signal })
  const resultObject = isObject(result) ? result : {}
  const versions = Array.isArray(resultObject.supportedVersions) ? resultObject.supportedVersions : []
  if (!versions.includes(modernVersion))
    throw new GatewayError('UPSTREAM_INVALID', `${server} supports none of our versions: ${versions}`)
  connection.useEnvelope(envelope)
  const serverInfo =
    (isObject(resultObject._meta) ? resultObject._meta : {})[meta.serverInfo] ?? resultObject.serverInfo
  return {
    era: 'modern',
    version: modernVersion,
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    capabilities: isObject(resultObject.capabilities) ? resultObject.capabilities : {},
    instructions: typeof resultObject.instructions === 'string' ? resultObject.instructions : '',
  }
}

const createEnvelope = (clientInfo: HandshakeOptions['clientInfo'], capabilities: JsonObject): Params => ({
  [meta.protocolVersion]: modernVersion,
  [meta.clientInfo]: clientInfo,
  [meta.clientCapabilities]: capabilities,
})

async function initialize(
  connection: Connection,
  channel: Channel,
  { server, capabilities, clientInfo, signal }: HandshakeOptions,
): Promise<ServerDescription> {
  const params = { protocolVersion: legacyVersions[0], capabilities, clientInfo }
  const result = await connection.request('initialize', params, { signal })
  const resultObject = isObject(result) ? result : {}
  const version = legacyVersions.find((candidate) => candidate === resultObject.protocolVersion)
  if (version === undefined)
    throw new GatewayError(
      'UPSTREAM_INVALID',
      `${server} answered initialize with a version that is not supported: ${String(resultObject.protocolVersion)}`,
    )
  channel.useVersion(version)
  connection.notify('notifications/initialized')
  return {
    era: 'legacy',
    version,
    serverInfo: isObject(resultObject.serverInfo) ? resultObject.serverInfo : {},
    capabilities: isObject(resultObject.capabilities) ? resultObject.capabilities : {},
    instructions: typeof resultObject.instructions === 'string' ? resultObject.instructions : '',
  }
}
