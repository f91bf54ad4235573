import { CausewayError } from '@causeway/protocol'
import { type FrameRange, RecordingError, type RecordingSummary } from '@causeway/recording'

export interface Bounds {
  readonly start_frame?: number | null | undefined
  readonly end_frame?: number | null | undefined
}

/** Clamps a range to the recording. Throws `INVALID_ARGUMENTS` if it is reversed, `FRAME_NOT_FOUND` if it is empty. */
export function resolveFrameRange(bounds: Bounds, frames: RecordingSummary['frames']): FrameRange {
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
    throw new RecordingError('FRAME_NOT_FOUND', 'the recording has no frames', {
      data: { start_frame, end_frame, first_frame: null, last_frame: null },
      remedy: 'record again; the simulation wrote no frame',
    })
  }
  const { first_frame, last_frame } = frames
  const start = Math.max(start_frame ?? first_frame, first_frame)
  const end = Math.min(end_frame ?? last_frame, last_frame)
  if (start > end)
    throw new RecordingError(
      'FRAME_NOT_FOUND',
      `no frame between ${start_frame ?? first_frame} and ${end_frame ?? last_frame}`,
      { data: { start_frame, end_frame, first_frame, last_frame } },
    )
  return { start, end }
}
