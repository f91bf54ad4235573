/** What a model reads of features: a row each, or the features themselves, thinned where it asks for it. */
import { type Bounds, boundsOf, overlap } from './bounds.ts'
import { dataTypeOf, geometryTypeOf, nameOf, positionsOf } from './feature.ts'
import { formatTime } from './iso-time.ts'
import type { JsonObject } from './json.ts'
import type { Item, PlotDocument } from './plot-document.ts'
import { timesOf } from './plot-document.ts'
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
    ({ id, value }) =>
      (wanted === undefined || (id !== null && wanted.has(id))) &&
      (dataType === undefined || dataTypeOf(value) === dataType) &&
      (bounds === undefined || touches(value, bounds)),
  )
}

/** A feature in one line. */
export function featureRow({ id, value }: Item): FeatureRow {
  const times = timesOf(value)
  const box = boundsOf([value.geometry])
  return {
    id,
    name: nameOf(value),
    dataType: dataTypeOf(value),
    geometry: geometryTypeOf(value),
    vertices: positionsOf(value.geometry).length,
    ...(times === null ? {} : { start: formatTime(times[0]), end: formatTime(times[1]) }),
    ...(box === null ? {} : { bbox: box.map(fiveDecimals) }),
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
  for (const { value, text } of items.slice(from, from + limit)) {
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
  for (const { value } of items) {
    const type = dataTypeOf(value) ?? 'none'
    counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return Object.fromEntries(counts)
}

const touches = ({ geometry }: JsonObject, bounds: Bounds): boolean => {
  const box = boundsOf([geometry])
  return box !== null && overlap(box, bounds)
}

const fiveDecimals = (degrees: number): number => Math.round(degrees * 1e5) / 1e5
