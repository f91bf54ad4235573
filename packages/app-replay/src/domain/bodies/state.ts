import type { BodyId, BodyState, Frame, RecordingSummary } from '@causeway/recording'
import { createBodyNotFound } from './absent-body.ts'

/** Throws `BODY_NOT_FOUND` with the bodies of the frame. */
export function findBodyState(
  { frame_id, states }: Frame,
  body: BodyId,
  summary: RecordingSummary,
): BodyState {
  const state = states.find(({ body_id }) => body_id === body)
  if (state !== undefined) return state
  throw createBodyNotFound(body, summary, {
    where: `frame ${frame_id}`,
    bodies: states.map(({ body_id }) => body_id),
  })
}
