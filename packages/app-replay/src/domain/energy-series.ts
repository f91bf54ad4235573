/** Energy of one body that may not have existed all the time. */
import { CausewayError } from '@causeway/protocol'
import type { BodyEnergyField, BodyId, Columns, RecordingSummary } from '@causeway/recording'

/** Throws `BODY_NOT_FOUND`, with the frame of its appearance, where a body has no energy in the range asked for. */
export function requireEnergy(
  { length }: Columns<BodyEnergyField>,
  body: BodyId,
  { appearances, bodies, frames }: RecordingSummary,
): void {
  if (length > 0 || frames === null) return
  const first_frame = appearances.find(({ body_id }) => body_id === body)?.first_frame
  const when =
    first_frame === undefined ? 'no energy was recorded of it' : `it appears first in frame ${first_frame}`
  throw new CausewayError('BODY_NOT_FOUND', `body ${body} is not in this range: ${when}`, {
    data: {
      body_id: body,
      bodies: bodies.map(({ body_id }) => body_id),
      ...(first_frame === undefined ? {} : { first_frame }),
    },
  })
}
