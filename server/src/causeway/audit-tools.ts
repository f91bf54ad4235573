import { type Registrar, readArguments } from '@causeway/app-kit'
import { parseTime } from '@causeway/app-kit/time'
import { type CallFilter, parseCallFilter } from '@causeway/protocol/call-filter'
import { z } from 'zod'
import { type AuditEntry, toAuditRecord } from '../audit/audit-entry.ts'
import type { AuditQuery, StoredEntry } from '../audit/audit-store.ts'
import type { ErrorCatalog } from '../host/error-catalog.ts'
import type { CausewayStore } from './store.ts'

const maxEntries = 200

const timeSchema = z.string().refine((text) => parseTime(text) !== undefined, {
  error: 'not an ISO 8601 time such as 2026-11-22T10:00:00Z',
})

const input = {
  app: z.string().optional().describe('Name of an app, such as Debrief'),
  tool: z.string().optional().describe('Name of a tool, without its app'),
  subject: z
    .string()
    .optional()
    .describe('What a call was about: a plot, a recording or a mind, under the name that its tool uses'),
  client: z.string().optional().describe('Name of the client program'),
  code: z.string().optional().describe('ok, an error code, or failed for all errors'),
  request_id: z.string().optional().describe('Request id of one call, as in its log lines'),
  trace_id: z.string().optional().describe('W3C trace id, 32 hex digits'),
  since: timeSchema.optional().describe('Start of the period, inclusive, ISO 8601; UTC if it has no offset'),
  until: timeSchema.optional().describe('End of the period, exclusive, ISO 8601; UTC if it has no offset'),
  before: z.coerce.number().int().min(1).optional().describe('next_before of the previous result'),
  limit: z.coerce.number().int().min(1).max(maxEntries).default(50).describe('Maximum number of entries'),
}

const argumentsSchema = z.strictObject(input)

const routeSchema = argumentsSchema.extend({
  filter: z
    .string()
    .transform((text, context): CallFilter => {
      try {
        return parseCallFilter(text)
      } catch (error) {
        context.addIssue((error as SyntaxError).message)
        return z.NEVER
      }
    })
    .optional(),
})

export function addAuditTools(app: Registrar<CausewayStore, object>): void {
  app.tool('query_audit', {
    about:
      'List tool calls of all clients, newest first: time, tool, duration, ok or error code, and subject. Arguments and results are not stored. Use it to find failed or slow calls.',
    searchHint: 'who called what, history, log',
    input,
    output: {
      entries: z.array(z.record(z.string(), z.unknown())),
      next_before: z.int().nullable(),
      summary: z.string(),
    },
    hints: { readOnly: true },
    example: { args: { limit: 5 } },
    run: (args, { store }) => listEntries(store, toQuery(args)),
  })

  app.route('GET', '/audit', {
    about:
      'Matching audit entries, newest first. The query parameters are the arguments of query_audit, and `filter`, such as `code:* tool:find -client:browser ms:>50`: fields app, tool, code, client, session, subject and ms; a word without a field is searched in all texts. With a filter, `next_before` can follow an incomplete page.',
    handle: async (request, _variables, { store }) =>
      Response.json(await listEntries(store, parseQuery(request))),
  })

  app.route('GET', '/audit.jsonl', {
    about: 'All matching audit entries as JSON lines, newest first.',
    handle: async (request, _variables, { store, signal }) => {
      const lines = streamLines(store, parseQuery(request), signal)
      const body = ReadableStream.from(lines).pipeThrough(new TextEncoderStream())
      return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
    },
  })
}

async function listEntries({ core }: CausewayStore, query: AuditQuery) {
  const { entries, next } = await core().audit.readPage(query)
  const failed = entries.filter(({ code }) => code !== 'ok').length
  const continuation = next === undefined ? '' : '; there are more before'
  return {
    entries: entries.map((entry) => stripId(entry, core().errors)),
    next_before: next ?? null,
    summary: `${entries.length} calls, ${failed} of them failed${continuation}.`,
  }
}

async function* streamLines({ core }: CausewayStore, query: AuditQuery, signal: AbortSignal) {
  let { before } = query
  while (!signal.aborted) {
    const { entries, next } = await core().audit.readPage({ ...query, before, limit: maxEntries })
    yield entries.map((entry) => `${JSON.stringify(stripId(entry, core().errors))}\n`).join('')
    if (next === undefined) return
    before = next
  }
}

const parseQuery = (request: Request): AuditQuery => toQuery(readQuery('audit', routeSchema, request))

export const readQuery = <T extends z.ZodObject>(owner: string, schema: T, { url }: Request): z.output<T> =>
  readArguments(owner, schema, Object.fromEntries(new URL(url).searchParams))

const toQuery = ({ since, until, ...rest }: z.output<typeof routeSchema>): AuditQuery => ({
  ...rest,
  ...(since === undefined ? {} : { since_ms: parseTime(since) }),
  ...(until === undefined ? {} : { until_ms: parseTime(until) }),
})

const stripId = ({ id: _, ...entry }: StoredEntry, errors: ErrorCatalog) => toRecord(entry, errors)

export const toRecord = (entry: AuditEntry, errors: ErrorCatalog): Readonly<Record<string, unknown>> =>
  toAuditRecord(entry, { timestamp: new Date(entry.at_ms).toISOString(), about: errors.describe(entry.code) })
