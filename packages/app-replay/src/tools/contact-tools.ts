/** Who touches whom: in one frame, and over time. */
import type { Registrar } from '@causeway/app-kit'
import type { BodyId, FrameRange, PairFrame, Recording } from '@causeway/recording'
import { z } from 'zod'
import { involves, requireTwo } from '../domain/body.ts'
import { requireAny } from '../domain/capability.ts'
import { contactFrames, evolution, historySummary, type Touch, touchOf } from '../domain/contact-history.ts'
import { cutEvolution, historyEntries, historyPage } from '../domain/contact-listing.ts'
import { bodyContactsSummary } from '../domain/contact-rows.ts'
import { newtons } from '../domain/force.ts'
import { frameRange } from '../domain/frame-range.ts'
import { forceScale } from '../force-scale.ts'
import { opened, type ReplayContext, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { bodyArgument, frameArgument, hints, partArguments, recordingArgument, rows, stamp } from './shape.ts'

/** Frames of a history that are fetched at once. */
const chunk = 2000

/** Declares get_contacts_for_body and get_contact_history. */
export function contactTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('get_contacts_for_body', {
    about: 'Friction constraints of a body in a frame, lambdas in `unit` and N beside; its colliding pairs.',
    hints,
    input: { body_id: bodyArgument, frame_id: frameArgument, ...recordingArgument },
    output: {
      ...stamp,
      contacts: rows(),
    },
    example: { args: { recording: 'drop', body_id: 2, frame_id: 42 } },
    async run({ body_id, frame_id, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['friction', 'collisions'])
      const body = recording.resolveBody(body_id)
      const frame = await recording.frame(frame_id)
      const scale = await forceScale(recording, frame)
      const contacts = frame.friction_constraints
        .filter((row) => involves(row, body))
        .map((row) => ({
          ...row,
          normal_force_n: newtons(row.normal_lambda, scale),
          tangent1_force_n: newtons(row.tangent1_lambda, scale),
          tangent2_force_n: newtons(row.tangent2_lambda, scale),
        }))
      const collisions = frame.collisions.filter((row) => involves(row, body))
      return {
        ...stamp,
        body_id: body,
        frame_id,
        contacts,
        collisions,
        source: contacts.length === 0 && collisions.length > 0 ? 'collisions' : 'friction',
        unit: scale.unit,
        summary: bodyContactsSummary(body, contacts.length, collisions),
      }
    },
  })

  app.tool('get_contact_history', {
    about: 'Contact of a pair, in either order: runs, begins, ends, chatter, normal flips.',
    hints,
    input: {
      body_a_id: bodyArgument,
      body_b_id: z.int().min(0).describe('the other body id'),
      start_frame: z.int().describe('first frame id'),
      end_frame: z.int().describe('last frame id'),
      ...partArguments,
      ...recordingArgument,
    },
    output: {
      ...stamp,
      contact_history: rows(),
    },
    example: {
      args: { recording: 'drop', body_a_id: 2, body_b_id: 1, start_frame: 30, end_frame: 60 },
    },
    async run({ body_a_id, body_b_id, cursor, max_points, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['friction', 'collisions'])
      const bodies = [recording.resolveBody(body_a_id), recording.resolveBody(body_b_id)] as const
      requireTwo(bodies)
      const range = frameRange(bounds, recording.summary.frames)
      const contact = contactFrames(await touches(recording, bodies, range, ctx))
      const seen = evolution(contact.frames, range)
      const part = historyPage(contact.frames, { cursor, limit: max_points })
      return {
        ...stamp,
        body_a_id: bodies[0],
        body_b_id: bodies[1],
        start_frame: range.start ?? bounds.start_frame,
        end_frame: range.end ?? bounds.end_frame,
        contact_history: historyEntries(part, await rowsOf(recording, bodies, part.frames)),
        frames_with_contact: contact.frames.length,
        source: contact.source,
        ...cutEvolution(seen, max_points),
        unit: recording.summary.lambda_unit,
        contacts_left_out: part.leavesRowsOut,
        truncated: part.frames.length < contact.frames.length,
        next_cursor: part.next_cursor,
        summary: historySummary(bodies, contact, { seen, part }),
      }
    },
  })
}

/** Every frame in which the pair touches, without its rows: chunk by chunk, so that long contact fits in memory. */
async function touches(
  recording: Recording,
  pair: readonly [BodyId, BodyId],
  range: FrameRange,
  ctx: ReplayContext,
): Promise<Touch[]> {
  const found: Touch[] = []
  let start = range.start
  while (true) {
    ctx.signal.throwIfAborted()
    const { frames } = await recording.pairHistory(pair, { start, end: range.end }, chunk)
    found.push(...frames.map((frame) => touchOf(frame, pair[0])))
    const last = frames.at(-1)
    if (last === undefined || frames.length < chunk) return found
    start = last.frame_id + 1
    ctx.progress(found.length)
  }
}

/** The rows of these frames of contact. */
async function rowsOf(
  recording: Recording,
  pair: readonly [BodyId, BodyId],
  frames: readonly Touch[],
): Promise<readonly PairFrame[]> {
  const [first, last] = [frames[0], frames.at(-1)]
  if (first === undefined || last === undefined) return []
  const range = { start: first.frame_id, end: last.frame_id }
  return (await recording.pairHistory(pair, range, last.frame_id - first.frame_id + 1)).frames
}
