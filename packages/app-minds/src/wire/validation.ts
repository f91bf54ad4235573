import type { z } from 'zod'
import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'

/** Throws `LIMIT_EXCEEDED`. */
export function requireWithin(limit: keyof Limits, value: number, max: number): void {
  if (value <= max) return
  throw new MindsError('LIMIT_EXCEEDED', `${limit.replaceAll('_', ' ')}: ${value}, the limit is ${max}`, {
    data: { limit, value, most: max },
  })
}

/** Returns at most five problems as `path: problem`. */
export const listProblems = ({ issues }: z.ZodError): readonly string[] =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'value'}: ${message.replace(/^Invalid input: /, '')}`)

/** Returns a nonempty string of the settings, or `undefined`. */
export const toText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
