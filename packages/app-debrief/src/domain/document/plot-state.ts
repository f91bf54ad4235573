import { parseTime } from '@causeway/app-kit/time'
import {
  type Bounds,
  createBoundsPolygon,
  findBounds,
  getDataType,
  getProperties,
  listPaths,
  type TimeState,
  unwrapBounds,
} from '@causeway/plot'
import { type CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { DebriefError } from '../../errors.ts'

export interface ViewportState {
  readonly bounds: Bounds
}

export type StateKind = 'time' | 'viewport'

/** Returns the kind of a metadata feature, such as `time`, or `null` for other features. */
export function getMetadataKind(feature: JsonObject): string | null {
  if (getDataType(feature) !== 'metadata') return null
  const { metadataType } = getProperties(feature)
  return typeof metadataType === 'string' ? metadataType : 'unknown'
}

/** Accepts `{current, start, end}` and the legacy `{current, range: [start, end]}`. Throws `INVALID_COMMAND`. */
export function readTimeState(payload: unknown): TimeState {
  const state = isObject(payload) ? payload : {}
  const range = Array.isArray(state.range) ? state.range : []
  const { current, start = range[0], end = range[1] } = state
  const [from, now, to] = [parseTime(start), parseTime(current), parseTime(end)]
  if (from === undefined || now === undefined || to === undefined) {
    const invalidMembers = Object.entries({ current, start, end }).filter(
      ([, time]) => parseTime(time) === undefined,
    )
    const problems = invalidMembers
      .map(([name, time]) => `${name} is ${JSON.stringify(time) ?? 'missing'}`)
      .join(', ')
    throw createInvalidError(
      `a time state is {current, start, end}, each an ISO 8601 time: ${problems}`,
      payload,
    )
  }
  if (from > to || now < from || now > to)
    throw createInvalidError(
      `a time state requires start <= current <= end: ${start}, ${current}, ${end}`,
      payload,
    )
  return {
    current: addOffset(String(current)),
    start: addOffset(String(start)),
    end: addOffset(String(end)),
  }
}

export function addOffset(time: string): string {
  const text = time.trim()
  if (/(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text.slice(10))) return text
  return text.length <= 10 ? `${text}T00:00:00Z` : `${text}Z`
}

/** Accepts and unwraps bounds with west > east, which cross the antimeridian. Throws `INVALID_COMMAND`. */
export function readViewport(payload: unknown): ViewportState {
  const bounds = isObject(payload) ? payload.bounds : undefined
  if (!Array.isArray(bounds) || bounds.length !== 4 || !bounds.every(Number.isFinite))
    throw createInvalidError('a viewport is {bounds: [west, south, east, north]} in degrees', payload)
  const [west, south, east, north] = bounds as [number, number, number, number]
  if (Math.abs(south) > 90 || Math.abs(north) > 90 || south > north)
    throw createInvalidError('a viewport requires -90 <= south <= north <= 90', payload)
  const box = unwrapBounds([west, south, east, north])
  if (Math.abs(west) > 360 || box[2] - west > 360)
    throw createInvalidError('a viewport requires longitudes within 360 degrees', payload)
  return { bounds: box }
}

/** Returns `null` if the time is missing or invalid. */
export function readStoredTime(feature: JsonObject | undefined): TimeState | null {
  return feature === undefined ? null : tryRead(() => readTimeState(getProperties(feature)))
}

/** `ring[0]` is the south-west corner and `ring[2]` the north-east corner. */
export function readStoredViewport(feature: JsonObject | undefined): ViewportState | null {
  if (feature === undefined) return null
  const { geometry } = feature
  const ring = isObject(geometry) && Array.isArray(geometry.coordinates) ? geometry.coordinates[0] : undefined
  if (!Array.isArray(ring) || !Array.isArray(ring[0]) || !Array.isArray(ring[2])) return null
  return tryRead(() => readViewport({ bounds: [...ring[0].slice(0, 2), ...ring[2].slice(0, 2)] }))
}

/** Replaces an invalid ring, such as `[[]]`, with the data bounds, or else the world. */
export function setTime(
  feature: JsonObject | undefined,
  time: TimeState,
  getDataBounds: () => Bounds | null,
): JsonObject {
  const { range: _, ...properties } = feature === undefined ? {} : getProperties(feature)
  const hasValidRing = feature !== undefined && findBounds(listPaths(feature.geometry)) !== null
  return {
    ...(feature ?? { type: 'Feature', id: 'debrief-time-metadata' }),
    geometry: hasValidRing ? feature.geometry : createBoundsPolygon(getDataBounds() ?? [-180, -90, 180, 90]),
    properties: { ...properties, dataType: 'metadata', metadataType: 'time', ...time },
  }
}

export function setViewport(feature: JsonObject | undefined, { bounds }: ViewportState): JsonObject {
  const properties = feature === undefined ? {} : getProperties(feature)
  return {
    ...(feature ?? { type: 'Feature', id: 'debrief-viewport-metadata' }),
    geometry: createBoundsPolygon(bounds),
    properties: { ...properties, dataType: 'metadata', metadataType: 'viewport' },
  }
}

function tryRead<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

const createInvalidError = (message: string, payload: unknown): CausewayError =>
  new DebriefError('INVALID_COMMAND', message, { data: { payload: shorten(payload) } })

const shorten = (payload: unknown): string => (JSON.stringify(payload) ?? 'undefined').slice(0, 200)
