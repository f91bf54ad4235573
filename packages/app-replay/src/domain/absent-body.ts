/** The error of a body that is known to the recording, but not in the frames asked for. */
import { CausewayError } from '@causeway/protocol'
import type { BodyId, RecordingSummary } from '@causeway/recording'
import { environmentTest } from './body.ts'

/**
 * `BODY_NOT_FOUND` that says why: an environment body has neither states nor energies, and a body that is spawned later
 * has none yet. `where` completes the sentence; `bodies` are those that are there.
 */
export function absentBody(
  body: BodyId,
  summary: RecordingSummary,
  { where, bodies }: { where: string; bodies: readonly BodyId[] },
): CausewayError {
  const first_frame = summary.appearances.find(({ body_id }) => body_id === body)?.first_frame
  return new CausewayError(
    'BODY_NOT_FOUND',
    `body ${body} is not in ${where}: ${reason(body, summary, first_frame)}`,
    {
      data: { body_id: body, bodies, ...(first_frame === undefined ? {} : { first_frame }) },
    },
  )
}

function reason(body: BodyId, summary: RecordingSummary, firstFrame: number | undefined): string {
  if (environmentTest(summary)(body))
    return 'it belongs to the environment, which is recorded in contacts alone'
  return firstFrame === undefined ? 'it was not recorded' : `it appears first in frame ${firstFrame}`
}
