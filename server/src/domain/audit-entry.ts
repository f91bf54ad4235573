/** One row of the audit: which call, by whom, how it went. Sizes and ids; never arguments, answers or secrets. */

import type { Facts } from '@causeway/app-kit'

/** The way by which a call came. */
export type Channel = 'mcp' | 'session' | 'sse' | 'rest' | 'route' | 'socket' | 'app'

/** A finished call. */
export interface AuditEntry {
  /** Milliseconds since the epoch, of its end. */
  readonly at_ms: number
  readonly app: string
  /** The name of the app as a server of its own. */
  readonly service: string
  readonly tool: string
  readonly channel: Channel
  /** The program that called, as it says itself. */
  readonly client: string
  readonly client_version: string
  /** Names the client's state, by a digest of its key. */
  readonly session: string
  readonly request_id: string
  /** Of the W3C trace that the call belongs to, if the caller named one. */
  readonly trace_id: string | null
  readonly ms: number
  /** `ok`, or the code of the error. */
  readonly code: string
  readonly request_bytes: number | null
  /** Characters of the answer as JSON. */
  readonly answer_chars: number | null
  /** What it was about: a plot, a recording, a mind. */
  readonly subject: string | null
  readonly facts: Facts | null
}

/** Members by which arguments and answers name what a call is about, the first that is there counts. */
const subjectNames = ['filename', 'recording', 'mind_id', 'sid', 'sessionId', 'repo', 'path']

/** Longest id that is kept. */
const maxLength = 200

/** Ids in one fact that are kept. */
const maxIds = 20

/** What a call was about, by its answer or else its arguments. */
export function subjectOf(...from: readonly unknown[]): string | null {
  for (const value of from) {
    if (typeof value !== 'object' || value === null) continue
    for (const name of subjectNames) {
      const id = (value as Record<string, unknown>)[name]
      if (typeof id === 'string' && id !== '') return id.slice(0, maxLength)
    }
  }
  return null
}

/** Facts cut to what an audit keeps. */
export const briefFacts = (facts: Facts): Facts =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.slice(0, maxIds) : brief(value),
    ]),
  )

const brief = (value: Facts[string]) => (typeof value === 'string' ? value.slice(0, maxLength) : value)

/** Codes of calls that were held back and not failed. */
const held: ReadonlySet<string> = new Set(['RATE_LIMITED', 'OVERLOADED', 'SHUTTING_DOWN', 'CANCELLED'])

/** `INFO` for a success, `WARN` for a call that was held back, `ERROR` for a failure. */
const levelOf = (code: string): 'INFO' | 'WARN' | 'ERROR' =>
  code === 'ok' ? 'INFO' : held.has(code) ? 'WARN' : 'ERROR'

/** What a record says that the entry does not: its instant as ISO 8601, and the sentence of the error's code. */
export interface RecordWords {
  readonly timestamp: string
  readonly about: string
}

/** An entry in the form that the original plot server planned. */
export function auditRecord(
  { at_ms: _, service, tool, ms, code, facts, ...ids }: AuditEntry,
  { timestamp, about }: RecordWords,
): Readonly<Record<string, unknown>> {
  return {
    timestamp,
    level: levelOf(code),
    service,
    operation: 'tool_call',
    toolName: tool,
    duration: ms,
    success: code === 'ok',
    ...(code === 'ok' ? {} : { error: { code, message: about } }),
    metadata: {
      ...Object.fromEntries(Object.entries(ids).filter(([, value]) => value !== null)),
      ...facts,
    },
  }
}
