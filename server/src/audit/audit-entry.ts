import type { Facts } from '@causeway/app-kit'

export type Channel = 'mcp' | 'session' | 'sse' | 'rest' | 'route' | 'socket' | 'app'

/** A finished call. Contains no arguments, results or secrets. */
export interface AuditEntry {
  /** End of the call, in Unix milliseconds. */
  readonly at_ms: number
  readonly app: string
  readonly service: string
  readonly tool: string
  readonly channel: Channel
  readonly client: string
  readonly client_version: string
  readonly session: string
  readonly request_id: string
  readonly trace_id: string | null
  readonly ms: number
  /** `ok` or an error code. */
  readonly code: string
  readonly request_bytes: number | null
  /** Length of the result's JSON. */
  readonly answer_chars: number | null
  /** Id of a plot, recording or mind. */
  readonly subject: string | null
  readonly facts: Facts | null
}

/** Members that identify the subject, in order of precedence. */
const subjectNames = ['filename', 'recording', 'mind_id', 'sid', 'sessionId', 'repo', 'path']
const maxLength = 200
const maxIds = 20

export function findSubject(...values: readonly unknown[]): string | null {
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    for (const name of subjectNames) {
      const id = (value as Record<string, unknown>)[name]
      if (typeof id === 'string' && id !== '') return id.slice(0, maxLength)
    }
  }
  return null
}

export const truncateFacts = (facts: Facts): Facts =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      Array.isArray(value)
        ? value.slice(0, maxIds)
        : typeof value === 'string'
          ? value.slice(0, maxLength)
          : value,
    ]),
  )

const warningCodes: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'OVERLOADED',
  'SHUTTING_DOWN',
  'CANCELLED',
])

const getLevel = (code: string): 'INFO' | 'WARN' | 'ERROR' =>
  code === 'ok' ? 'INFO' : warningCodes.has(code) ? 'WARN' : 'ERROR'

const optionalIds = ['trace_id', 'request_bytes', 'answer_chars', 'subject'] as const

/** Returns the record in the original plot server's format. `about` describes the error code. */
export function toAuditRecord(
  entry: AuditEntry,
  { timestamp, about }: { readonly timestamp: string; readonly about: string },
): Readonly<Record<string, unknown>> {
  const { service, tool, ms, code, app, channel, client, client_version, session, request_id } = entry
  // A loop over all members would take twice as long.
  const metadata: Record<string, unknown> = { app, channel, client, client_version, session, request_id }
  for (const name of optionalIds) if (entry[name] !== null) metadata[name] = entry[name]
  return {
    timestamp,
    level: getLevel(code),
    service,
    operation: 'tool_call',
    toolName: tool,
    duration: ms,
    success: code === 'ok',
    ...(code === 'ok' ? {} : { error: { code, message: about } }),
    metadata: Object.assign(metadata, entry.facts),
  }
}
