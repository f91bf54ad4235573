import { z } from 'zod'
import { involvesBody, isSamePair, listBodies, type Pair } from '../domain/bodies/body.ts'
import { listRecordedNames } from '../domain/bodies/body-names.ts'
import { checkCone, epsilon, judgeCones, summarizeCones } from '../domain/contacts/friction-cone.ts'
import {
  filterExcessivePenetrations,
  findMaxPenetration,
  summarizePenetrations,
  toPenetration,
} from '../domain/contacts/penetration.ts'
import { checkResting, summarizeResting } from '../domain/contacts/resting.ts'
import { depthLimit } from '../domain/laws/contact/penetration-law.ts'
import { readBodyNames } from '../session/body-names.ts'
import { readFrameCoverage } from '../session/diagnose.ts'
import { getForceScale } from '../session/frames.ts'
import { checkRange, type RangeCheck } from './range-check.ts'
import {
  bodyArgument,
  frameArgument,
  type RecordingCall,
  type Registration,
  recordingTool,
  rows,
} from './recording-tool.ts'

const endArgument = { end_frame: z.int().optional().describe('Last frame') }

async function checkFrames<List extends string>(
  list: List,
  { frame_id, end_frame }: { readonly frame_id: number; readonly end_frame: number },
  check: RangeCheck,
  { recording, range, ctx }: RecordingCall,
) {
  const answer = await checkRange(recording, range({ start_frame: frame_id, end_frame }), check, ctx)
  return { frame_id, end_frame, ...answer, ...({ [list]: answer.runs } as Record<List, unknown>) }
}

export const checkTools: readonly Registration[] = [
  recordingTool('check_friction_cone', {
    title: 'Check friction cone',
    about:
      'Check the contacts of a frame against |Ft| <= mu*Fn. Returns all; `exceeds_limit` marks violations. Use it when a body slides or sticks.',
    searchHint: 'friction force too large, slip, stick',
    input: {
      frame_id: frameArgument,
      ...endArgument,
      body_id: bodyArgument.nullish().describe('Only this body'),
    },
    output: { violations: rows() },
    needs: ['tangent_lambdas'],
    widget: 'scene',
    example: { args: { recording: 'slide_at_45', frame_id: 45 } },
    async run({ frame_id, end_frame, body_id }, call) {
      const { recording } = call
      const body = body_id == null ? null : recording.resolveBody(body_id)
      if (end_frame !== undefined) {
        const cone: RangeCheck = {
          laws: ['cone'],
          kinds: ['friction_cone'],
          about: 'the friction cone',
          body,
        }
        return checkFrames('violations', { frame_id, end_frame }, cone, call)
      }
      const frame = await recording.frame(frame_id)
      const scale = await getForceScale(recording, frame)
      const isIncluded = (row: Pair): boolean => body === null || involvesBody(row, body)
      const violations = frame.friction_constraints.filter(isIncluded).map((row) => checkCone(row, scale))
      const pairs_without_friction = frame.collisions.filter(
        (pair) => isIncluded(pair) && !violations.some((row) => isSamePair(row, pair)),
      ).length
      const verdict = judgeCones(violations)
      return {
        frame_id,
        body_id: body,
        violations,
        ...verdict,
        pairs_without_friction,
        epsilon,
        unit: scale.unit,
        ...(await readFrameCoverage(recording, frame_id, ['cone'])),
        summary: summarizeCones(violations, verdict, {
          withoutFriction: pairs_without_friction,
          summary: recording.summary,
        }),
      }
    },
  }),

  recordingTool('check_penetration', {
    title: 'Check penetration',
    about:
      'List the pairs of a frame (or up to end_frame) that overlap by more than the threshold. Use it when bodies sink.',
    searchHint: 'objects sink, overlap, go into floor',
    input: {
      frame_id: frameArgument,
      ...endArgument,
      threshold: z.number().optional().describe('m. Default: 0.01'),
    },
    output: { excessive_penetrations: rows() },
    needs: ['collisions'],
    example: { args: { recording: 'drop', frame_id: 42 } },
    async run({ frame_id, end_frame, threshold: requestedThreshold }, call) {
      const threshold = requestedThreshold ?? depthLimit
      if (end_frame !== undefined) {
        const exceptionText = requestedThreshold === undefined ? ' (impacts and bias excepted)' : ''
        const depth: RangeCheck = {
          laws: ['penetration'],
          kinds: ['penetration'],
          about: `the penetration limit of ${threshold} m${exceptionText}`,
          options: requestedThreshold === undefined ? {} : { depthLimit: requestedThreshold },
        }
        const bounds = { frame_id, end_frame }
        return { ...(await checkFrames('excessive_penetrations', bounds, depth, call)), threshold }
      }
      const { collisions } = await call.recording.frame(frame_id)
      const pairs = collisions.map(toPenetration)
      const excessive = filterExcessivePenetrations(pairs, threshold)
      const names = await readBodyNames(call.recording, listBodies(excessive), call.ctx)
      return {
        frame_id,
        threshold,
        excessive_penetrations: excessive,
        checked: pairs.length,
        ...findMaxPenetration(pairs),
        ...(await readFrameCoverage(call.recording, frame_id, ['penetration'])),
        summary: summarizePenetrations(pairs, threshold, names),
      }
    },
  }),

  recordingTool('check_resting_contact', {
    title: 'Check resting contact',
    about:
      'List the bodies in contact that move, with speed along and across the normal. Use it for creep and jitter at rest.',
    searchHint: 'never comes to rest, jitter, creep, drift',
    input: {
      frame_id: frameArgument,
      ...endArgument,
      velocity_threshold: z.number().min(0).default(0.01).describe('m/s'),
      angular_velocity_threshold: z.number().min(0).optional().describe('rad/s. Default: velocity_threshold'),
    },
    output: { moving_bodies: rows() },
    needs: ['friction', 'collisions'],
    example: { args: { recording: 'incline_slides', frame_id: 50 } },
    async run({ frame_id, end_frame, velocity_threshold, angular_velocity_threshold }, call) {
      if (end_frame !== undefined) {
        const rest: RangeCheck = { laws: ['rest'], kinds: ['jitter', 'creep'], about: 'the law of rest' }
        return checkFrames('moving_bodies', { frame_id, end_frame }, rest, call)
      }
      const { recording } = call
      const rule = {
        velocity: velocity_threshold,
        angularVelocity: angular_velocity_threshold ?? velocity_threshold,
      }
      const check = checkResting(await recording.frame(frame_id), recording.summary, rule)
      return {
        frame_id,
        velocity_threshold,
        angular_velocity_threshold: rule.angularVelocity,
        ...check,
        ...(await readFrameCoverage(recording, frame_id, ['rest'])),
        summary: summarizeResting(check, rule, listRecordedNames(recording.summary)),
      }
    },
  }),
]
