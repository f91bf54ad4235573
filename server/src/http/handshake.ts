/** `initialize`: what may be left out, and what is answered. */
import { CausewayError, isObject, legacyVersions, type Params } from '@causeway/protocol'
import type { MountDescription } from '../core.ts'

/** The revision of clients that name none: the first one with this transport. */
const assumedVersion = '2025-03-26'

/** The params of `initialize`, whole. */
export interface InitializeParams extends Params {
  readonly protocolVersion: string
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly clientInfo: { readonly name: string; readonly version: string }
}

/**
 * Fills in what a script may leave out: all but the shape of what is there. Throws `INVALID_PARAMS` for a member of
 * the wrong type.
 */
export function initializeParams(params: Params): InitializeParams {
  const { protocolVersion = assumedVersion, capabilities = {}, clientInfo = {} } = params
  if (typeof protocolVersion !== 'string') throw wrong('protocolVersion', 'a string')
  if (!isObject(capabilities)) throw wrong('capabilities', 'an object')
  if (!isObject(clientInfo)) throw wrong('clientInfo', 'an object')
  const { name = 'unknown', version = '0' } = clientInfo
  if (typeof name !== 'string') throw wrong('clientInfo.name', 'a string')
  if (typeof version !== 'string') throw wrong('clientInfo.version', 'a string')
  return { ...params, protocolVersion, capabilities, clientInfo: { ...clientInfo, name, version } }
}

/** The result of `initialize`: the version asked for where it is spoken here, else the newest. */
export function initializeResult(
  { protocolVersion }: InitializeParams,
  { capabilities, serverInfo, instructions }: MountDescription,
): Readonly<Record<string, unknown>> {
  const spoken = legacyVersions.find((version) => version === protocolVersion) ?? legacyVersions[0]
  return { protocolVersion: spoken, capabilities, serverInfo, instructions }
}

const wrong = (member: string, expected: string): CausewayError =>
  new CausewayError('INVALID_PARAMS', `${member} of initialize must be ${expected}`)
