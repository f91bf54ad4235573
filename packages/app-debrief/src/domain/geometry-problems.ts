/** What is wrong with the coordinates of a geometry (RFC 7946 section 3.1); degrees, metres for heights. */
import { isObject } from '@causeway/protocol'

/** Named problems of one geometry; the rest would say the same. */
const mostNamed = 5

/** How deep the positions of a type stand in its coordinates. */
const depths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
}

/** Each thing that is wrong, at most five. A feature without a place has none. */
export function geometryProblems(geometry: unknown): readonly string[] {
  if (geometry === null || geometry === undefined) return []
  if (!isObject(geometry)) return ['geometry must be an object']
  const { type, coordinates, geometries } = geometry
  if (type === 'GeometryCollection')
    return Array.isArray(geometries)
      ? geometries.flatMap(geometryProblems).slice(0, mostNamed)
      : ['geometries must be a list']
  const depth = typeof type === 'string' && Object.hasOwn(depths, type) ? depths[type] : undefined
  if (depth === undefined) return [`geometry.type is not known: ${JSON.stringify(type)}`]
  const problems: string[] = []
  walk(coordinates, { depth, path: [], problems })
  if (problems.length === 0) shape(String(type), coordinates as readonly unknown[], problems)
  return problems
}

interface Walk {
  readonly depth: number
  /** places on the way to the value */
  readonly path: number[]
  readonly problems: string[]
}

function walk(value: unknown, { depth, path, problems }: Walk): void {
  if (!Array.isArray(value)) problems.push(`${nameOf(path)} must be a list`)
  else if (depth === 0) position(value, path, problems)
  else
    for (const [index, part] of value.entries()) {
      if (problems.length >= mostNamed) return
      path.push(index)
      walk(part, { depth: depth - 1, path, problems })
      path.pop()
    }
}

const nameOf = (path: readonly number[]): string => `coordinates${path.map((index) => `[${index}]`).join('')}`

function position(value: readonly unknown[], path: readonly number[], problems: string[]): void {
  const [lon, lat, height] = value
  if (value.length < 2 || !Number.isFinite(lon) || !Number.isFinite(lat)) {
    problems.push(`${nameOf(path)} must be two or three numbers: ${JSON.stringify(value).slice(0, 60)}`)
    return
  }
  if (Math.abs(Number(lat)) > 90) problems.push(`${nameOf(path)}: the latitude is ${lat}`)
  if (Math.abs(Number(lon)) > 180) problems.push(`${nameOf(path)}: the longitude is ${lon}`)
  if (height === undefined) return
  if (!Number.isFinite(height) || Number(height) < -11_000 || Number(height) > 9000)
    problems.push(`${nameOf(path)}: the height is ${JSON.stringify(height)}`)
}

function shape(type: string, coordinates: readonly unknown[], problems: string[]): void {
  if (type === 'LineString' && coordinates.length < 2) problems.push('a line needs two positions')
  if (type === 'MultiLineString' && coordinates.some((line) => (line as readonly unknown[]).length < 2))
    problems.push('each line needs two positions')
  const rings = type === 'Polygon' ? coordinates : type === 'MultiPolygon' ? coordinates.flat() : []
  for (const [index, ring] of (rings as readonly (readonly (readonly number[])[])[]).entries()) {
    const [first, last] = [ring[0], ring.at(-1)]
    if (ring.length < 4) problems.push(`ring ${index} needs four positions`)
    else if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1])
      problems.push(`ring ${index} is not closed: its last position must be its first`)
  }
}
