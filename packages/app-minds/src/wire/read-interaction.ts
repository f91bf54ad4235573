/** Interactions and their parts as games send them. */
import { asObject } from '@causeway/protocol'
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
    Object.entries(asObject(value)).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
    ),
  )

/** Parameters of an interaction: a description, or an object of type and description. */
export const readParameters = (value: unknown): readonly InteractionParameter[] =>
  Object.entries(asObject(value)).map(([name, one]) => ({
    name,
    type: (typeof one === 'object' ? text(asObject(one).type) : null) ?? 'string',
    description: typeof one === 'string' ? one : (text(asObject(one).description) ?? ''),
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
