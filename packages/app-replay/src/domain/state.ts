/** The state of one body in one frame. */
import { CausewayError } from '@causeway/protocol'
import type { BodyId, BodyState, Frame, RecordingSummary } from '@causeway/recording'
import { environmentTest } from './body.ts'

/**
 * The body's state. Throws `BODY_NOT_FOUND` with the bodies of this frame where it has none: an environment body never
 * has one, and a body that is spawned later has none yet.
 */
export function stateOf(frame: Frame, body: BodyId, summary: RecordingSummary): BodyState {
  const state = frame.states.find(({ body_id }) => body_id === body)
  if (state !== undefined) return state
  const { frame_id } = frame
  const first_frame = summary.appearances.find(({ body_id }) => body_id === body)?.first_frame
  const why = environmentTest(summary)(body)
    ? 'it belongs to the environment, whose states are not recorded'
    : first_frame === undefined
      ? 'it has no state in this recording'
      : `it appears first in frame ${first_frame}`
  throw new CausewayError('BODY_NOT_FOUND', `body ${body} has no state in frame ${frame_id}: ${why}`, {
    data: {
      body_id: body,
      frame_id,
      bodies: frame.states.map(({ body_id }) => body_id),
      ...(first_frame === undefined ? {} : { first_frame }),
    },
  })
}
