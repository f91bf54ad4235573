/** The audit, for models and for scripts: who called what, and how it went. */
import { type Registrar, readArguments } from '@causeway/app-kit'
import { z } from 'zod'
import type { AuditQuery } from '../audit/audit-store.ts'
import { auditInput, auditQuery, shownEntry } from './audit-query.ts'
import type { Own } from './own.ts'

const arguments_ = z.strictObject(auditInput)

/** Entries that are read at once for an export. */
const page = 200

/** `query_audit`, and the same by plain HTTP: `GET /audit`, and `GET /audit.jsonl` for all of it. */
export function auditTools(app: Registrar<Own, object>): void {
  app.tool('query_audit', {
    about:
      'Tool calls of every client, newest first: when, which tool, how long, ok or which error, what about. No arguments or answers are kept.',
    input: auditInput,
    output: {
      entries: z.array(z.record(z.string(), z.unknown())),
      next_before: z.int().nullable(),
      summary: z.string(),
    },
    hints: { readOnly: true },
    example: { args: { limit: 5 } },
    run: (args, { store }) => answer(store, auditQuery(args)),
  })

  app.route('GET', '/audit', {
    about:
      'The entries of the audit that fit the query, newest first; the query has the members of query_audit.',
    handle: async (request, _variables, { store }) => Response.json(await answer(store, queryOf(request))),
  })

  app.route('GET', '/audit.jsonl', {
    about: 'All entries that fit the query as JSON lines, newest first.',
    handle: async (request, _variables, { store, signal }) => {
      const lines = exported(store, queryOf(request), signal)
      const body = ReadableStream.from(lines).pipeThrough(new TextEncoderStream())
      return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
    },
  })
}

async function answer({ core }: Own, query: AuditQuery) {
  const entries = await core().audit(query)
  const failed = entries.filter(({ code }) => code !== 'ok').length
  const last = entries.at(-1)
  const hasMore = entries.length === query.limit && last !== undefined
  return {
    entries: entries.map(shownEntry),
    next_before: hasMore ? last.id : null,
    summary: `${entries.length} calls, ${failed} of them failed${hasMore ? '; there are more before' : ''}.`,
  }
}

async function* exported({ core }: Own, query: AuditQuery, signal: AbortSignal) {
  let { before } = query
  while (!signal.aborted) {
    const entries = await core().audit({ ...query, before, limit: page })
    yield entries.map((entry) => `${JSON.stringify(shownEntry(entry))}\n`).join('')
    before = entries.at(-1)?.id
    if (entries.length < page) return
  }
}

const queryOf = ({ url }: Request): AuditQuery =>
  auditQuery(readArguments('audit', arguments_, Object.fromEntries(new URL(url).searchParams)))
