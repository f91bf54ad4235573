/** Features of a plot: GeoJSON (RFC 7946) with `properties.dataType` saying what each one is. */
import { CausewayError } from '@causeway/protocol'

/** Longitude and latitude in degrees, then possibly an elevation in metres (negative for a depth). */
export type Position = readonly number[]

/** A geometry; which nesting `coordinates` has follows from the type. */
export interface Geometry {
  readonly type: string
  readonly coordinates: unknown
}

/** One feature. Unknown members are kept as they are. */
export interface Feature {
  readonly type: 'Feature'
  readonly id?: string | number
  readonly geometry: Geometry | null
  readonly properties: Readonly<Record<string, unknown>>
}

/** What is wrong with one feature of a list. */
export interface FeatureProblem {
  readonly index: number
  readonly id: string | null
  readonly reason: string
}

/** How deep positions lie in the coordinates of each type. */
const depths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
}

/** Problems told in one error. */
const mostProblems = 20

/** Features as a caller gives them, checked; throws `INVALID_ARGUMENTS` that lists what is wrong, up to twenty of them. */
export function readFeatures(values: readonly unknown[], argument: string): readonly Feature[] {
  const problems: FeatureProblem[] = []
  for (const [index, value] of values.entries()) {
    const reason = whatIsWrong(value)
    if (reason !== undefined) problems.push({ index, id: idOf(value as Feature), reason })
  }
  if (problems.length === 0) return values.map((value) => complete(value as Feature)) // checked above
  const [first] = problems
  throw new CausewayError(
    'INVALID_ARGUMENTS',
    `${argument}: ${problems.length} of ${values.length} features are not usable, the first at index ${first?.index}: ${first?.reason}`,
    { data: { problems: problems.slice(0, mostProblems), total: problems.length } },
  )
}

/** GeoJSON wants both members; callers leave them out. */
const complete = (feature: Feature): Feature => {
  const { geometry, properties } = feature as Partial<Feature>
  const isWhole = geometry !== undefined && properties !== null && properties !== undefined
  return isWhole ? feature : { ...feature, geometry: geometry ?? null, properties: properties ?? {} }
}

function whatIsWrong(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'not an object'
  const { type, geometry, properties } = value as Readonly<Record<string, unknown>>
  if (type !== 'Feature') return 'type is not Feature'
  if (properties !== null && properties !== undefined && typeof properties !== 'object')
    return 'properties is not an object'
  if (geometry === null || geometry === undefined) return undefined
  const { type: kind, coordinates } = geometry as Partial<Geometry>
  const depth = typeof kind === 'string' && Object.hasOwn(depths, kind) ? depths[kind] : undefined
  if (depth === undefined)
    return `geometry type ${JSON.stringify(kind)} is not one of ${Object.keys(depths).join(', ')}`
  return wrongCoordinates(coordinates, depth)
}

function wrongCoordinates(value: unknown, depth: number): string | undefined {
  if (!Array.isArray(value)) return 'coordinates are not nested as the geometry type says'
  if (depth === 0) return wrongPosition(value)
  for (const part of value) {
    const reason = wrongCoordinates(part, depth - 1)
    if (reason !== undefined) return reason
  }
  return undefined
}

function wrongPosition(position: readonly unknown[]): string | undefined {
  const [lon, lat] = position
  if (typeof lon !== 'number' || typeof lat !== 'number' || !Number.isFinite(lon) || !Number.isFinite(lat))
    return `not a position: ${JSON.stringify(position)}`
  if (Math.abs(lat) > 90) return `latitude ${lat} is beyond 90 degrees`
  if (Math.abs(lon) > 540) return `longitude ${lon} is beyond any turn of the earth`
  return undefined
}

/** The id as text, which is how ids are compared; null without one. */
export const idOf = ({ id }: { readonly id?: unknown }): string | null =>
  typeof id === 'string' || typeof id === 'number' ? String(id) : null

/** `properties.dataType`, or the type of the geometry in lower case. */
export function kindOf({ properties, geometry }: Feature): string {
  const { dataType } = properties
  return typeof dataType === 'string' ? dataType : (geometry?.type.toLowerCase() ?? 'none')
}

/** What people call it: its name, else its id. */
export function nameOf(feature: Feature): string {
  const { name } = feature.properties
  return typeof name === 'string' && name !== '' ? name : (idOf(feature) ?? 'unnamed')
}

/** The positions of a geometry in lists: one list for each line, ring or set of points. */
export function partsOf(geometry: Geometry | null): readonly (readonly Position[])[] {
  if (geometry === null) return []
  const { type, coordinates } = geometry
  // readFeatures has checked the nesting.
  if (type === 'Point') return [[coordinates as Position]]
  if (type === 'MultiPoint' || type === 'LineString') return [coordinates as Position[]]
  if (type === 'MultiLineString' || type === 'Polygon') return coordinates as Position[][]
  return (coordinates as Position[][][]).flat()
}

/** Number of positions. */
export const vertexCount = ({ geometry }: Feature): number =>
  partsOf(geometry).reduce((sum, part) => sum + part.length, 0)
