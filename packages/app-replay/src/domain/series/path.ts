import { distance, type Point3 } from '../vector.ts'

/** Positions over time in m. NaN means not recorded. */
export interface Path {
  readonly x: ArrayLike<number>
  readonly y: ArrayLike<number>
  readonly z: ArrayLike<number>
}

const getPoint = ({ x, y, z }: Path, row: number): Point3 => [
  x[row] ?? Number.NaN,
  y[row] ?? Number.NaN,
  z[row] ?? Number.NaN,
]

const isKnown = (path: Path, row: number): boolean => getPoint(path, row).every(Number.isFinite)

/** Returns the path's length and the distance between its ends, in m. */
export function measurePath(path: Path): { readonly along: number; readonly straight: number } {
  let [along, first, last] = [0, -1, -1]
  for (let row = 0; row < path.x.length; row++) {
    if (!isKnown(path, row)) continue
    if (last === -1) first = row
    else along += distance(getPoint(path, last), getPoint(path, row))
    last = row
  }
  return { along, straight: last === -1 ? 0 : distance(getPoint(path, first), getPoint(path, last)) }
}

interface Span {
  readonly from: number
  readonly to: number
  /** Row farthest from the line, and its distance in m. */
  readonly worst: number
  readonly error: number
}

/**
 * Returns at most `limit` (2 or more) rows that preserve the shape (Douglas and Peucker 1973,
 * https://doi.org/10.3138/FM57-6770-U75U-7727), and the remaining error in m.
 */
export function simplifyPath(path: Path, limit: number): { readonly rows: number[]; readonly error: number } {
  const knownRows: number[] = []
  for (let row = 0; row < path.x.length; row++) if (isKnown(path, row)) knownRows.push(row)
  if (knownRows.length <= limit) return { rows: knownRows, error: 0 }
  const spans = [measureSpan(path, knownRows, 0, knownRows.length - 1)]
  while (spans.length < limit - 1) {
    let worstIndex = 0
    for (let at = 1; at < spans.length; at++)
      if ((spans[at]?.error ?? 0) > (spans[worstIndex]?.error ?? 0)) worstIndex = at
    const span = spans[worstIndex]
    if (span === undefined || span.error === 0) break
    spans.splice(
      worstIndex,
      1,
      measureSpan(path, knownRows, span.from, span.worst),
      measureSpan(path, knownRows, span.worst, span.to),
    )
  }
  const rows = spans.flatMap(({ from }) => knownRows[from] ?? [])
  return { rows: [...rows, ...knownRows.slice(-1)], error: Math.max(...spans.map(({ error }) => error)) }
}

function measureSpan(path: Path, knownRows: readonly number[], from: number, to: number): Span {
  const [a, b] = [getPoint(path, knownRows[from] ?? 0), getPoint(path, knownRows[to] ?? 0)]
  let [worst, error] = [from, 0]
  for (let at = from + 1; at < to; at++) {
    const distanceToLine = distanceToSegment(getPoint(path, knownRows[at] ?? 0), a, b)
    if (distanceToLine > error) [worst, error] = [at, distanceToLine]
  }
  return { from, to, worst, error }
}

function distanceToSegment(p: Point3, a: Point3, b: Point3): number {
  const [dx, dy, dz] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]]
  const length = dx * dx + dy * dy + dz * dz
  const along = length === 0 ? 0 : ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy + (p[2] - a[2]) * dz) / length
  const t = Math.min(1, Math.max(0, along))
  return distance(p, [a[0] + t * dx, a[1] + t * dy, a[2] + t * dz])
}
