/** SQL over a recording, for questions that no tool foresaw. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { friendlyViews, type Recording, type SqlQuestion } from '@causeway/recording'
import type { Caller } from '@causeway/worker'
import { z } from 'zod'
import { count } from '../domain/sentence.ts'
import { opened, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { defaultPoints, hints, recordingArgument, stamp } from './shape.ts'

/** Most bytes of the rows of an answer, as JSON. */
const mostBytes = 50_000
const mostRows = 2000

/** Longest time that a query may ask for, s. */
const longestS = 30
const usualS = 5

/** Declares query_sql and the resource that describes the tables. */
export function queryTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('query_sql', {
    about:
      'One SELECT over v_frame, v_state, v_contact, v_friction, v_energy, v_solver, v_body; columns: schema resource.',
    hints,
    input: {
      sql: z.string().describe('SQLite'),
      params: z.unknown().optional().describe('list or object'),
      limit: z.int().optional().describe('most rows'),
      timeout_s: z.number().optional().describe('to 30'),
      ...recordingArgument,
    },
    output: stamp,
    example: {
      args: {
        recording: 'slide_at_45',
        sql: 'SELECT frame_id, speed FROM v_state WHERE speed > ?',
        params: [0.5],
      },
    },
    async run({ sql, params, limit = defaultPoints, timeout_s = usualS, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const question = {
        sql,
        params: parameters(params),
        limit: Math.min(Math.max(limit, 1), mostRows),
        bytes: mostBytes,
        deadlineMs: Math.min(Math.max(timeout_s, 0.1), longestS) * 1000,
      }
      const { columns, rows, cut_by } = await answered(recording, question, {
        client: ctx.clientKey,
        signal: ctx.signal,
      })
      const cut = { rows: `; more than the limit of ${question.limit}`, bytes: '; cut at 50 kB' }
      return {
        ...stamp,
        columns,
        rows,
        row_count: rows.length,
        truncated: cut_by !== null,
        truncated_by: cut_by,
        summary: `${count(rows.length, 'row')} of ${columns.join(', ')}${cut_by === null ? '' : cut[cut_by]}.`,
      }
    },
  })

  app.resource('replay://recordings/{recording}/schema', {
    name: 'recording schema',
    about: 'Views and tables of a recording that query_sql can read.',
    async read({ recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      return { json: { ...stamp, views: friendlyViews, tables: await recording.tables() } }
    },
  })
}

/** The answer; a statement that is refused is told with the columns that there are. */
async function answered(recording: Recording, question: SqlQuestion, caller: Caller) {
  try {
    return await recording.query(question, caller)
  } catch (error) {
    if (!isCausewayError(error) || error.code !== 'INVALID_QUERY') throw error
    const views = Object.fromEntries(friendlyViews.map(({ name, columns }) => [name, columns.join(', ')]))
    throw new CausewayError(error.code, error.message, {
      remedy: error.remedy,
      data: { ...error.data, views },
    })
  }
}

const value = z.union([z.number(), z.string(), z.null(), z.boolean().transform(Number)])
const parameterSchema = z.union([z.array(value), z.record(z.string(), value)]).default([])

/** Throws `INVALID_ARGUMENTS` for anything but a list or an object of plain values. */
function parameters(given: unknown): SqlQuestion['params'] {
  const parsed = parameterSchema.safeParse(given ?? undefined)
  if (parsed.success) return parsed.data
  throw new CausewayError(
    'INVALID_ARGUMENTS',
    'params must be a list or an object of numbers, texts and nulls',
    {
      data: { problems: [{ argument: 'params', problem: 'is not a list or object of plain values' }] },
    },
  )
}
