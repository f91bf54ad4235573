import { CausewayError, isObject, legacyVersions, type Params } from '@causeway/protocol'
import type { MountDescription } from '../../registry/mount-lists.ts'

/** The first version with this transport, for clients that omit the version. */
const defaultVersion = '2025-03-26'

export interface InitializeParams extends Params {
  readonly protocolVersion: string
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly clientInfo: { readonly name: string; readonly version: string }
}

/** Adds members that scripts and some clients omit. Throws `INVALID_PARAMS` for a wrong type. */
export function completeInitialize(params: Params): InitializeParams {
  const { protocolVersion = defaultVersion, capabilities = {}, clientInfo = {} } = params
  if (typeof protocolVersion !== 'string') throw createTypeError('protocolVersion', 'a string')
  if (!isObject(capabilities)) throw createTypeError('capabilities', 'an object')
  if (!isObject(clientInfo)) throw createTypeError('clientInfo', 'an object')
  const { name = 'unknown', version = '0' } = clientInfo
  if (typeof name !== 'string') throw createTypeError('clientInfo.name', 'a string')
  if (typeof version !== 'string') throw createTypeError('clientInfo.version', 'a string')
  return { ...params, protocolVersion, capabilities, clientInfo: { ...clientInfo, name, version } }
}

export function createInitializeResult(
  { protocolVersion }: InitializeParams,
  { capabilities, serverInfo, instructions }: MountDescription,
): Readonly<Record<string, unknown>> {
  const version = legacyVersions.find((version) => version === protocolVersion) ?? legacyVersions[0]
  return { protocolVersion: version, capabilities, serverInfo, instructions }
}

const createTypeError = (member: string, expectedType: string): CausewayError =>
  new CausewayError('INVALID_PARAMS', `${member} of initialize must be ${expectedType}`)
