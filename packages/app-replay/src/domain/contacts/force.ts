import type { LambdaUnit, Value } from '@causeway/recording'

/** The unit of recorded constraint values: N·s in most recordings, N in some. */
export interface ForceScale {
  readonly unit: LambdaUnit
  /** Step in which the impulse acts, in s. `null` if unknown. */
  readonly dt: Value
}

/** Returns a recorded value in newtons, or `null` if the unit or the step is unknown. */
export function toNewtons(value: Value, { unit, dt }: ForceScale): Value {
  if (value === null || unit === 'unknown') return null
  if (unit === 'N') return value
  return dt === null || dt <= 0 ? null : value / dt
}
