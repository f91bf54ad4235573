import type { BodyId, FrameRange, PairFrame, Recording } from '@causeway/recording'
import { z } from 'zod'
import { involvesBody, listBodies, requireDistinctBodies } from '../domain/bodies/body.ts'
import {
  analyzeEvolution,
  type PairContact,
  selectContactFrames,
  summarizeHistory,
  toPairContact,
} from '../domain/contacts/contact-history.ts'
import {
  paginateHistory,
  summarizeBodyContacts,
  toHistoryEntries,
  truncateEvolution,
} from '../domain/contacts/contact-listing.ts'
import { toNewtons } from '../domain/contacts/force.ts'
import { readBodyNames } from '../session/body-names.ts'
import { getForceScale } from '../session/frames.ts'
import type { ReplayContext } from '../session/session.ts'
import {
  bodyArgument,
  frameArgument,
  pageArguments,
  type Registration,
  recordingTool,
  rows,
} from './recording-tool.ts'

const framesPerRead = 2000

export const contactTools: readonly Registration[] = [
  recordingTool('get_contacts_for_body', {
    title: 'Get contacts of body',
    about:
      'Return friction constraints and colliding pairs of a body in a frame. `*_lambda` is in `unit`, `*_n` in N.',
    searchHint: 'what does object touch, neighbours, collisions',
    input: { body_id: bodyArgument, frame_id: frameArgument },
    output: { contacts: rows() },
    needs: ['friction', 'collisions'],
    example: { args: { recording: 'drop', body_id: 2, frame_id: 42 } },
    async run({ body_id, frame_id }, { recording, ctx }) {
      const body = recording.resolveBody(body_id)
      const frame = await recording.frame(frame_id)
      const scale = await getForceScale(recording, frame)
      const contacts = frame.friction_constraints
        .filter((row) => involvesBody(row, body))
        .map((row) => ({
          ...row,
          normal_force_n: toNewtons(row.normal_lambda, scale),
          tangent1_force_n: toNewtons(row.tangent1_lambda, scale),
          tangent2_force_n: toNewtons(row.tangent2_lambda, scale),
        }))
      const collisions = frame.collisions.filter((row) => involvesBody(row, body))
      return {
        body_id: body,
        frame_id,
        contacts,
        collisions,
        source: contacts.length === 0 && collisions.length > 0 ? 'collisions' : 'friction',
        unit: scale.unit,
        summary: summarizeBodyContacts(body, {
          constraints: contacts.length,
          collisions,
          names: await readBodyNames(recording, [body, ...listBodies(collisions)], ctx),
        }),
      }
    },
  }),

  recordingTool('get_contact_history', {
    title: 'Get contact history',
    about:
      'Return the contact of two bodies over frames: begins, ends, chatter and flips of the normal. Use timeline for all bodies.',
    searchHint: 'when did two objects touch, bounce, separate',
    input: {
      body_a_id: bodyArgument,
      body_b_id: z.int().describe('Other body id'),
      start_frame: z.int().describe('First frame'),
      end_frame: z.int().describe('Last frame'),
      ...pageArguments,
    },
    output: { contact_history: rows() },
    needs: ['friction', 'collisions'],
    example: {
      args: { recording: 'drop', body_a_id: 2, body_b_id: 1, start_frame: 30, end_frame: 60 },
    },
    async run({ body_a_id, body_b_id, cursor, max_points, ...bounds }, call) {
      const { recording, ctx } = call
      const bodies = [recording.resolveBody(body_a_id), recording.resolveBody(body_b_id)] as const
      requireDistinctBodies(bodies)
      const range = call.range(bounds)
      const contact = selectContactFrames(await readPairContacts(recording, bodies, range, ctx))
      const evolution = analyzeEvolution(contact.frames, range)
      const page = paginateHistory(contact.frames, { cursor, limit: max_points })
      return {
        body_a_id: bodies[0],
        body_b_id: bodies[1],
        start_frame: range.start ?? bounds.start_frame,
        end_frame: range.end ?? bounds.end_frame,
        contact_history: toHistoryEntries(page, await readRows(recording, bodies, page.frames)),
        frames_with_contact: contact.frames.length,
        source: contact.source,
        ...truncateEvolution(evolution, max_points),
        unit: recording.summary.lambda_unit,
        contacts_left_out: page.omitsRows,
        truncated: page.frames.length < contact.frames.length,
        next_cursor: page.next_cursor,
        summary: summarizeHistory(bodies, contact, {
          evolution,
          page,
          names: await readBodyNames(recording, bodies, ctx),
        }),
      }
    },
  }),
]

/** Reads in parts, so that long contacts do not fill the memory. */
async function readPairContacts(
  recording: Recording,
  pair: readonly [BodyId, BodyId],
  range: FrameRange,
  ctx: ReplayContext,
): Promise<PairContact[]> {
  const contacts: PairContact[] = []
  let start = range.start
  while (true) {
    ctx.signal.throwIfAborted()
    const { frames } = await recording.pairHistory(pair, { start, end: range.end }, framesPerRead)
    contacts.push(...frames.map((frame) => toPairContact(frame, pair[0])))
    const last = frames.at(-1)
    if (last === undefined || frames.length < framesPerRead) return contacts
    start = last.frame_id + 1
    ctx.progress(contacts.length)
  }
}

async function readRows(
  recording: Recording,
  pair: readonly [BodyId, BodyId],
  frames: readonly PairContact[],
): Promise<readonly PairFrame[]> {
  const [first, last] = [frames[0], frames.at(-1)]
  if (first === undefined || last === undefined) return []
  const range = { start: first.frame_id, end: last.frame_id }
  return (await recording.pairHistory(pair, range, last.frame_id - first.frame_id + 1)).frames
}
