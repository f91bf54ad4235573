import type { App } from '@causeway/app-kit'
import type { ErrorDefinition } from '@causeway/protocol'
import { BridgeError } from '../../bridge/src/errors.ts'
import { codeSpan, table } from './table.ts'

/** Error definitions by code. */
export type ErrorDefinitions = Readonly<Record<string, ErrorDefinition>>

/** Returns the error definitions of each app and of the bridge. A code that several apps use belongs to the first of them. */
export function groupErrors([server, ...apps]: readonly App[]): ReadonlyMap<string, ErrorDefinitions> {
  const seen = new Set<string>()
  const groups = new Map<string, ErrorDefinitions>()
  const add = (owner: string, definitions: ErrorDefinitions) => {
    const own = Object.entries(definitions).filter(([code]) => !seen.has(code))
    for (const [code] of own) seen.add(code)
    groups.set(owner, Object.fromEntries(own))
  }
  if (server !== undefined) add(server.name, server.errors)
  add('Bridge', BridgeError.definitions)
  for (const { name, errors } of apps) add(name, errors)
  return groups
}

/** Returns a section with a table of error codes for each owner. */
export function errorReference(groups: ReadonlyMap<string, ErrorDefinitions>): string {
  return [...groups].map(([owner, definitions]) => `## ${owner}\n\n${errorTable(definitions)}`).join('\n\n')
}

/** Returns the table of error codes, in the order of their declaration. */
export function errorTable(definitions: ErrorDefinitions): string {
  return table(
    ['code', 'JSON-RPC', 'HTTP', 'legacy', 'retry', 'meaning', 'remedy'],
    Object.entries(definitions).map(([code, { rpc, status, legacyCode, retryable, about, remedy }]) => [
      codeSpan(code),
      String(rpc),
      String(status),
      legacyCode === undefined ? '' : String(legacyCode),
      retryable ? 'yes' : '',
      about,
      remedy,
    ]),
  )
}
