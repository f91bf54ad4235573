import { type Frame, type Recording, RecordingError, type Value } from '@causeway/recording'
import type { ForceScale } from '../domain/contacts/force.ts'

export async function findFrame(recording: Recording, frameId: number): Promise<Frame | undefined> {
  try {
    return await recording.frame(frameId)
  } catch (error) {
    if (RecordingError.is(error, 'FRAME_NOT_FOUND')) return undefined
    throw error
  }
}

export async function getForceScale(recording: Recording, frame: Frame): Promise<ForceScale> {
  const { lambda_unit, dt_s, dt_uniform } = recording.summary
  return { unit: lambda_unit, dt: dt_uniform ? dt_s : await getStep(recording, frame) }
}

/** Returns the time since the previous frame, or the time of the first frame, in s. */
async function getStep(recording: Recording, { frame_id, simulation_time }: Frame): Promise<Value> {
  if (simulation_time === null) return null
  if (frame_id === recording.summary.frames?.first_frame) return simulation_time
  const before = (await findFrame(recording, frame_id - 1))?.simulation_time ?? null
  return before === null ? null : simulation_time - before
}
