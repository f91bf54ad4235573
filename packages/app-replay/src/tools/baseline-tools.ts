/** What a session leaves behind: notes on frames, and limits that later runs must keep. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Recording } from '@causeway/recording'
import { z } from 'zod'
import { diagnose } from '../diagnose.ts'
import { frameRange } from '../domain/frame-range.ts'
import {
  type Invariants,
  invariantSeries,
  invariantsSchema,
  judge,
  measured,
  verdictSummary,
} from '../domain/invariants.ts'
import { count } from '../domain/sentence.ts'
import { parseSeriesName } from '../domain/series-name.ts'
import { opened, type ReplayContext, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { readSeries } from './series-tools.ts'
import { hints, recordingArgument, stamp } from './shape.ts'

/** Room above and below the figures of a good run, as a share of them. */
const usualMargin = 0.1

/** Characters of a note; every answer lists all notes of the recording. */
const maxNoteLength = 4000

const writes = { idempotent: true, destructive: false }

/** Declares bookmark, save_baseline and assert_invariants. */
export function baselineTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('bookmark', {
    about: 'Adds or removes a note on a frame, and lists all.',
    hints: { ...writes, idempotent: false },
    input: {
      frame_id: z.int().optional().describe('frame'),
      note: z.string().optional().describe('text'),
      remove: z.int().optional().describe('id to remove'),
      ...recordingArgument,
    },
    output: stamp,
    example: { args: { recording: 'slide_at_45', frame_id: 45, note: 'body 1 begins to slide' } },
    async run({ frame_id, note, remove, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      if ((frame_id === undefined) !== (note === undefined))
        throw invalid(frame_id === undefined ? 'frame_id' : 'note', 'frame_id and note go together')
      if (note !== undefined && note.length > maxNoteLength)
        throw invalid('note', `has more than ${maxNoteLength} characters`)
      const { notebook } = ctx.store
      const { id } = recording.identity
      const request = requestOf(ctx, { id, frame_id, note, remove })
      if (frame_id !== undefined && note !== undefined) {
        await recording.frame(frame_id)
        await notebook.addBookmark(`${request} add`, { recording: id, frame_id, note })
      }
      if (remove !== undefined && !(await notebook.removeBookmark(`${request} remove`, id, remove)))
        throw invalid('remove', `${id} has no bookmark ${remove}`)
      const bookmarks = await notebook.bookmarks(id)
      return { ...stamp, bookmarks, summary: `${count(bookmarks.length, 'bookmark')} on ${id}.` }
    },
  })

  app.tool('save_baseline', {
    about: 'Keeps the figures of a good run for assert_invariants.',
    hints: { ...writes, destructive: true },
    input: {
      name: z.string().describe('new name'),
      margin: z.number().optional().describe('default 0.1'),
      invariants: z.unknown().optional().describe('more of them'),
      ...recordingArgument,
    },
    output: stamp,
    example: { args: { recording: 'drop', name: 'drop-is-fine' } },
    async run({ name, margin = usualMargin, invariants: more, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const bodies = bodiesOf(recording)
      const columns = await figures(recording, ctx)
      const invariants = { ...measured(columns, bodies, Math.max(0, margin)), ...readInvariants(more ?? {}) }
      const { notebook } = ctx.store
      const { id } = recording.identity
      await notebook.saveBaseline(requestOf(ctx, { name, id, margin, more }), {
        name,
        recording: id,
        invariants,
      })
      const kept = Object.keys(invariants)
      return { ...stamp, name, invariants, summary: `Baseline ${name} of ${id} keeps ${kept.join(', ')}.` }
    },
  })

  app.tool('assert_invariants', {
    about:
      'Pass or fail of each: max_energy_drift, max_injection_j, never_below (z or {body: z}), rest_by {frame, speed?, body?}, max_penetration_m, no_cone_violation: true, no_findings: error|warning.',
    hints,
    input: {
      invariants: z.unknown().optional().describe('of them'),
      baseline: z.string().optional().describe('or a saved one'),
      ...recordingArgument,
    },
    output: { ...stamp, passed: z.boolean() },
    example: { args: { recording: 'drop', invariants: { never_below: 0, max_penetration_m: 0.05 } } },
    async run({ invariants: given, baseline, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const kept = baseline === undefined ? {} : await baselineOf(baseline, ctx)
      const invariants = { ...kept, ...readInvariants(given ?? {}) }
      if (Object.keys(invariants).length === 0)
        throw invalid('invariants', 'name at least one, or a baseline')
      const needsLaws = invariants.no_cone_violation !== undefined || invariants.no_findings !== undefined
      const { findings } = needsLaws
        ? await diagnose(recording, frameRange({}, recording.summary.frames), ctx)
        : { findings: [] }
      const verdicts = judge(invariants, await figures(recording, ctx), {
        bodies: bodiesOf(recording),
        capabilities: recording.summary.capabilities,
        findings,
      })
      return {
        ...stamp,
        passed: verdicts.every(({ passed }) => passed),
        verdicts,
        baseline: baseline ?? null,
        summary: verdictSummary(verdicts),
      }
    },
  })
}

/** Names a change: a repeat has the same request id and the same arguments. */
const requestOf = ({ requestId }: ReplayContext, args: object): string =>
  `${requestId} ${JSON.stringify(args)}`

const bodiesOf = ({ summary }: Recording) => summary.appearances.map(({ body_id }) => body_id)

function figures(recording: Recording, ctx: ReplayContext) {
  const names = invariantSeries(bodiesOf(recording))
  const plans = names.map((name) => parseSeriesName(name, recording.resolveBody))
  return readSeries(recording, plans, { start: null, end: null }, ctx)
}

async function baselineOf(name: string, { store }: ReplayContext): Promise<Invariants> {
  const found = await store.notebook.baseline(name)
  if (found !== undefined) return readInvariants(found.invariants)
  const known = await store.notebook.baselines()
  throw new CausewayError('INVALID_ARGUMENTS', `no baseline ${name}`, {
    remedy: 'call save_baseline on a good run first',
    data: { problems: [{ argument: 'baseline', problem: 'is not saved' }], known },
  })
}

function readInvariants(given: unknown): Invariants {
  const parsed = invariantsSchema.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => ({
    argument: ['invariants', ...path].join('.'),
    problem: message,
  }))
  throw new CausewayError('INVALID_ARGUMENTS', `invariants: ${problems[0]?.problem ?? 'not understood'}`, {
    data: { problems, known: Object.keys(invariantsSchema.shape) },
  })
}

const invalid = (argument: string, problem: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', problem, { data: { problems: [{ argument, problem }] } })
