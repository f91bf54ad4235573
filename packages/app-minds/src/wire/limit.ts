/** Holding a value to a limit. */
import { CausewayError } from '@causeway/protocol'
import type { Limits } from '../limits.ts'

/** Throws `LIMIT_EXCEEDED` beyond a limit. */
export function within(limit: keyof Limits, value: number, most: number): void {
  if (value <= most) return
  throw new CausewayError('LIMIT_EXCEEDED', `${limit.replaceAll('_', ' ')}: ${value}, the limit is ${most}`, {
    data: { limit, value, most },
  })
}
