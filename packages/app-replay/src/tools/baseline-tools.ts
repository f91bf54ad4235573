import { CausewayError } from '@causeway/protocol'
import type { Recording } from '@causeway/recording'
import { z } from 'zod'
import {
  checkInvariants,
  type Invariants,
  invariantsSchema,
  listInvariantSeries,
  measureInvariants,
  summarizeVerdicts,
} from '../domain/recordings/invariants.ts'
import { formatCount } from '../domain/sentence.ts'
import { parseSeriesName } from '../domain/series/series-name.ts'
import { diagnose } from '../session/diagnose.ts'
import { readSeries } from '../session/series.ts'
import type { ReplayContext } from '../session/session.ts'
import { maxBookmarks } from '../store/notebook.ts'
import { type Registration, recordingTool } from './recording-tool.ts'

/** Default relative excess of later runs over the figures of a good run. */
const defaultMargin = 0.1

/** Limited, because every answer contains all notes of the recording. */
const maxNoteLength = 4000

export const baselineTools: readonly Registration[] = [
  recordingTool('bookmark', {
    title: 'Bookmark frame',
    about: 'Add a note to a frame, remove one, or list the bookmarks.',
    searchHint: 'note, remember, comment on frame',
    hints: { idempotent: false, destructive: false },
    input: {
      frame_id: z.int().optional().describe('Frame of the note'),
      note: z.string().optional().describe('Text'),
      remove: z.int().optional().describe('Bookmark id'),
    },
    example: { args: { recording: 'slide_at_45', frame_id: 45, note: 'body 1 begins to slide' } },
    async run({ frame_id, note, remove }, { recording, ctx }) {
      if ((frame_id === undefined) !== (note === undefined))
        throw createArgumentError(
          frame_id === undefined ? 'frame_id' : 'note',
          'frame_id and note are used together',
        )
      if (note !== undefined && note.length > maxNoteLength)
        throw createArgumentError('note', `has more than ${maxNoteLength} characters`)
      const { notebook } = ctx.store
      const { id } = recording.identity
      const request = createRequestKey(ctx, { id, frame_id, note, remove })
      if (frame_id !== undefined && note !== undefined) {
        await recording.frame(frame_id)
        const isAdded = await notebook.addBookmark(`${request} add`, { recording: id, frame_id, note })
        if (!isAdded)
          throw createArgumentError('note', `${id} has ${maxBookmarks} bookmarks; remove some first`)
      }
      if (remove !== undefined && !(await notebook.removeBookmark(`${request} remove`, id, remove)))
        throw createArgumentError('remove', `${id} has no bookmark ${remove}`)
      const bookmarks = await notebook.listBookmarks(id)
      return { bookmarks, summary: `${formatCount(bookmarks.length, 'bookmark')} on ${id}.` }
    },
  }),

  recordingTool('save_baseline', {
    title: 'Save baseline',
    about: 'Save the figures of a good run as limits for future runs. Check each run with assert_invariants.',
    searchHint: 'keep as reference',
    hints: { idempotent: true, destructive: true },
    input: {
      name: z.string().describe('Name of the baseline'),
      margin: z.number().optional().describe('Allowed excess. Default: 0.1'),
      invariants: z.unknown().optional().describe('More limits'),
    },
    example: { args: { recording: 'drop', name: 'drop-is-fine' } },
    async run({ name, margin = defaultMargin, invariants: more }, { recording, ctx }) {
      const columns = await readInvariantSeries(recording, ctx)
      const measured = measureInvariants(columns, listBodyIds(recording), Math.max(0, margin))
      const invariants = { ...measured.invariants, ...parseInvariants(more ?? {}) }
      const { id } = recording.identity
      const request = createRequestKey(ctx, { name, id, margin, more })
      await ctx.store.notebook.saveBaseline(request, { name, recording: id, invariants })
      const { infiniteNames } = measured
      const infinite =
        infiniteNames.length === 0
          ? ''
          : ` Not limited, because the value is infinite: ${infiniteNames.join(', ')}.`
      const summary = `Saved baseline ${name} of ${id} with ${Object.keys(invariants).join(', ')}.${infinite}`
      return { name, invariants, summary }
    },
  }),

  recordingTool('assert_invariants', {
    title: 'Assert invariants',
    about:
      'Check a run against limits or a baseline and return which hold: max_energy_drift, max_injection_j, never_below (z or {body: z}), rest_by {frame, speed?, body?}, max_penetration_m, no_cone_violation: true, no_findings: error|warning.',
    searchHint: 'limits, regression test',
    input: {
      invariants: z.unknown().optional().describe('Limits by name'),
      baseline: z.string().optional().describe('Saved baseline'),
    },
    example: { args: { recording: 'drop', invariants: { never_below: 0, max_penetration_m: 0.05 } } },
    async run({ invariants: requestedInvariants, baseline }, { recording, range, ctx }) {
      const savedInvariants = baseline === undefined ? {} : await loadBaseline(baseline, ctx)
      const invariants = { ...savedInvariants, ...parseInvariants(requestedInvariants ?? {}) }
      if (Object.keys(invariants).length === 0)
        throw createArgumentError('invariants', 'name at least one invariant, or a baseline')
      const needsFindings = invariants.no_cone_violation !== undefined || invariants.no_findings !== undefined
      const diagnosis = needsFindings ? await diagnose(recording, range({}), ctx) : undefined
      const verdicts = checkInvariants(invariants, await readInvariantSeries(recording, ctx), {
        bodies: listBodyIds(recording),
        capabilities: recording.summary.capabilities,
        findings: diagnosis?.findings ?? [],
      })
      const coverage = {
        checked: diagnosis?.coverage.checked ?? [],
        not_applicable: diagnosis?.coverage.not_applicable ?? [],
        not_checked: diagnosis?.coverage.not_checked ?? [],
      }
      return {
        passed: verdicts.every(({ passed }) => passed),
        verdicts,
        baseline: baseline ?? null,
        ...coverage,
        summary: summarizeVerdicts(verdicts, invariants.no_findings === undefined ? null : coverage),
      }
    },
  }),
]

const createRequestKey = ({ requestId }: ReplayContext, args: object): string =>
  `${requestId} ${JSON.stringify(args)}`

const listBodyIds = ({ summary }: Recording) => summary.appearances.map(({ body_id }) => body_id)

function readInvariantSeries(recording: Recording, ctx: ReplayContext) {
  const names = listInvariantSeries(listBodyIds(recording))
  const plans = names.map((name) => parseSeriesName(name, recording.resolveBody))
  return readSeries(recording, { plans, range: { start: null, end: null } }, ctx)
}

async function loadBaseline(name: string, { store }: ReplayContext): Promise<Invariants> {
  const baseline = await store.notebook.findBaseline(name)
  if (baseline !== undefined) return parseInvariants(baseline.invariants)
  throw new CausewayError('INVALID_ARGUMENTS', `no baseline ${name}`, {
    remedy: 'call save_baseline on a good run first',
    data: {
      problems: [{ argument: 'baseline', problem: 'is not saved' }],
      known: await store.notebook.listBaselines(),
    },
  })
}

function parseInvariants(value: unknown): Invariants {
  const parsed = invariantsSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => ({
    argument: ['invariants', ...path].join('.'),
    problem: message,
  }))
  throw new CausewayError('INVALID_ARGUMENTS', `invariants: ${problems[0]?.problem ?? 'invalid'}`, {
    data: { problems, known: Object.keys(invariantsSchema.shape) },
  })
}

const createArgumentError = (argument: string, problem: string): CausewayError =>
  new CausewayError('INVALID_ARGUMENTS', problem, { data: { problems: [{ argument, problem }] } })
