import type { CausewayError } from '@causeway/protocol'
import {
  type BodyId,
  type BodyState,
  type Frame,
  RecordingError,
  type RecordingSummary,
} from '@causeway/recording'
import { createEnvironmentTest } from './body.ts'

/** `location` is a part of the message, such as `frame 3`. `bodies` are the bodies that exist there. */
export function createBodyNotFoundError(
  body: BodyId,
  summary: RecordingSummary,
  { location, bodies }: { location: string; bodies: readonly BodyId[] },
): CausewayError {
  const first_frame = summary.appearances.find(({ body_id }) => body_id === body)?.first_frame
  return new RecordingError(
    'BODY_NOT_FOUND',
    `body ${body} is not in ${location}: ${explainAbsence(body, summary, first_frame)}`,
    {
      data: { body_id: body, bodies, ...(first_frame === undefined ? {} : { first_frame }) },
    },
  )
}

function explainAbsence(body: BodyId, summary: RecordingSummary, firstFrame: number | undefined): string {
  if (createEnvironmentTest(summary)(body))
    return 'it belongs to the environment, which is recorded in contacts alone'
  return firstFrame === undefined ? 'it was not recorded' : `it appears first in frame ${firstFrame}`
}

/** Throws `BODY_NOT_FOUND` if the frame lacks the body. */
export function findBodyState(
  { frame_id, states }: Frame,
  body: BodyId,
  summary: RecordingSummary,
): BodyState {
  const state = states.find(({ body_id }) => body_id === body)
  if (state !== undefined) return state
  throw createBodyNotFoundError(body, summary, {
    location: `frame ${frame_id}`,
    bodies: states.map(({ body_id }) => body_id),
  })
}
