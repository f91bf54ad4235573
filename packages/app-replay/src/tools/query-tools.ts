import { CausewayError, reviseError } from '@causeway/protocol'
import { friendlyViews, RecordingError, type SqlQuery } from '@causeway/recording'
import { z } from 'zod'
import { formatCount } from '../domain/sentence.ts'
import { openRecording } from '../session/session.ts'
import { defaultPoints, maxPoints, type Registration, recordingTool } from './recording-tool.ts'

/** Maximum size of an answer's rows in bytes of JSON. */
const maxBytes = 50_000

const defaultTimeoutS = 5
const maxTimeoutS = 30

export const queryTools: readonly Registration[] = [
  recordingTool('query_sql', {
    title: 'Query with SQL',
    about:
      'Run one SELECT over v_frame, v_state, v_contact, v_friction, v_energy, v_solver and v_body (columns: schema resource). Use it when no other tool fits.',
    searchHint: 'own database query',
    input: {
      sql: z.string().describe('SELECT statement (SQLite)'),
      params: z.unknown().optional().describe('List or object'),
      limit: z.int().optional().describe('Maximum rows'),
      timeout_s: z.number().optional().describe('At most 30'),
    },
    example: {
      args: {
        recording: 'slide_at_45',
        sql: 'SELECT frame_id, speed FROM v_state WHERE speed > ?',
        params: [0.5],
      },
    },
    async run({ sql, params, limit = defaultPoints, timeout_s = defaultTimeoutS }, { recording, ctx }) {
      const query = {
        sql,
        params: parseParameters(params),
        limit: Math.min(Math.max(limit, 1), maxPoints),
        bytes: maxBytes,
        deadlineMs: Math.min(Math.max(timeout_s, 0.1), maxTimeoutS) * 1000,
      }
      const caller = { client: ctx.clientKey, signal: ctx.signal }
      const { columns, rows, cut_by } = await recording.query(query, caller).catch(addViews)
      const reason = { rows: `: limit of ${query.limit} rows`, bytes: ': limit of 50 kB' }
      return {
        columns,
        rows,
        row_count: rows.length,
        truncated: cut_by !== null,
        truncated_by: cut_by,
        summary: `${formatCount(rows.length, 'row')} of ${columns.join(', ')}${cut_by === null ? '' : `, truncated${reason[cut_by]}`}.`,
      }
    },
  }),

  (app) =>
    app.resource('replay://recordings/{recording}/schema', {
      name: 'recording schema',
      about: 'Views and tables of a recording that query_sql can read.',
      async read({ recording: idOrPath }, ctx) {
        const { recording, stamp } = await openRecording(ctx, idOrPath)
        return { json: { ...stamp, views: friendlyViews, tables: await recording.tables() } }
      },
    }),
]

function addViews(error: unknown): never {
  if (!RecordingError.is(error, 'INVALID_QUERY')) throw error
  const views = Object.fromEntries(friendlyViews.map(({ name, columns }) => [name, columns.join(', ')]))
  throw reviseError(error, { data: { ...error.data, views } })
}

const value = z.union([z.number(), z.string(), z.null(), z.boolean().transform(Number)])
const parameterSchema = z.union([z.array(value), z.record(z.string(), value)]).default([])

/** Throws `INVALID_ARGUMENTS` unless the parameters are a list or an object of plain values. */
function parseParameters(params: unknown): SqlQuery['params'] {
  const parsed = parameterSchema.safeParse(params ?? undefined)
  if (parsed.success) return parsed.data
  throw new CausewayError(
    'INVALID_ARGUMENTS',
    'params must be a list or an object of numbers, texts and nulls',
    {
      data: { problems: [{ argument: 'params', problem: 'is not a list or object of plain values' }] },
    },
  )
}
