/** The state of one body in one frame. */
import type { BodyId, BodyState, Frame, RecordingSummary } from '@causeway/recording'
import { absentBody } from './absent-body.ts'

/** The body's state; throws `BODY_NOT_FOUND` with the bodies of this frame where it has none. */
export function stateOf({ frame_id, states }: Frame, body: BodyId, summary: RecordingSummary): BodyState {
  const state = states.find(({ body_id }) => body_id === body)
  if (state !== undefined) return state
  throw absentBody(body, summary, {
    where: `frame ${frame_id}`,
    bodies: states.map(({ body_id }) => body_id),
  })
}
