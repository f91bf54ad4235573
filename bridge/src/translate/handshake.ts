import { type JsonObject, legacyVersions, meta, modernVersion } from '@causeway/protocol'
import { membersOf } from './modern-shape.ts'

/** The answer to `initialize`, from that to `server/discover`: in the version asked for, if there is such a one. */
export function initializeResult(discovered: JsonObject, requestedVersion: unknown): JsonObject {
  const version = legacyVersions.find((known) => known === requestedVersion) ?? legacyVersions[0]
  const { capabilities = {}, instructions } = discovered
  return {
    protocolVersion: version,
    capabilities,
    serverInfo: membersOf(discovered, '_meta')[meta.serverInfo] ?? { name: 'unknown', version: '0' },
    ...(instructions !== undefined && { instructions }),
  }
}

/** The answer to `server/discover`, from that to `initialize`; without what makes it one of the stateless era. */
export function discoverResult(initialized: JsonObject): JsonObject {
  const { capabilities = {}, instructions } = initialized
  return {
    supportedVersions: [modernVersion],
    capabilities,
    ...(instructions !== undefined && { instructions }),
  }
}
