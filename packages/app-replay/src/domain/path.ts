/** The path of a body: its length, and the few points that keep its shape. */

/** Places over time, m; row i is x[i], y[i], z[i]; NaN where the body has no recorded place. */
export interface Path {
  readonly x: ArrayLike<number>
  readonly y: ArrayLike<number>
  readonly z: ArrayLike<number>
}

const place = ({ x, y, z }: Path, row: number): readonly [number, number, number] => [
  x[row] ?? Number.NaN,
  y[row] ?? Number.NaN,
  z[row] ?? Number.NaN,
]

const isKnown = (path: Path, row: number): boolean => place(path, row).every(Number.isFinite)

/** Metres along all recorded places, and from the first of them to the last. */
export function pathLength(path: Path): { readonly along: number; readonly straight: number } {
  let [along, first, last] = [0, -1, -1]
  for (let row = 0; row < path.x.length; row++) {
    if (!isKnown(path, row)) continue
    if (last === -1) first = row
    else along += distance(place(path, last), place(path, row))
    last = row
  }
  return { along, straight: last === -1 ? 0 : distance(place(path, first), place(path, last)) }
}

interface Span {
  readonly from: number
  readonly to: number
  /** row between them that lies farthest from the straight line, and its distance in m */
  readonly worst: number
  readonly error: number
}

/**
 * At most `limit` (2 or more) rows, ascending, that keep the shape: from both ends on, the place farthest from what the
 * chosen ones say is added (Douglas and Peucker 1973, https://doi.org/10.3138/FM57-6770-U75U-7727). `error` is the
 * greatest distance in m that is left. Straight spans are filled by nothing: an unmoved body has two rows.
 */
export function shapeRows(path: Path, limit: number): { readonly rows: number[]; readonly error: number } {
  const known: number[] = []
  for (let row = 0; row < path.x.length; row++) if (isKnown(path, row)) known.push(row)
  if (known.length <= limit) return { rows: known, error: 0 }
  const spans = [spanOf(path, known, 0, known.length - 1)]
  while (spans.length < limit - 1) {
    let widest = 0
    for (let at = 1; at < spans.length; at++)
      if ((spans[at]?.error ?? 0) > (spans[widest]?.error ?? 0)) widest = at
    const span = spans[widest]
    if (span === undefined || span.error === 0) break
    spans.splice(
      widest,
      1,
      spanOf(path, known, span.from, span.worst),
      spanOf(path, known, span.worst, span.to),
    )
  }
  const rows = spans.flatMap(({ from }) => known[from] ?? [])
  return { rows: [...rows, ...known.slice(-1)], error: Math.max(...spans.map(({ error }) => error)) }
}

function spanOf(path: Path, known: readonly number[], from: number, to: number): Span {
  const [a, b] = [place(path, known[from] ?? 0), place(path, known[to] ?? 0)]
  let [worst, error] = [from, 0]
  for (let at = from + 1; at < to; at++) {
    const away = fromSegment(place(path, known[at] ?? 0), a, b)
    if (away > error) [worst, error] = [at, away]
  }
  return { from, to, worst, error }
}

type Place = readonly [number, number, number]

const distance = (a: Place, b: Place): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])

function fromSegment(p: Place, a: Place, b: Place): number {
  const [dx, dy, dz] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]]
  const length = dx * dx + dy * dy + dz * dz
  const along = length === 0 ? 0 : ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy + (p[2] - a[2]) * dz) / length
  const t = Math.min(1, Math.max(0, along))
  return distance(p, [a[0] + t * dx, a[1] + t * dy, a[2] + t * dz])
}
