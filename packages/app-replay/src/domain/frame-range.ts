/** The range of frames that a caller means. */
import { CausewayError } from '@causeway/protocol'
import type { FrameRange, RecordingSummary } from '@causeway/recording'

/** The bounds of a caller, as in the arguments; a missing one, or null, is open. */
export interface Bounds {
  readonly start_frame?: number | null | undefined
  readonly end_frame?: number | null | undefined
}

/**
 * The range, cut to the recorded frames. Throws `INVALID_ARGUMENTS` where it ends before it starts, and
 * `FRAME_NOT_FOUND` where it lies outside the recording; a recording of 0 frames has the open range alone.
 */
export function frameRange(bounds: Bounds, frames: RecordingSummary['frames']): FrameRange {
  const start_frame = bounds.start_frame ?? undefined
  const end_frame = bounds.end_frame ?? undefined
  if (start_frame !== undefined && end_frame !== undefined && start_frame > end_frame)
    throw new CausewayError(
      'INVALID_ARGUMENTS',
      `start_frame ${start_frame} is after end_frame ${end_frame}`,
      {
        data: { problems: [{ argument: 'start_frame', problem: 'is after end_frame' }] },
      },
    )
  if (frames === null) {
    if (start_frame === undefined && end_frame === undefined) return { start: null, end: null }
    throw new CausewayError('FRAME_NOT_FOUND', 'the recording has no frames', {
      data: { start_frame, end_frame, first_frame: null, last_frame: null },
      remedy: 'record again; the simulation wrote no frame',
    })
  }
  const { first_frame, last_frame } = frames
  const start = Math.max(start_frame ?? first_frame, first_frame)
  const end = Math.min(end_frame ?? last_frame, last_frame)
  if (start > end)
    throw new CausewayError(
      'FRAME_NOT_FOUND',
      `no frame between ${start_frame ?? first_frame} and ${end_frame ?? last_frame}`,
      { data: { start_frame, end_frame, first_frame, last_frame } },
    )
  return { start, end }
}
