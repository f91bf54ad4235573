import { isObject, type JsonObject } from '@causeway/protocol'

/** In degrees. */
export type LonLat = readonly [lon: number, lat: number]

/** Longitude and latitude in degrees, then optionally the elevation in metres, negative below the surface. */
export type Position = readonly number[]

/** The type determines the nesting of `coordinates`. */
export interface Geometry {
  readonly type: string
  readonly coordinates: unknown
}

/** A GeoJSON feature (RFC 7946). `properties.dataType` is its kind. */
export interface Feature {
  readonly type: 'Feature'
  readonly id?: string | number
  readonly geometry: Geometry | null
  readonly properties: JsonObject
}

/** Number of arrays around each position, by geometry type. */
export const coordinateDepths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
}

/** Returns the id as text. */
export const getFeatureId = ({ id }: { readonly id?: unknown }): string | null =>
  typeof id === 'string' || typeof id === 'number' ? String(id) : null

type WithProperties = { readonly properties?: unknown }

export const getProperties = ({ properties }: WithProperties): JsonObject =>
  isObject(properties) ? properties : {}

/** Returns a type such as `track`, `reference-point`, `annotation`, `buoyfield`, `backdrop` or `metadata`. */
export function getDataType(feature: WithProperties): string | null {
  const { dataType } = getProperties(feature)
  return typeof dataType === 'string' ? dataType : null
}

export function getName(feature: WithProperties): string | null {
  const { name } = getProperties(feature)
  return typeof name === 'string' && name !== '' ? name : null
}

export const getLabel = (feature: WithProperties & { readonly id?: unknown }): string =>
  getName(feature) ?? getFeatureId(feature) ?? 'unnamed'

export const getGeometryType = ({ geometry }: { readonly geometry?: unknown }): string | null =>
  isObject(geometry) && typeof geometry.type === 'string' ? geometry.type : null

/** Returns the data type, otherwise the geometry type in lower case, otherwise `none`. */
export const getKind = (feature: WithProperties & { readonly geometry?: unknown }): string =>
  getDataType(feature) ?? getGeometryType(feature)?.toLowerCase() ?? 'none'

/** Returns the lines, rings and lists of points of a geometry. Accepts any value and skips malformed parts. */
export function listPaths(geometry: unknown): readonly (readonly LonLat[])[] {
  if (!isObject(geometry)) return []
  if (geometry.type === 'GeometryCollection')
    return Array.isArray(geometry.geometries) ? geometry.geometries.flatMap(listPaths) : []
  const paths: LonLat[][] = []
  collectPaths(geometry.coordinates, paths)
  return paths
}

function collectPaths(coordinates: unknown, paths: LonLat[][]): void {
  if (!Array.isArray(coordinates) || coordinates.length === 0) return
  if (isPosition(coordinates)) paths.push([coordinates])
  else if (coordinates.every(isPosition)) paths.push(coordinates as LonLat[])
  else for (const part of coordinates) collectPaths(part, paths)
}

const isPosition = (value: unknown): value is LonLat & unknown[] =>
  Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1])

/** Returns the same parts as `listPaths`, but requires a validated geometry. */
export function listParts(geometry: Geometry | null): readonly (readonly Position[])[] {
  if (geometry === null) return []
  const { type, coordinates } = geometry
  if (type === 'Point') return [[coordinates as Position]]
  if (type === 'MultiPoint' || type === 'LineString') return [coordinates as Position[]]
  if (type === 'MultiLineString' || type === 'Polygon') return coordinates as Position[][]
  return (coordinates as Position[][][]).flat()
}

/** The geometry must be validated. */
export const countVertices = ({ geometry }: Feature): number =>
  listParts(geometry).reduce((sum, part) => sum + part.length, 0)
