/** A feature of a plot in memory: its text, and what is asked of it all the time. */

import { parseTime } from '@causeway/app-kit/time'
import type { JsonObject } from '@causeway/protocol'
import { type Bounds, boundsOf } from './bounds.ts'
import { dataTypeOf, geometryTypeOf, idOf, nameOf, positionsOf, propertiesOf } from './feature.ts'

/** What lists, maps and sliders want to know of a feature. */
export interface Looks {
  readonly name: string | null
  readonly dataType: string | null
  /** `LineString` */
  readonly geometry: string | null
  readonly vertices: number
  /** first and last time, epoch ms */
  readonly times: readonly [first: number, last: number] | null
  readonly bounds: Bounds | null
}

/** A feature that is shown. */
export interface Item {
  /** null for a feature that the file gives none */
  readonly id: string | null
  /** as it stands in the file */
  readonly text: string
  /** The feature; parsed anew where nobody held it, since a large plot takes six times its text when parsed. */
  readonly value: JsonObject
  readonly looks: Looks
}

/** A feature with its text. */
export function makeItem(value: JsonObject, text: string): Item {
  // Not the value at hand: what a weak reference was made for lives to the end of the job, a whole file when one is read.
  let held: WeakRef<JsonObject> | undefined
  const looks = looksOf(value)
  return {
    id: idOf(value),
    text,
    get value() {
      const known = held?.deref()
      if (known !== undefined) return known
      const read = JSON.parse(text) as JsonObject // it was parsed before
      held = new WeakRef(read)
      return read
    },
    looks,
  }
}

/** True where two features have the same value, however they are written. */
export const isSameItem = (a: Item, b: Item): boolean =>
  a.text === b.text || JSON.stringify(a.value) === JSON.stringify(b.value)

const looksOf = (feature: JsonObject): Looks => ({
  name: nameOf(feature),
  dataType: dataTypeOf(feature),
  geometry: geometryTypeOf(feature),
  vertices: positionsOf(feature.geometry).length,
  times: timesOf(feature),
  bounds: boundsOf([feature.geometry]),
})

/** First and last time of a feature, epoch ms; null for one without times. */
function timesOf(feature: JsonObject): Looks['times'] {
  const { timestamps, times, time, timeStart, timeEnd } = propertiesOf(feature)
  const lists = [timestamps, times].filter((list) => Array.isArray(list))
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const text of [...lists.flatMap(extremes), time, timeStart, timeEnd]) {
    const ms = parseTime(text)
    if (ms === undefined) continue
    first = Math.min(first, ms)
    last = Math.max(last, ms)
  }
  return first > last ? null : [first, last]
}

/** The least and greatest of times that are written alike, which their order as text tells; else all of them. */
function extremes(times: readonly unknown[]): readonly unknown[] {
  const [first] = times
  if (typeof first !== 'string' || !first.endsWith('Z')) return times
  let [least, greatest] = [first, first]
  for (const time of times) {
    if (typeof time !== 'string' || time.length !== first.length || !time.endsWith('Z')) return times
    if (time < least) least = time
    if (time > greatest) greatest = time
  }
  return [least, greatest]
}
