import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { CallEvent } from '../activity/call-activity.ts'
import type { CapturedJson } from '../activity/call-capture.ts'
import type { AuditQuery, StoredEntry } from '../audit/audit-store.ts'
import type { ErrorCatalog } from '../host/error-catalog.ts'
import { readQuery, toRecord } from './audit-tools.ts'
import type { CausewayStore, ServerParts } from './store.ts'

const maxFailures = 1000
const maxLogLines = 200

const errorsQuery = z.strictObject({
  app: z.string().optional(),
  tool: z.string().optional(),
  client: z.string().optional(),
})
const logLevel = z.coerce.number().int().min(10).max(60).default(10)
const logsQuery = z.strictObject({ level: logLevel, text: z.string().max(200).default('') })

export function addActivityRoutes(app: Registrar<CausewayStore, object>): void {
  app.route('GET', '/calls/events', {
    about:
      'Streams finished calls of tools, as query_audit lists them, with the console page that shows what they were about. Last-Event-ID resumes; `recent` starts with the latest.',
    handle: async (request, _variables, { store, signal }) => {
      const { activity, errors } = store.core()
      const { feed } = activity
      const toJson = (event: CallEvent) => toCallRecord(event, errors)
      return feed.stream(feed.parseId(request.headers.get('last-event-id')), { signal, toJson })
    },
  })

  app.route('GET', '/calls/errors', {
    about: `Groups the last ${maxFailures} failed calls by error code and tool, with the newest call of each group. Filters: app, tool, client.`,
    handle: async (request, _variables, { store }) =>
      Response.json(await groupErrors(store.core(), readQuery('errors', errorsQuery, request))),
  })

  app.route('GET', '/sessions', {
    about:
      'Lists sessions with their client and calls since the start of the server, and the open MCP sessions.',
    handle: async (_request, _variables, { store }) => {
      const { activity, openSessions } = store.core()
      return Response.json({
        sessions: activity.sessions,
        open: openSessions.flatMap((transport) => transport.list()),
      })
    },
  })

  app.route('DELETE', '/sessions/{session}', {
    about: 'Ends an open MCP session. Its client must initialize a new one.',
    handle: async (_request, { session = '' }, { store }) => {
      for (const transport of store.core().openSessions)
        if (await transport.end(session)) return new Response(null, { status: 204 })
      throw createSessionError('no open session has this name', session)
    },
  })

  app.route('GET', '/figures', {
    about:
      'Returns figures of the process over the last 15 minutes (event-loop delay, memory, calls), the sizes of the databases, and the number of open streams of calls and log lines.',
    handle: async (_request, _variables, { store }) => {
      const core = store.core()
      const streams = { calls: core.activity.feed.openStreams, logs: core.logTail.feed.openStreams }
      return Response.json({ samples: core.history.samples, stores: await core.measureStores(), streams })
    },
  })

  addLogRoutes(app)
  addCaptureRoutes(app)
}

/** Log lines can contain other clients' texts, so reading them requires the scope `write`. */
function addLogRoutes(app: Registrar<CausewayStore, object>): void {
  app.route('GET', '/logs', {
    about: `Returns the last ${maxLogLines} log lines since the start, oldest first. ?level= is the lowest level (10 to 60), ?text= a part of the line.`,
    scope: 'write',
    handle: async (request, _variables, { store }) => {
      const filter = readQuery('logs', logsQuery, request)
      return Response.json({ lines: store.core().logTail.find(filter, maxLogLines) })
    },
  })

  app.route('GET', '/logs/events', {
    about: 'Streams log lines as they are written. Last-Event-ID resumes.',
    scope: 'write',
    handle: async (request, _variables, { store, signal }) => {
      const { logTail } = store.core()
      const position = logTail.feed.parseId(request.headers.get('last-event-id'))
      return logTail.feed.stream(position, { signal, toJson: (line) => logTail.parse(line) })
    },
  })
}

const toCallRecord = ({ entry, view }: CallEvent, errors: ErrorCatalog) => ({
  ...toRecord(entry, errors),
  ...(view === undefined ? {} : { view }),
})

const createSessionError = (message: string, session: string): CausewayError =>
  new CausewayError('SESSION_NOT_FOUND', message, { retryable: false, data: { session } })

async function groupErrors(
  { audit, errors }: ServerParts,
  filter: Pick<AuditQuery, 'app' | 'tool' | 'client'>,
) {
  const failedCalls = await audit.query({ ...filter, code: 'failed', limit: maxFailures })
  const groups = Map.groupBy(failedCalls, ({ code, app, tool }) => `${code} ${app} ${tool}`)
  return {
    groups: [...groups.values()].sort((a, b) => b.length - a.length).map((group) => toGroup(group, errors)),
    examined: failedCalls.length,
    is_complete: failedCalls.length < maxFailures,
    since: toIsoTime(failedCalls.at(-1)),
  }
}

/** `entries`: newest first. */
function toGroup(entries: readonly StoredEntry[], errors: ErrorCatalog) {
  const { code, app, tool, request_id } = entries[0] as StoredEntry
  return {
    ...{ code, app, tool, message: errors.describe(code) },
    count: entries.length,
    clients: new Set(entries.map(({ client }) => client)).size,
    first: toIsoTime(entries.at(-1)),
    last: toIsoTime(entries[0]),
    request_id,
  }
}

const toIsoTime = (entry: StoredEntry | undefined): string | null =>
  entry === undefined ? null : new Date(entry.at_ms).toISOString()

function addCaptureRoutes(app: Registrar<CausewayStore, object>): void {
  app.route('POST', '/sessions/{session}/capture', {
    about:
      'Keeps arguments and answers of the calls of a session in memory, for ten minutes and at most the last 100 calls. Ends the capture of another session.',
    handle: async (_request, { session = '' }, { store }) => {
      const { activity, capture } = store.core()
      if (!activity.sessions.some((candidate) => candidate.session === session))
        throw createSessionError('no session with this name called a tool', session)
      capture.start(session)
      return Response.json({ capture: capture.state })
    },
  })

  app.route('DELETE', '/capture', {
    about: 'Ends the capture and deletes what it kept.',
    handle: async (_request, _variables, { store }) => {
      store.core().capture.stop()
      return new Response(null, { status: 204 })
    },
  })

  app.route('GET', '/capture/calls/{request}', {
    about:
      'Returns the arguments and the answer of a captured call, or only the length of what is longer than 100,000 characters; `null` if the call was not captured.',
    scope: 'write',
    handle: async (_request, { request = '' }, { store }) => {
      const call = store.core().capture.find(request)
      if (call === undefined) return Response.json({ call: null })
      return Response.json({
        call: { arguments: parse(call.arguments), answer: parse(call.answer) },
      })
    },
  })
}

const parse = ({ chars, json }: CapturedJson) =>
  json === undefined ? { chars } : { chars, value: JSON.parse(json) as unknown }
