/** What a model reads of features: a row each, or the features themselves, thinned where it asks for it. */

import { formatTime } from '@causeway/app-kit/time'
import type { JsonObject } from '@causeway/protocol'
import { type Bounds, overlap } from './bounds.ts'
import type { Item } from './item.ts'
import type { PlotDocument } from './plot-document.ts'
import { simplified } from './simplify.ts'

/** Which features are wanted. */
export interface FeatureFilter {
  readonly ids?: readonly string[] | undefined
  readonly dataType?: string | undefined
  readonly bounds?: Bounds | undefined
}

/** A part of a list. */
export interface Part {
  /** place of the first one among those that fit */
  readonly from: number
  readonly limit: number
}

/** A feature in one line. */
export interface FeatureRow {
  readonly id: string | null
  readonly name: string | null
  readonly dataType: string | null
  readonly geometry: string | null
  readonly vertices: number
  /** ISO 8601 */
  readonly start?: string
  readonly end?: string
  /** west, south, east, north; five decimals */
  readonly bbox?: readonly number[]
}

/** Features that fit, in the order of the plot. */
export function fitting({ items }: PlotDocument, { ids, dataType, bounds }: FeatureFilter): readonly Item[] {
  const wanted = ids && new Set(ids)
  return items.filter(
    ({ id, looks }) =>
      (wanted === undefined || (id !== null && wanted.has(id))) &&
      (dataType === undefined || looks.dataType === dataType) &&
      (bounds === undefined || (looks.bounds !== null && overlap(looks.bounds, bounds))),
  )
}

/** A feature in one line. */
export function featureRow({ id, looks }: Item): FeatureRow {
  const { name, dataType, geometry, vertices, times, bounds } = looks
  return {
    id,
    name,
    dataType,
    geometry,
    vertices,
    ...(times === null ? {} : { start: formatTime(times[0]), end: formatTime(times[1]) }),
    ...(bounds === null ? {} : { bbox: bounds.map(fiveDecimals) }),
  }
}

/** Whole features up to a number of characters, at least one; lines thinned by a tolerance in metres. */
export function wholeFeatures(
  items: readonly Item[],
  {
    from,
    limit,
    mostCharacters,
    toleranceM,
  }: Part & { mostCharacters: number; toleranceM?: number | undefined },
): readonly JsonObject[] {
  const taken: JsonObject[] = []
  let characters = 0
  for (const item of items.slice(from, from + limit)) {
    const { value, text } = item
    const shown = toleranceM === undefined ? value : simplified(value, toleranceM)
    characters += shown === value ? text.length : JSON.stringify(shown).length
    if (taken.length > 0 && characters > mostCharacters) break
    taken.push(shown)
  }
  return taken
}

/** How many features there are of each type; `none` for those that name none. */
export function countByType(items: readonly Item[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const { looks } of items) {
    const type = looks.dataType ?? 'none'
    counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return Object.fromEntries(counts)
}

const fiveDecimals = (degrees: number): number => Math.round(degrees * 1e5) / 1e5
