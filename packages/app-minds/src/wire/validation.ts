import type { CausewayError } from '@causeway/protocol'
import type { z } from 'zod'
import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'

/** Throws `LIMIT_EXCEEDED`. */
export function requireWithinLimit(limit: keyof Limits, value: number, max: number): void {
  if (value <= max) return
  throw new MindsError('LIMIT_EXCEEDED', `${limit.replaceAll('_', ' ')}: ${value}, the limit is ${max}`, {
    data: { limit, value, most: max },
  })
}

type InputName = 'config' | 'save' | 'events' | 'observation'

export const createInvalidError = (name: InputName, problems: readonly string[]): CausewayError =>
  new MindsError(errorCodes[name], `Invalid ${name} format: ${problems.join('; ')}`, { data: { problems } })

const errorCodes = {
  config: 'INVALID_CONFIG',
  save: 'INVALID_SAVE',
  events: 'INVALID_EVENTS',
  observation: 'INVALID_OBSERVATION',
} as const

export function parseInput<Schema extends z.ZodType>(
  name: InputName,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw createInvalidError(name, listProblems(parsed.error))
}

const listProblems = ({ issues }: z.ZodError): readonly string[] =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'value'}: ${message.replace(/^Invalid input: /, '')}`)

export const toText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
