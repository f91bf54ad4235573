/** One frame, one body in it, and one body in two of them. */
import type { Registrar } from '@causeway/app-kit'
import type { Frame, Recording } from '@causeway/recording'
import { z } from 'zod'
import { type BodyComparison, compareBody, comparisonSummary } from '../domain/body-comparison.ts'
import { knowsContacts } from '../domain/capability.ts'
import { cutFrame, frameSummary } from '../domain/frame-view.ts'
import { quantity } from '../domain/sentence.ts'
import { stateOf } from '../domain/state.ts'
import { norm } from '../domain/vector.ts'
import { opened, type ReplaySession, type Stamp } from '../session.ts'
import type { Replay } from '../store.ts'
import {
  bodyArgument,
  defaultPoints,
  frameArgument,
  hints,
  partArguments,
  recordingArgument,
  rows,
  stamp,
  vector,
} from './shape.ts'

/** Declares get_frame, get_body_state and compare_body_across_frames. */
export function frameTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('get_frame', {
    about:
      'Everything recorded of a frame: states after its step (m, m/s, rad/s), contacts, solver, energies.',
    hints,
    input: { frame_id: frameArgument, max_points: partArguments.max_points, ...recordingArgument },
    output: {
      ...stamp,
      states: rows(),
      collisions: rows(),
      friction_constraints: rows(),
    },
    example: { args: { recording: 'drop', frame_id: 42 } },
    async run({ frame_id, max_points, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      return frameAnswer(recording, await recording.frame(frame_id), stamp, max_points)
    },
  })

  app.tool('get_body_state', {
    about:
      'Position (m), velocity (m/s), orientation, angular velocity (rad/s, body frame) of a body in a frame.',
    hints,
    input: { body_id: bodyArgument, frame_id: frameArgument, ...recordingArgument },
    output: {
      ...stamp,
      position: vector(),
      velocity: vector(),
      orientation: vector(),
    },
    example: { args: { recording: 'drop', body_id: 2, frame_id: 30 } },
    async run({ body_id, frame_id, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const body = recording.resolveBody(body_id)
      const frame = await recording.frame(frame_id)
      const state = stateOf(frame, body, recording.summary)
      const speed = norm(state.velocity)
      const angular_speed = state.angular_velocity === null ? null : norm(state.angular_velocity)
      const { simulation_time } = frame
      return {
        ...stamp,
        ...state,
        frame_id,
        simulation_time,
        speed,
        angular_speed,
        summary: `Body ${body} in frame ${frame_id} (${quantity(simulation_time, 's')}): speed ${quantity(speed, 'm/s')}, spin ${quantity(angular_speed, 'rad/s')}, height ${quantity(state.position.z, 'm')}.`,
      }
    },
  })

  app.tool('compare_body_across_frames', {
    about:
      'What changed for a body from frame_a to frame_b (b - a): position, velocity, rotation, contacts, time.',
    hints,
    input: {
      body_id: bodyArgument,
      frame_a: z.int().describe('frame id to measure from'),
      frame_b: z.int().describe('frame id to measure to'),
      ...recordingArgument,
    },
    output: {
      ...stamp,
      position_delta: vector(),
      velocity_delta: vector(),
    },
    example: { args: { recording: 'drop', body_id: 2, frame_a: 30, frame_b: 42 } },
    async run({ body_id, frame_a, frame_b, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const body = recording.resolveBody(body_id)
      const sighting = async (frameId: number) => {
        const frame = await recording.frame(frameId)
        return { frame, state: stateOf(frame, body, recording.summary) }
      }
      const [a, b] = await Promise.all([sighting(frame_a), sighting(frame_b)])
      const told = compareBody(a, b)
      const change: BodyComparison = knowsContacts(recording.summary)
        ? told
        : { ...told, contact_delta: null }
      return {
        ...stamp,
        body_id: body,
        frame_a,
        frame_b,
        ...change,
        summary: comparisonSummary(body, a, b, change),
      }
    },
  })
}

/** One frame with at most `limit` rows of each kind, for the tool and for the resource. */
export function frameAnswer(recording: Recording, frame: Frame, stamp: Stamp, limit = defaultPoints) {
  const cut = cutFrame(frame, limit)
  const isTold = knowsContacts(recording.summary)
  const summary = frameSummary(frame, { ...cut, isTold })
  return { ...stamp, ...cut, unit: recording.summary.lambda_unit, summary }
}
