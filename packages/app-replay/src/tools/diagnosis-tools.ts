import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { StallsResult } from '../analysis/events.ts'
import { type BodyNames, listRecordedNames, nameBodies } from '../domain/bodies/body-names.ts'
import { paginate } from '../domain/cursor.ts'
import { summarizeDiagnosis, toRankedRow } from '../domain/findings/finding-view.ts'
import { formatCount, formatFrames, formatNumber } from '../domain/sentence.ts'
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

/** Four findings fit into 2 kB. */
const defaultFindings = 4
const clampFindings = (findings: number): number => Math.min(Math.max(findings, 1), 200)

interface LawCheck extends RangeCheck {
  readonly example: string
}

const lawNames = ['momentum', 'tunnelling', 'jitter', 'restitution', 'numerics', 'joints'] as const

const lawChecks: Readonly<Record<(typeof lawNames)[number], LawCheck>> = {
  momentum: {
    about: 'the balance of momentum and energy',
    laws: [
      'balance',
      'budget',
      'reaction',
      'collision',
      'impulse',
      'unit',
      'frictionWork',
      'sliding',
      'spin',
    ],
    kinds: [
      ...([
        'momentum',
        'energy_injection',
        'energy_drift',
        'dissipation_without_contact',
        'blow_up',
      ] as const),
      ...(['unequal_reaction', 'missing_reaction', 'invalid_impulse', 'attractive_impulse'] as const),
      ...(['unit_mismatch', 'friction_energy', 'friction_lost', 'angular_momentum'] as const),
      'unexplained_acceleration',
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
  joints: {
    about: 'the law of joints',
    laws: ['joint'],
    kinds: ['joint_drift'],
    example: 'drop',
  },
}

type LawArguments = z.output<z.ZodObject<typeof runArguments>> & { readonly limit?: number | undefined }

function checkLaw(
  { cursor, limit, ...bounds }: LawArguments,
  { recording, range, ctx }: RecordingCall,
  check: LawCheck,
) {
  return checkRange(recording, range(bounds), { ...check, cursor, limit }, ctx)
}

const countEach = (kinds: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

export const diagnosisTools: readonly Registration[] = [
  recordingTool('diagnose', {
    title: 'Diagnose recording',
    about:
      'Check the laws of physics and return ranked findings, causes first, with frames, bodies and evidence_calls. Start here when a run is wrong.',
    searchHint: 'what is wrong, bug, debug, conserved, through wall, became NaN',
    input: {
      start_frame: runArguments.start_frame,
      end_frame: runArguments.end_frame,
      law: z.enum(lawNames).optional().describe('Only these laws, in frame order'),
      max_findings: z.int().overwrite(clampFindings).optional().describe('Default: 4; with law 50'),
    },
    task: 'optional',
    isCore: true,
    alwaysLoad: true,
    widget: 'series',
    example: { args: { recording: 'energy_injection' } },
    async run({ law, max_findings: limit, ...bounds }, call) {
      const { recording, range, ctx } = call
      if (law !== undefined) {
        const { runs, next_cursor, ...answer } = await checkLaw({ ...bounds, limit }, call, lawChecks[law])
        return { findings: runs, ...answer }
      }
      const max_findings = limit ?? defaultFindings
      const { findings, ...diagnosis } = await diagnose(recording, range(bounds), ctx)
      const isWholeRecording = bounds.start_frame === undefined && bounds.end_frame === undefined
      if (isWholeRecording) ctx.store.runs.add(recording, { findings, ...diagnosis })
      return {
        frames_checked: diagnosis.frames,
        findings: findings
          .slice(0, max_findings)
          .map((finding) => toRankedRow(finding, diagnosis.names, recording.summary.frames)),
        count: findings.length,
        counts: countEach(findings.map(({ kind }) => kind)),
        truncated: findings.length > max_findings,
        ...diagnosis.coverage,
        summary: summarizeDiagnosis(findings, diagnosis),
      }
    },
  }),

  recordingTool('check_law', {
    title: 'Check law',
    about: 'Check one law over frames and return every run that breaks it: diagnose with `law`, in pages.',
    unlisted: true,
    input: { law: z.enum(lawNames).describe('Law to check'), ...runArguments },
    example: { args: { recording: 'energy_injection', law: 'momentum' } },
    run: ({ law, ...args }, call) => checkLaw(args, call, lawChecks[law]),
  }),

  ...lawNames.map((law) =>
    recordingTool(`check_${law}`, {
      title: `Check ${law}`,
      about: `Check one law over the frames: check_law with law "${law}".`,
      unlisted: true,
      input: runArguments,
      example: { args: { recording: lawChecks[law].example } },
      run: (args, call) => checkLaw(args, call, lawChecks[law]),
    }),
  ),
]

export const eventTools: readonly Registration[] = [
  recordingTool('timeline', {
    title: 'List events',
    about:
      'List events in frame order: contacts, impacts (N·s), rest, sliding, energy injection, stalls, penetration, tunnelling. Use it to find when something first happens.',
    searchHint: 'overview, what happened, order of events',
    input: {
      ...runArguments,
      kinds: z.array(z.string()).optional().describe('Only these kinds'),
    },
    example: { args: { recording: 'drop' } },
    async run({ cursor, kinds, ...bounds }, { recording, range, ctx }) {
      validateKinds(kinds)
      const args = { range: range(bounds) }
      const allEvents = await recording.analyse<readonly TimelineEvent[]>('events', args, ctx)
      const events = allEvents.filter(({ kind }) => kinds === undefined || kinds.includes(kind))
      const { items, next_cursor } = paginate(events, (_, index) => index, { cursor, limit: maxRunsShown })
      const counts = countEach(events.map(({ kind }) => kind))
      const countTexts = Object.entries(counts).map(([kind, n]) => `${n} ${kind}`)
      return {
        events: items,
        count: events.length,
        counts,
        truncated: items.length < events.length,
        next_cursor,
        summary: `${formatCount(events.length, 'event')}${countTexts.length > 0 ? `: ${countTexts.join(', ')}` : ''}.`,
      }
    },
  }),

  recordingTool('find_solver_stalls', {
    title: 'Find solver stalls',
    about: 'Find where the solver failed to converge: get_solver_diagnostics with `stalls`, in pages.',
    unlisted: true,
    input: runArguments,
    needs: ['solver'],
    example: { args: { recording: 'solver_stall' } },
    async run({ cursor, ...bounds }, { recording, range, ctx }) {
      const args = { range: range(bounds) }
      const stallsResult = await recording.analyse<StallsResult>('stalls', args, ctx)
      const { stalls, judged, iterations_cap } = stallsResult
      const { items, next_cursor } = paginate(stalls, (_, index) => index, { cursor, limit: maxRunsShown })
      return {
        runs: items,
        count: stalls.length,
        frames_judged: judged,
        iterations_cap,
        truncated: items.length < stalls.length,
        next_cursor,
        summary: summarizeStalls(stallsResult, listRecordedNames(recording.summary)),
      }
    },
  }),

  recordingTool('get_solver_diagnostics', {
    title: 'Get solver diagnostics',
    about:
      'Return iterations, residual and convergence of the solver over frames. Use it when contacts are soft or stacks fall.',
    searchHint: 'did not converge, iterations',
    input: {
      ...rangeArguments,
      ...pageArguments,
      stalls: z.boolean().optional().describe('Add runs without convergence'),
    },
    output: { diagnostics: rows() },
    example: { args: { recording: 'solver_stall' } },
    async run({ cursor, max_points, stalls, ...bounds }, { recording, range, ctx }) {
      const args = { range: range(bounds) }
      const solver = await recording.solver(args.range)
      const found = stalls ? await recording.analyse<StallsResult>('stalls', args, ctx) : undefined
      const { rows, ...part } = selectSeriesPart(solver, 'residual', { cursor, limit: max_points })
      const verdict = judgeConvergence(solver)
      const { not_converged } = verdict
      return {
        diagnostics: toPoints(solver, rows, ['converged']),
        ...part,
        ...verdict,
        not_converged: not_converged.slice(0, max_points),
        not_converged_count: not_converged.length,
        ...(found && {
          stalls: found.stalls.slice(0, maxRunsShown),
          stalls_count: found.stalls.length,
          iterations_cap: found.iterations_cap,
        }),
        summary: found
          ? summarizeStalls(found, listRecordedNames(recording.summary))
          : summarizeConvergence(`${formatCount(solver.length, 'frame')}${describePart(part)}`, verdict),
      }
    },
  }),
]

function summarizeStalls({ stalls: [first, ...moreStalls], judged }: StallsResult, names: BodyNames): string {
  if (judged === 0) return 'No frame has constraints and recorded convergence.'
  if (first === undefined) return `The solver converged in every frame with constraints (${judged}).`
  const count = `${formatCount(moreStalls.length + 1, 'stall')} in ${formatCount(judged, 'frame')} with constraints`
  const { frames, bodies, residual, mass_ratio } = first
  const facts = [
    formatFrames(frames.first, frames.last),
    ...(bodies.length === 0 ? [] : [nameBodies(bodies, names)]),
    ...(residual === null ? [] : [`residual ${formatNumber(residual)}`]),
    ...(mass_ratio === null ? [] : [`mass ratio ${formatNumber(mass_ratio)}`]),
  ]
  return `${count}. First: ${facts.join(', ')}.`
}

function validateKinds(kinds: readonly string[] = []): void {
  const unknown = kinds.find((kind) => !(eventKinds as readonly string[]).includes(kind))
  if (unknown === undefined) return
  throw new CausewayError('INVALID_ARGUMENTS', `not a kind of event: ${unknown}`, {
    data: { problems: [{ argument: 'kinds', problem: `is not one of ${eventKinds.join(', ')}` }] },
  })
}
