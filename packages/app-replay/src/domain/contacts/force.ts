import type { LambdaUnit, Value } from '@causeway/recording'

export interface ForceScale {
  /** N·s in most recordings. */
  readonly unit: LambdaUnit
  /** Step in s; `null` if unknown. */
  readonly dt: Value
}

/** Returns `null` if the value, the unit or a required step is unknown. */
export function toNewtons(value: Value, { unit, dt }: ForceScale): Value {
  if (value === null || unit === 'unknown') return null
  if (unit === 'N') return value
  return dt === null || dt <= 0 ? null : value / dt
}
