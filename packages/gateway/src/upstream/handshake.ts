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
  const silence = delay(discoverTimeoutMs, 'silent' as const, { ref: false })
  const first = await Promise.race([discovery, silence])
  if (first !== undefined && first !== 'silent') return first
  options.signal.throwIfAborted()
  const legacy = initialize(connection, channel, options)
  if (first === undefined) return legacy
  // The server may only be slow to start, so the discovery wins if it succeeds later.
  const late = discovery.then((found) => found ?? legacy)
  return Promise.race([late, legacy.catch(() => late)])
}

async function discover(connection: Connection, options: HandshakeOptions): Promise<ServerDescription> {
  const { server, signal, clientInfo, capabilities } = options
  const envelope = createEnvelope(clientInfo, capabilities)
  const result = await connection.request('server/discover', { _meta: envelope }, { signal })
  const found = isObject(result) ? result : {}
  const versions = Array.isArray(found.supportedVersions) ? found.supportedVersions : []
  if (!versions.includes(modernVersion))
    throw new GatewayError('UPSTREAM_INVALID', `${server} supports none of our versions: ${versions}`)
  connection.useEnvelope(envelope)
  const info = (isObject(found._meta) ? found._meta : {})[meta.serverInfo] ?? found.serverInfo
  return {
    era: 'modern',
    version: modernVersion,
    serverInfo: isObject(info) ? info : {},
    capabilities: isObject(found.capabilities) ? found.capabilities : {},
    instructions: typeof found.instructions === 'string' ? found.instructions : '',
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
  const found = isObject(result) ? result : {}
  const version = legacyVersions.find((one) => one === found.protocolVersion)
  if (version === undefined)
    throw new GatewayError(
      'UPSTREAM_INVALID',
      `${server} answered initialize with a version that is not supported: ${String(found.protocolVersion)}`,
    )
  channel.useVersion(version)
  connection.notify('notifications/initialized')
  return {
    era: 'legacy',
    version,
    serverInfo: isObject(found.serverInfo) ? found.serverInfo : {},
    capabilities: isObject(found.capabilities) ? found.capabilities : {},
    instructions: typeof found.instructions === 'string' ? found.instructions : '',
  }
}
