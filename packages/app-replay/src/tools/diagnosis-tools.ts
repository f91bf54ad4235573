import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { StallsResult } from '../analysis/events.ts'
import { paginate } from '../domain/cursor.ts'
import { summarizeDiagnosis, toRankedRow } from '../domain/findings/finding-view.ts'
import { formatCount, formatList, formatNumber } from '../domain/sentence.ts'
import { toPoints } from '../domain/series/columns.ts'
import { describePart, selectSeriesPart } from '../domain/series/series.ts'
import { judgeConvergence, summarizeConvergence } from '../domain/steps/convergence.ts'
import { eventKinds, type TimelineEvent } from '../domain/steps/timeline.ts'
import { diagnose } from '../session/diagnose.ts'
import { checkRange, type RangeCheck } from './range-check.ts'
import {
  maxRunsShown,
  pageArguments,
  type RecordingCall,
  type Registration,
  rangeArguments,
  recordingTool,
  rows,
  runArguments,
} from './recording-tool.ts'

/** Number of findings in an answer by default: they fit in 2 kB. */
const defaultFindings = 4

interface LawCheck extends RangeCheck {
  readonly example: string
}

const lawNames = ['momentum', 'tunnelling', 'jitter', 'restitution', 'numerics'] as const

const lawChecks: Readonly<Record<(typeof lawNames)[number], LawCheck>> = {
  momentum: {
    about: 'the balance of momentum and energy',
    laws: ['balance', 'budget', 'reaction', 'impulse', 'unit', 'frictionWork', 'spin'],
    kinds: [
      ...([
        'momentum',
        'energy_injection',
        'energy_drift',
        'dissipation_without_contact',
        'blow_up',
      ] as const),
      ...(['unequal_reaction', 'missing_reaction', 'invalid_impulse', 'attractive_impulse'] as const),
      ...(['unit_mismatch', 'friction_energy', 'angular_momentum', 'unexplained_acceleration'] as const),
    ],
    example: 'energy_injection',
  },
  tunnelling: {
    about: 'the impenetrability of bodies',
    laws: ['tunnelling', 'overlap'],
    kinds: ['tunnelling', 'missing_contact', 'contact_gap'],
    example: 'tunnelling',
  },
  jitter: {
    about: 'the law of rest',
    laws: ['rest', 'chatter', 'normal'],
    kinds: ['jitter', 'creep', 'contact_chatter', 'normal_flip'],
    example: 'stack',
  },
  restitution: {
    about: "Newton's law of impact",
    laws: ['restitution'],
    kinds: ['restitution'],
    example: 'drop',
  },
  numerics: {
    about: 'the consistency of numbers, clock and frame ids',
    laws: ['record', 'body', 'energyRow', 'teleport', 'rotation'],
    kinds: [
      ...(['nan', 'quaternion_norm', 'teleport', 'frozen_time', 'nonuniform_dt', 'missing_frames'] as const),
      ...(['velocity_mismatch', 'frozen_orientation', 'spin_mismatch', 'unit_mismatch'] as const),
      ...(['invalid_mass', 'invalid_body_id', 'duplicate_state', 'energy_rows'] as const),
    ],
    example: 'nan',
  },
}

type LawArguments = z.output<z.ZodObject<typeof runArguments>>

function checkLaw(
  { cursor, ...bounds }: LawArguments,
  { recording, range, ctx }: RecordingCall,
  check: LawCheck,
) {
  return checkRange(recording, range(bounds), { ...check, cursor }, ctx)
}

const countBy = (kinds: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

export const diagnosisTools: readonly Registration[] = [
  recordingTool('diagnose', {
    title: 'Diagnose recording',
    about:
      'Check the laws of physics that the data allows and return ranked findings, causes first, each with frames, bodies and evidence_calls. Start here to find out what is wrong with a recording.',
    input: {
      start_frame: runArguments.start_frame,
      end_frame: runArguments.end_frame,
      max_findings: z.int().min(1).max(200).default(defaultFindings).describe('Maximum findings'),
    },
    output: { findings: rows() },
    task: 'optional',
    example: { args: { recording: 'energy_injection' } },
    async run({ max_findings, ...bounds }, { recording, range, ctx }) {
      const { findings, ...diagnosis } = await diagnose(recording, range(bounds), ctx)
      return {
        frames_checked: diagnosis.frames,
        findings: findings.slice(0, max_findings).map((one) => toRankedRow(one, diagnosis.names)),
        count: findings.length,
        counts: countBy(findings.map(({ kind }) => kind)),
        truncated: findings.length > max_findings,
        ...diagnosis.coverage,
        summary: summarizeDiagnosis(findings, diagnosis),
      }
    },
  }),

  recordingTool('check_law', {
    title: 'Check law',
    about:
      'Check one law over frames and return every run that breaks it: momentum (and energy) without a cause, tunnelling through bodies, jitter (creep, chatter, jumping normals), restitution of bounces, numerics (NaN, quaternions, jumps, clock). Use diagnose for all laws.',
    input: { law: z.enum(lawNames).describe('Law to check'), ...runArguments },
    output: {},
    example: { args: { recording: 'energy_injection', law: 'momentum' } },
    run: ({ law, ...args }, call) => checkLaw(args, call, lawChecks[law]),
  }),

  ...lawNames.map((law) =>
    recordingTool(`check_${law}`, {
      title: `Check ${law}`,
      about: `Check one law over the frames: check_law with law "${law}".`,
      unlisted: true,
      input: runArguments,
      output: {},
      example: { args: { recording: lawChecks[law].example } },
      run: (args, call) => checkLaw(args, call, lawChecks[law]),
    }),
  ),
]

export const eventTools: readonly Registration[] = [
  recordingTool('timeline', {
    title: 'List events',
    about:
      'List the events of a recording in frame order: contacts, impacts (N·s), rest, sliding, energy injection, non-convergence, deepest penetration, tunnelling. Use it to learn what happens when.',
    input: {
      ...runArguments,
      kinds: z.array(z.string()).optional().describe('Event kinds to return'),
    },
    output: {},
    example: { args: { recording: 'drop' } },
    async run({ cursor, kinds, ...bounds }, { recording, range, ctx }) {
      validateKinds(kinds)
      const args = { range: range(bounds) }
      const found = await recording.analyse<readonly TimelineEvent[]>('events', args, ctx)
      const events = found.filter(({ kind }) => kinds === undefined || kinds.includes(kind))
      const { items, next_cursor } = paginate(events, (_, index) => index, { cursor, limit: maxRunsShown })
      const counts = countBy(events.map(({ kind }) => kind))
      const listed = Object.entries(counts).map(([kind, n]) => `${n} ${kind}`)
      return {
        events: items,
        count: events.length,
        counts,
        truncated: items.length < events.length,
        next_cursor,
        summary: `${formatCount(events.length, 'event')}${listed.length > 0 ? `: ${listed.join(', ')}` : ''}.`,
      }
    },
  }),

  recordingTool('find_solver_stalls', {
    title: 'Find solver stalls',
    about:
      'Find where the solver failed to converge: runs of frames, residual and its growth, whether the iteration limit was reached, bodies, mass ratio.',
    input: runArguments,
    output: {},
    needs: ['solver'],
    example: { args: { recording: 'solver_stall' } },
    async run({ cursor, ...bounds }, { recording, range, ctx }) {
      const args = { range: range(bounds) }
      const { stalls, judged, iterations_cap } = await recording.analyse<StallsResult>('stalls', args, ctx)
      const { items, next_cursor } = paginate(stalls, (_, index) => index, { cursor, limit: maxRunsShown })
      const [first] = stalls
      return {
        runs: items,
        count: stalls.length,
        frames_judged: judged,
        iterations_cap,
        truncated: items.length < stalls.length,
        next_cursor,
        summary:
          first === undefined
            ? `The solver converged in every frame with constraints (${judged}).`
            : `${formatCount(stalls.length, 'stall')} in ${formatCount(judged, 'frame')} with constraints. First: frames ${first.frames.first} to ${first.frames.last}, bodies ${formatList(first.bodies)}, residual ${formatNumber(first.residual)}, mass ratio ${formatNumber(first.mass_ratio)}.`,
      }
    },
  }),

  recordingTool('get_solver_diagnostics', {
    title: 'Get solver diagnostics',
    about:
      'Return iterations, residual and convergence of the solver over frames. Convergence is judged only in frames with constraints.',
    input: { ...rangeArguments, ...pageArguments },
    output: { diagnostics: rows() },
    example: { args: { recording: 'solver_stall' } },
    async run({ cursor, max_points, ...bounds }, { recording, range }) {
      const solver = await recording.solver(range(bounds))
      const { rows, ...part } = selectSeriesPart(solver, 'residual', { cursor, limit: max_points })
      const verdict = judgeConvergence(solver)
      const { not_converged } = verdict
      return {
        diagnostics: toPoints(solver, rows, ['converged']),
        ...part,
        ...verdict,
        not_converged: not_converged.slice(0, max_points),
        not_converged_count: not_converged.length,
        summary: summarizeConvergence(`${formatCount(solver.length, 'frame')}${describePart(part)}`, verdict),
      }
    },
  }),
]

/** Throws `INVALID_ARGUMENTS` for an unknown kind of event. */
function validateKinds(kinds: readonly string[] = []): void {
  const unknown = kinds.find((kind) => !(eventKinds as readonly string[]).includes(kind))
  if (unknown === undefined) return
  throw new CausewayError('INVALID_ARGUMENTS', `not a kind of event: ${unknown}`, {
    data: { problems: [{ argument: 'kinds', problem: `is not one of ${eventKinds.join(', ')}` }] },
  })
}
