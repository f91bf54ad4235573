import {
  type Bounds,
  findBounds,
  findTimeRange,
  getDataType,
  getFeatureId,
  getGeometryType,
  getName,
  listPaths,
} from '@causeway/plot'
import type { JsonObject } from '@causeway/protocol'

interface ItemSummary {
  readonly name: string | null
  readonly dataType: string | null
  readonly geometry: string | null
  readonly vertices: number
  /** Unix milliseconds. */
  readonly times: readonly [first: number, last: number] | null
  readonly bounds: Bounds | null
}

export interface Item {
  readonly id: string | null
  readonly text: string
  /** Parsed on demand, because a parsed feature uses six times the memory of its text. */
  readonly value: JsonObject
  readonly summary: ItemSummary
}

export function makeItem(value: JsonObject, text: string): Item {
  // Does not close over `value`: a new weak reference retains its target until the current job ends, and one job may
  // parse a whole file.
  let cachedValue: WeakRef<JsonObject> | undefined
  const summary = summarize(value)
  return {
    id: getFeatureId(value),
    text,
    get value() {
      const cachedObject = cachedValue?.deref()
      if (cachedObject !== undefined) return cachedObject
      const parsed = JSON.parse(text) as JsonObject
      cachedValue = new WeakRef(parsed)
      return parsed
    },
    summary,
  }
}

/** Whether two features have the same value, regardless of white space. */
export const isSameItem = (a: Item, b: Item): boolean =>
  a.text === b.text || JSON.stringify(a.value) === JSON.stringify(b.value)

function summarize(feature: JsonObject): ItemSummary {
  const paths = listPaths(feature.geometry)
  return {
    name: getName(feature),
    dataType: getDataType(feature),
    geometry: getGeometryType(feature),
    vertices: paths.reduce((sum, path) => sum + path.length, 0),
    times: findTimeRange(feature),
    bounds: findBounds(paths),
  }
}
