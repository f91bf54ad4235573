/** How the recorded constraint values of one frame become newtons. */
import { isCausewayError } from '@causeway/protocol'
import type { Frame, Recording, Value } from '@causeway/recording'
import type { ForceScale } from './domain/force.ts'

/** The unit of the recording, and the step that led to this frame. */
export async function forceScale(recording: Recording, frame: Frame): Promise<ForceScale> {
  const { lambda_unit, dt_s, dt_uniform } = recording.summary
  return { unit: lambda_unit, dt: dt_uniform ? dt_s : await stepOf(recording, frame) }
}

/** Time since the frame before, s; the first frame's time counts from 0. */
async function stepOf(recording: Recording, { frame_id, simulation_time }: Frame): Promise<Value> {
  if (simulation_time === null) return null
  if (frame_id === recording.summary.frames?.first_frame) return simulation_time
  try {
    const before = await recording.frame(frame_id - 1)
    return before.simulation_time === null ? null : simulation_time - before.simulation_time
  } catch (error) {
    if (isCausewayError(error) && error.code === 'FRAME_NOT_FOUND') return null
    throw error
  }
}
