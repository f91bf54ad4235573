/** A GeoJSON feature (RFC 7946) of a plot, read with tolerance: what is not understood is passed over. */
import { isObject, type JsonObject } from '@causeway/protocol'

/** A longitude and a latitude, degrees. */
export type LonLat = readonly [lon: number, lat: number]

/** The id by which a feature is asked for: numbers count as their text; null where there is none. */
export function idOf({ id }: JsonObject): string | null {
  if (typeof id === 'string') return id
  return typeof id === 'number' ? String(id) : null
}

/** The properties, none where they are null or no object. */
export const propertiesOf = ({ properties }: JsonObject): JsonObject =>
  isObject(properties) ? properties : {}

/** `track`, `reference-point`, `annotation`, `buoyfield`, `backdrop`, `metadata`, or what else the file says. */
export function dataTypeOf(feature: JsonObject): string | null {
  const { dataType } = propertiesOf(feature)
  return typeof dataType === 'string' ? dataType : null
}

/** The name to show. */
export function nameOf(feature: JsonObject): string | null {
  const { name } = propertiesOf(feature)
  return typeof name === 'string' && name !== '' ? name : null
}

/** `LineString`, or null for a feature without a place. */
export function geometryTypeOf({ geometry }: JsonObject): string | null {
  return isObject(geometry) && typeof geometry.type === 'string' ? geometry.type : null
}

/** The lines, rings and runs of points of a geometry, each a list of positions, in the order of the file. */
export function pathsOf(geometry: unknown): readonly (readonly LonLat[])[] {
  if (!isObject(geometry)) return []
  if (geometry.type === 'GeometryCollection')
    return Array.isArray(geometry.geometries) ? geometry.geometries.flatMap(pathsOf) : []
  const paths: LonLat[][] = []
  collect(geometry.coordinates, paths)
  return paths
}

/** Every position of a geometry. */
export const positionsOf = (geometry: unknown): readonly LonLat[] => pathsOf(geometry).flat()

function collect(coordinates: unknown, paths: LonLat[][]): void {
  if (!Array.isArray(coordinates) || coordinates.length === 0) return
  if (isPosition(coordinates)) paths.push([coordinates])
  else if (coordinates.every(isPosition)) paths.push(coordinates as LonLat[])
  else for (const part of coordinates) collect(part, paths)
}

const isPosition = (value: unknown): value is LonLat & unknown[] =>
  Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1])
