import { coordinateDepths } from '@causeway/plot'
import { isObject } from '@causeway/protocol'

const maxProblems = 5

/** Returns up to five problems with the coordinates (RFC 7946, section 3.1). A missing geometry is valid. */
export function findGeometryProblems(geometry: unknown): readonly string[] {
  if (geometry === null || geometry === undefined) return []
  if (!isObject(geometry)) return ['geometry must be an object']
  const { type, coordinates, geometries } = geometry
  if (type === 'GeometryCollection')
    return Array.isArray(geometries)
      ? geometries.flatMap(findGeometryProblems).slice(0, maxProblems)
      : ['geometries must be a list']
  const depth =
    typeof type === 'string' && Object.hasOwn(coordinateDepths, type) ? coordinateDepths[type] : undefined
  if (depth === undefined) return [`geometry.type is unknown: ${JSON.stringify(type)}`]
  const problems: string[] = []
  checkNesting(coordinates, { depth, path: [], problems })
  if (problems.length === 0) checkShape(String(type), coordinates as readonly unknown[], problems)
  return problems
}

interface Nesting {
  readonly depth: number
  readonly path: number[]
  readonly problems: string[]
}

function checkNesting(value: unknown, { depth, path, problems }: Nesting): void {
  if (!Array.isArray(value)) problems.push(`${formatPath(path)} must be a list`)
  else if (depth === 0) checkPosition(value, path, problems)
  else
    for (const [index, part] of value.entries()) {
      if (problems.length >= maxProblems) return
      path.push(index)
      checkNesting(part, { depth: depth - 1, path, problems })
      path.pop()
    }
}

const formatPath = (path: readonly number[]): string =>
  `coordinates${path.map((index) => `[${index}]`).join('')}`

function checkPosition(value: readonly unknown[], path: readonly number[], problems: string[]): void {
  const [lon, lat, height] = value
  if (value.length < 2 || !Number.isFinite(lon) || !Number.isFinite(lat)) {
    problems.push(`${formatPath(path)} must be two or three numbers: ${JSON.stringify(value).slice(0, 60)}`)
    return
  }
  if (Math.abs(Number(lat)) > 90) problems.push(`${formatPath(path)}: the latitude is ${lat}`)
  if (Math.abs(Number(lon)) > 180) problems.push(`${formatPath(path)}: the longitude is ${lon}`)
  if (height === undefined) return
  if (!Number.isFinite(height) || Number(height) < -11_000 || Number(height) > 9000)
    problems.push(`${formatPath(path)}: the height is ${JSON.stringify(height)}`)
}

function checkShape(type: string, coordinates: readonly unknown[], problems: string[]): void {
  if (type === 'LineString' && coordinates.length < 2) problems.push('a line requires two positions')
  if (type === 'MultiLineString' && coordinates.some((line) => (line as readonly unknown[]).length < 2))
    problems.push('each line requires two positions')
  const rings = type === 'Polygon' ? coordinates : type === 'MultiPolygon' ? coordinates.flat() : []
  for (const [index, ring] of (rings as readonly (readonly (readonly number[])[])[]).entries()) {
    const [first, last] = [ring[0], ring.at(-1)]
    if (ring.length < 4) problems.push(`ring ${index} requires four positions`)
    else if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1])
      problems.push(`ring ${index} is not closed: its last position must equal its first`)
  }
}
