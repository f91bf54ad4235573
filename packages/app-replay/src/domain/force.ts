/** Recorded constraint values as forces: the solver stores impulses (N·s) in most recordings, newtons in some. */
import type { LambdaUnit, Value } from '@causeway/recording'

/** How a recorded lambda becomes a force. */
export interface ForceScale {
  /** unit of the recorded values */
  readonly unit: LambdaUnit
  /** s, the step in which the impulse acted; null where it is not known */
  readonly dt: Value
}

/** A recorded value in newtons: impulse / dt; null where the unit or the step is unknown. */
export function newtons(value: Value, { unit, dt }: ForceScale): Value {
  if (value === null || unit === 'unknown') return null
  if (unit === 'N') return value
  return dt === null || dt <= 0 ? null : value / dt
}
