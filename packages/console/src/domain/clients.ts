import { formatClient } from '@causeway/protocol/call-filter'
import type { AuditRecord } from '../data/types.ts'

export interface ClientSummary {
  readonly client: string
  readonly version: string
  readonly channels: readonly string[]
  readonly sessions: number
  readonly calls: number
  readonly errors: number
  /** ISO time. */
  readonly last: string
}

/** Groups calls, newest first, by client program. The most recently used client is first. */
export function summarizeClients(entries: readonly AuditRecord[]): ClientSummary[] {
  const groups = new Map<string, AuditRecord[]>()
  for (const entry of entries) {
    const program = `${entry.metadata.client} ${entry.metadata.client_version}`
    groups.set(program, [...(groups.get(program) ?? []), entry])
  }
  return [...groups.values()].map((calls) => {
    const [newest] = calls as [AuditRecord]
    return {
      client: formatClient(newest.metadata.client),
      version: newest.metadata.client_version,
      channels: [...new Set(calls.map(({ metadata }) => metadata.channel))].sort(),
      sessions: new Set(calls.map(({ metadata }) => metadata.session)).size,
      calls: calls.length,
      errors: calls.filter(({ success }) => !success).length,
      last: newest.timestamp,
    }
  })
}
