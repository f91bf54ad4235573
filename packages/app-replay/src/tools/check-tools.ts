/** Laws that a frame must keep: the friction cone, no deep overlap, rest where bodies rest. */
import type { Registrar } from '@causeway/app-kit'
import type { BodyId, Recording } from '@causeway/recording'
import { z } from 'zod'
import { involves, isSamePair, type Pair } from '../domain/body.ts'
import { requireAny } from '../domain/capability.ts'
import { frameRange } from '../domain/frame-range.ts'
import { checkCone, coneSummary, epsilon, judgeCones } from '../domain/friction-cone.ts'
import type { Finding } from '../domain/laws/finding.ts'
import { depthLimit } from '../domain/laws/penetration-law.ts'
import { excessive, greatestPenetration, penetrationOf, penetrationSummary } from '../domain/penetration.ts'
import { checkResting, restingSummary } from '../domain/resting.ts'
import { forceScale } from '../force-scale.ts'
import { opened, type ReplayContext, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { checkRange, type RangeCheck } from './range-check.ts'
import { bodyArgument, defaultPoints, frameArgument, hints, recordingArgument, rows, stamp } from './shape.ts'

/** Makes a check one over a range: the list then holds runs of frames. */
const toFrame = { end_frame: z.int().optional().describe('up to here: lists runs') }

const cone: RangeCheck = { laws: ['cone'], kinds: ['friction_cone'], about: 'the friction cone' }
const rest: RangeCheck = {
  laws: ['rest'],
  kinds: ['jitter', 'creep'],
  about: 'that what rests stays in place',
}
const overlap = (threshold: number | undefined): RangeCheck => ({
  laws: ['penetration'],
  kinds: ['penetration'],
  about:
    threshold === undefined
      ? `the limit of overlap of ${depthLimit} m, impacts and bias aside,`
      : `the limit of overlap of ${threshold} m`,
  options: threshold === undefined ? {} : { depthLimit: threshold },
})

/** The runs from a frame to another one, those of a body where one is asked for. */
async function runsTo(
  recording: Recording,
  { frame_id, end_frame, body }: { frame_id: number; end_frame: number; body: BodyId | null },
  check: RangeCheck,
  ctx: ReplayContext,
) {
  const range = frameRange({ start_frame: frame_id, end_frame }, recording.summary.frames)
  const part = { cursor: undefined, limit: defaultPoints }
  const isMeant = body === null ? undefined : ({ bodies }: Finding) => bodies.includes(body)
  const answer = await checkRange(recording, range, { ...check, part, ...(isMeant && { isMeant }) }, ctx)
  return { frame_id, end_frame, ...answer }
}

/** Declares check_friction_cone, check_penetration and check_resting_contact. */
export function checkTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('check_friction_cone', {
    about:
      'Contacts of a frame against |Ft| <= mu*Fn. All stand in violations; exceeds_limit tells. Values in `unit`, *_n in N.',
    hints,
    input: {
      frame_id: frameArgument,
      ...toFrame,
      body_id: bodyArgument.nullish().describe('only contacts of this body'),
      ...recordingArgument,
    },
    output: {
      ...stamp,
      violations: rows(),
    },
    example: { args: { recording: 'slide_at_45', frame_id: 45 } },
    async run({ frame_id, end_frame, body_id, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['tangent_lambdas'])
      const body = body_id == null ? null : recording.resolveBody(body_id)
      if (end_frame !== undefined) {
        const answer = await runsTo(recording, { frame_id, end_frame, body }, cone, ctx)
        return { ...stamp, ...answer, violations: answer.runs }
      }
      const frame = await recording.frame(frame_id)
      const scale = await forceScale(recording, frame)
      const isMeant = (row: Pair): boolean => body === null || involves(row, body)
      const violations = frame.friction_constraints.filter(isMeant).map((row) => checkCone(row, scale))
      const pairs_without_friction = frame.collisions.filter(
        (pair) => isMeant(pair) && !violations.some((row) => isSamePair(row, pair)),
      ).length
      const verdict = judgeCones(violations)
      return {
        ...stamp,
        frame_id,
        body_id: body,
        violations,
        ...verdict,
        pairs_without_friction,
        epsilon,
        unit: scale.unit,
        summary: coneSummary(violations, verdict, pairs_without_friction),
      }
    },
  })

  app.tool('check_penetration', {
    about: 'Colliding pairs of a frame that overlap by more than the threshold, m.',
    hints,
    input: {
      frame_id: frameArgument,
      ...toFrame,
      threshold: z
        .number()
        .optional()
        .describe('m; deeper pairs are excessive; default 0.01, and in runs more where impacts explain it'),
      ...recordingArgument,
    },
    output: {
      ...stamp,
      excessive_penetrations: rows(),
    },
    example: { args: { recording: 'drop', frame_id: 42 } },
    async run({ frame_id, end_frame, threshold: given, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['collisions'])
      const threshold = given ?? depthLimit
      if (end_frame !== undefined) {
        const answer = await runsTo(recording, { frame_id, end_frame, body: null }, overlap(given), ctx)
        return { ...stamp, ...answer, threshold, excessive_penetrations: answer.runs }
      }
      const { collisions } = await recording.frame(frame_id)
      const pairs = collisions.map(penetrationOf)
      return {
        ...stamp,
        frame_id,
        threshold,
        excessive_penetrations: excessive(pairs, threshold),
        checked: pairs.length,
        ...greatestPenetration(pairs),
        summary: penetrationSummary(pairs, threshold),
      }
    },
  })

  app.tool('check_resting_contact', {
    about: 'Bodies in contact in a frame that move, with their speed along and across the contact.',
    hints,
    input: {
      frame_id: frameArgument,
      ...toFrame,
      velocity_threshold: z.number().min(0).default(0.01).describe('m/s; faster bodies move'),
      angular_velocity_threshold: z.number().min(0).optional().describe('rad/s; default: the same number'),
      ...recordingArgument,
    },
    output: {
      ...stamp,
      moving_bodies: rows(),
    },
    example: { args: { recording: 'incline_slides', frame_id: 50 } },
    async run(
      { frame_id, end_frame, velocity_threshold, angular_velocity_threshold, recording: asked },
      ctx,
    ) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['friction', 'collisions'])
      if (end_frame !== undefined) {
        const answer = await runsTo(recording, { frame_id, end_frame, body: null }, rest, ctx)
        return { ...stamp, ...answer, moving_bodies: answer.runs }
      }
      const rule = {
        velocity: velocity_threshold,
        angularVelocity: angular_velocity_threshold ?? velocity_threshold,
      }
      const check = checkResting(await recording.frame(frame_id), recording.summary, rule)
      return {
        ...stamp,
        frame_id,
        velocity_threshold,
        angular_velocity_threshold: rule.angularVelocity,
        ...check,
        summary: restingSummary(check, rule),
      }
    },
  })
}
