/** The question to the audit, as a tool's arguments or as the query of a URL. */
import { parseTime } from '@causeway/app-kit/time'
import { codes, type ErrorCode, rowOf } from '@causeway/protocol'
import { z } from 'zod'
import type { AuditQuery, StoredEntry } from '../audit/audit-store.ts'
import { type AuditEntry, auditRecord } from '../domain/audit-entry.ts'

/** Entries of one answer at most. */
const most = 200

const instant = z.string().refine((text) => parseTime(text) !== undefined, {
  error: 'not an ISO 8601 time such as 2026-11-22T10:00:00Z',
})

/** What can be asked for; every member narrows. */
export const auditInput = {
  app: z.string().optional().describe('name of an app, such as Debrief'),
  tool: z.string().optional().describe('name of a tool, without its app'),
  subject: z
    .string()
    .optional()
    .describe('what a call was about: a plot, a recording or a mind, as its tool names it'),
  client: z.string().optional().describe('name of the program that called'),
  code: z.string().optional().describe('ok, the code of an error, or failed for all errors'),
  request_id: z.string().optional().describe('id of one call, as its log lines have it'),
  trace_id: z.string().optional().describe('id of a W3C trace, 32 hex digits'),
  since: instant.optional().describe('not before this instant, ISO 8601; UTC where it has no offset'),
  until: instant.optional().describe('before this instant, ISO 8601; UTC where it has no offset'),
  before: z.coerce.number().int().min(1).optional().describe('next_before of the answer before'),
  limit: z.coerce.number().int().min(1).max(most).default(50).describe('entries at most'),
}

const auditArguments = z.strictObject(auditInput)

/** The question, read; the instants as milliseconds. */
export function auditQuery({ since, until, ...rest }: z.output<typeof auditArguments>): AuditQuery {
  return {
    ...rest,
    ...(since === undefined ? {} : { since_ms: parseTime(since) }),
    ...(until === undefined ? {} : { until_ms: parseTime(until) }),
  }
}

/** An entry as it is shown. */
export const shownEntry = ({ id: _, ...entry }: StoredEntry) => recordOf(entry)

/** The record of an entry. */
export const recordOf = (entry: AuditEntry): Readonly<Record<string, unknown>> =>
  auditRecord(entry, { timestamp: new Date(entry.at_ms).toISOString(), about: aboutCode(entry.code) })

const aboutCode = (code: string): string =>
  Object.hasOwn(codes, code) ? rowOf(code as ErrorCode).about : code
