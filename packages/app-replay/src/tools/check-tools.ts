/** Laws that a frame must keep: the friction cone, no deep overlap, rest where bodies rest. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { involves, isSamePair, type Pair } from '../domain/body.ts'
import { requireAny } from '../domain/capability.ts'
import { checkCone, coneSummary, epsilon, judgeCones } from '../domain/friction-cone.ts'
import { excessive, greatestPenetration, penetrationOf, penetrationSummary } from '../domain/penetration.ts'
import { checkResting, restingSummary } from '../domain/resting.ts'
import { forceScale } from '../force-scale.ts'
import { opened, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { bodyArgument, frameArgument, hints, recordingArgument, rows, stamp } from './shape.ts'

/** Declares check_friction_cone, check_penetration and check_resting_contact. */
export function checkTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('check_friction_cone', {
    about:
      'Every contact of a frame against |Ft| <= mu*Fn. All checked contacts stand in violations; exceeds_limit tells. Values in `unit`, *_n in N.',
    hints,
    input: {
      frame_id: frameArgument,
      body_id: bodyArgument.nullish().describe('only contacts of this body'),
      ...recordingArgument,
    },
    output: {
      ...stamp,
      violations: rows(),
    },
    example: { args: { recording: 'slide_at_45', frame_id: 45 } },
    async run({ frame_id, body_id, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['tangent_lambdas'])
      const body = body_id == null ? null : recording.resolveBody(body_id)
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
      threshold: z.number().default(0.01).describe('m; deeper pairs are excessive'),
      ...recordingArgument,
    },
    output: {
      ...stamp,
      excessive_penetrations: rows(),
    },
    example: { args: { recording: 'drop', frame_id: 42 } },
    async run({ frame_id, threshold, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['collisions'])
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
      velocity_threshold: z.number().min(0).default(0.01).describe('m/s; faster bodies move'),
      angular_velocity_threshold: z
        .number()
        .min(0)
        .optional()
        .describe('rad/s; default: the number of velocity_threshold'),
      ...recordingArgument,
    },
    output: {
      ...stamp,
      moving_bodies: rows(),
    },
    example: { args: { recording: 'incline_slides', frame_id: 50 } },
    async run({ frame_id, velocity_threshold, angular_velocity_threshold, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['friction', 'collisions'])
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
