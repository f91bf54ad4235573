/** What a plot keeps beside its features: the time slider and the view, stored in the file as metadata features. */

import { parseTime } from '@causeway/app-kit/time'
import { CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { type Bounds, boundsOf } from './bounds.ts'
import { dataTypeOf, propertiesOf } from './feature.ts'

/** The time slider: ISO 8601 with an offset, `start <= current <= end`. */
export interface TimeState {
  readonly current: string
  readonly start: string
  readonly end: string
}

/** The view: west, south, east, north in degrees. */
export interface ViewportState {
  readonly bounds: Bounds
}

/** The states that a plot file keeps. */
export type StateKind = 'time' | 'viewport'

/** `time`, `viewport` or another word for a metadata feature; null for a feature that is shown. */
export function metadataKind(feature: JsonObject): string | null {
  if (dataTypeOf(feature) !== 'metadata') return null
  const { metadataType } = propertiesOf(feature)
  return typeof metadataType === 'string' ? metadataType : 'unknown'
}

/** A time state of a command, its older form `{current, range: [start, end]}` included. Throws `INVALID_COMMAND`. */
export function readTimeState(payload: unknown): TimeState {
  const state = isObject(payload) ? payload : {}
  const range = Array.isArray(state.range) ? state.range : []
  const { current, start = range[0], end = range[1] } = state
  const [from, now, to] = [parseTime(start), parseTime(current), parseTime(end)]
  if (from === undefined || now === undefined || to === undefined) {
    const bad = Object.entries({ current, start, end }).filter(([, time]) => parseTime(time) === undefined)
    const told = bad.map(([name, time]) => `${name} is ${JSON.stringify(time) ?? 'missing'}`).join(', ')
    throw wrong(`a time state is {current, start, end}, each an ISO 8601 time: ${told}`, payload)
  }
  if (from > to || now < from || now > to)
    throw wrong(`a time state needs start <= current <= end: ${start}, ${current}, ${end}`, payload)
  // parseTime has found them to be text
  return {
    current: withOffset(String(current)),
    start: withOffset(String(start)),
    end: withOffset(String(end)),
  }
}

/** The same time with its offset written out: a time without one gets `Z`. */
export function withOffset(time: string): string {
  const text = time.trim()
  if (/(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text.slice(10))) return text
  return text.length <= 10 ? `${text}T00:00:00Z` : `${text}Z`
}

/** A view of a command. West beyond east is a view over the antimeridian. Throws `INVALID_COMMAND`. */
export function readViewport(payload: unknown): ViewportState {
  const bounds = isObject(payload) ? payload.bounds : undefined
  if (!Array.isArray(bounds) || bounds.length !== 4 || !bounds.every(Number.isFinite))
    throw wrong('a viewport is {bounds: [west, south, east, north]}, degrees', payload)
  const [west, south, east, north] = bounds as [number, number, number, number]
  if (Math.abs(south) > 90 || Math.abs(north) > 90 || south > north)
    throw wrong('a viewport needs -90 <= south <= north <= 90', payload)
  const reach = east < west ? east + 360 : east
  if (Math.abs(west) > 360 || reach - west > 360)
    throw wrong('a viewport needs longitudes within one turn of the earth', payload)
  return { bounds: [west, south, reach, north] }
}

/** The time slider that a metadata feature holds; null where it holds none that can be read. */
export function timeOf(feature: JsonObject | undefined): TimeState | null {
  return feature === undefined ? null : attempt(() => readTimeState(propertiesOf(feature)))
}

/** The view that a metadata feature holds: ring[0] is the south-west and ring[2] the north-east corner. */
export function viewportOf(feature: JsonObject | undefined): ViewportState | null {
  if (feature === undefined) return null
  const { geometry } = feature
  const ring = isObject(geometry) && Array.isArray(geometry.coordinates) ? geometry.coordinates[0] : undefined
  if (!Array.isArray(ring) || !Array.isArray(ring[0]) || !Array.isArray(ring[2])) return null
  return attempt(() => readViewport({ bounds: [...ring[0].slice(0, 2), ...ring[2].slice(0, 2)] }))
}

/** The metadata feature with another time; a ring that is none, as `[[]]`, is replaced by the box of the data. */
export function withTime(
  feature: JsonObject | undefined,
  time: TimeState,
  dataBounds: () => Bounds | null,
): JsonObject {
  const { range: _, ...properties } = feature === undefined ? {} : propertiesOf(feature)
  const hasRing = feature !== undefined && boundsOf([feature.geometry]) !== null
  return {
    ...(feature ?? { type: 'Feature', id: 'debrief-time-metadata' }),
    geometry: hasRing ? feature.geometry : ringOf(dataBounds() ?? [-180, -90, 180, 90]),
    properties: { ...properties, dataType: 'metadata', metadataType: 'time', ...time },
  }
}

/** The metadata feature with another view. */
export function withViewport(feature: JsonObject | undefined, { bounds }: ViewportState): JsonObject {
  const properties = feature === undefined ? {} : propertiesOf(feature)
  return {
    ...(feature ?? { type: 'Feature', id: 'debrief-viewport-metadata' }),
    geometry: ringOf(bounds),
    properties: { ...properties, dataType: 'metadata', metadataType: 'viewport' },
  }
}

/** Corners in the order SW, SE, NE, NW, SW, as the readers of these files expect. */
const ringOf = ([west, south, east, north]: Bounds): JsonObject => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})

/** A state of a file that cannot be read is as good as none. */
function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

const wrong = (message: string, payload: unknown): CausewayError =>
  new CausewayError('INVALID_COMMAND', message, { data: { payload: brief(payload) } })

/** Enough of a payload to recognise it. */
const brief = (payload: unknown): string => (JSON.stringify(payload) ?? 'undefined').slice(0, 200)
