import { asObject } from '@causeway/protocol'
import type { Interaction, InteractionParameter } from '../domain/observation.ts'

export function readInteraction(key: string, value: Record<string, unknown>): Interaction {
  return {
    name: toTextOrNull(value.name) ?? key,
    description: toTextOrNull(value.description) ?? '',
    fills: readStrings(value.needs_filled),
    drains: readStrings(value.needs_drained),
    rates: readRates(value.need_rates),
    minutes: typeof value.duration_minutes === 'number' ? value.duration_minutes : null,
  }
}

export const readRates = (value: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(asObject(value)).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
    ),
  )

/** Each value is a description, or an object with type and description. */
export const readParameters = (value: unknown): readonly InteractionParameter[] =>
  Object.entries(asObject(value)).map(([name, parameter]) => ({
    name,
    type: (typeof parameter === 'object' ? toTextOrNull(asObject(parameter).type) : null) ?? 'string',
    description:
      typeof parameter === 'string' ? parameter : (toTextOrNull(asObject(parameter).description) ?? ''),
  }))

export const toTextOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

export const toNumberOr = (value: unknown, fallback: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : fallback

export const readStrings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string') : []
