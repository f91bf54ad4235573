import { formatTime } from '@causeway/app-kit/time'
import { areBoundsOverlapping, type Bounds } from '@causeway/plot'
import type { JsonObject } from '@causeway/protocol'
import type { Item } from '../document/item.ts'
import type { PlotDocument } from '../document/plot-document.ts'
import { simplifyFeature } from './simplify.ts'

export interface FeatureFilter {
  readonly ids?: readonly string[] | undefined
  readonly dataType?: string | undefined
  readonly bounds?: Bounds | undefined
}

export interface Page {
  readonly from: number
  readonly limit: number
}

export function filterItems(
  { items }: PlotDocument,
  { ids, dataType, bounds }: FeatureFilter,
): readonly Item[] {
  const idSet = ids && new Set(ids)
  return items.filter(
    ({ id, summary }) =>
      (idSet === undefined || (id !== null && idSet.has(id))) &&
      (dataType === undefined || summary.dataType === dataType) &&
      (bounds === undefined || (summary.bounds !== null && areBoundsOverlapping(summary.bounds, bounds))),
  )
}

/** Times are ISO 8601. `bbox` is west, south, east, north. */
export function toRow({ id, summary }: Item) {
  const { name, dataType, geometry, vertices, times, bounds } = summary
  return {
    id,
    name,
    dataType,
    geometry,
    vertices,
    ...(times === null ? {} : { start: formatTime(times[0]), end: formatTime(times[1]) }),
    ...(bounds === null ? {} : { bbox: bounds.map(roundDegrees) }),
  }
}

/** Returns up to `limit` features that fit `maxCharacters`, at least one. Simplifies lines if a tolerance is given. */
export function selectPage(
  items: readonly Item[],
  {
    from,
    limit,
    maxCharacters,
    toleranceM,
  }: Page & { maxCharacters: number; toleranceM?: number | undefined },
): readonly JsonObject[] {
  const selectedFeatures: JsonObject[] = []
  let characters = 0
  for (const item of items.slice(from, from + limit)) {
    const { value, text } = item
    const returnedFeature = toleranceM === undefined ? value : simplifyFeature(value, toleranceM)
    characters += returnedFeature === value ? text.length : JSON.stringify(returnedFeature).length
    if (selectedFeatures.length > 0 && characters > maxCharacters) break
    selectedFeatures.push(returnedFeature)
  }
  return selectedFeatures
}

/** Features without a type count as `none`. */
export function countByType(items: readonly Item[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const { summary } of items) {
    const type = summary.dataType ?? 'none'
    counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return Object.fromEntries(counts)
}

const roundDegrees = (degrees: number): number => Math.round(degrees * 1e5) / 1e5
