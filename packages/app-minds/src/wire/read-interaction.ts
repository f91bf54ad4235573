/** Interactions and their parts as games send them. */
import type { Interaction, InteractionParameter } from '../domain/observation.ts'

/** An interaction under its name. */
export function readInteraction(key: string, value: Record<string, unknown>): Interaction {
  return {
    name: text(value.name) ?? key,
    description: text(value.description) ?? '',
    fills: stringsOf(value.needs_filled),
    drains: stringsOf(value.needs_drained),
    rates: readRates(value.need_rates),
    minutes: typeof value.duration_minutes === 'number' ? value.duration_minutes : null,
  }
}

/** need -> change per game minute, numbers alone. */
export const readRates = (value: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(loose(value)).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
    ),
  )

/** Parameters of an interaction: a description, or an object of type and description. */
export const readParameters = (value: unknown): readonly InteractionParameter[] =>
  Object.entries(loose(value)).map(([name, one]) => ({
    name,
    type: (typeof one === 'object' ? text(loose(one).type) : null) ?? 'string',
    description: typeof one === 'string' ? one : (text(loose(one).description) ?? ''),
  }))

/** The value if it is a text that is not empty. */
export const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** The value if it is a finite number. */
export const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise

/** The texts in a list. */
export const stringsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** An object, or an empty one in its place. */
export const loose = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
