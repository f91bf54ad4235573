/** Two recordings held against each other, frame by frame: what differs first, and how the difference grows. */
import type { BodyId } from '@causeway/recording'
import type { BodyMatch } from './body-mapping.ts'

/** Some frames as plain columns; NaN = absent. */
export interface Chunk {
  readonly bodies: readonly BodyId[]
  readonly frames: Float64Array
  /** s */
  readonly times: Float64Array
  /** position, velocity, quaternion, spin, total energy of each body: shape [frames, bodies, 14] */
  readonly states: Float64Array
  /** J */
  readonly totals: Float64Array
  readonly iterations: Float64Array
  readonly residuals: Float64Array
  /** colliding pairs of each frame as text, sorted */
  readonly contacts: readonly string[]
}

const stateWidth = 14

/** What is compared, in the order in which causes come before consequences, and the columns of a state. */
const bodyFields = {
  velocity: { unit: 'm/s', from: 3, to: 6 },
  position: { unit: 'm', from: 0, to: 3 },
  spin: { unit: 'rad/s', from: 10, to: 13 },
  orientation: { unit: '1', from: 6, to: 10 },
  body_energy: { unit: 'J', from: 13, to: 14 },
} as const
const frameFields = {
  system_energy: { unit: 'J' },
  iterations: { unit: 'iterations' },
  residual: { unit: '1' },
} as const

/** Names of what is compared. */
export type ComparedField = keyof typeof bodyFields | keyof typeof frameFields | 'contacts'

/** When values count as different: exactly, or by more than absolute + relative * the greater of both. */
export type Tolerance =
  | { readonly exact: true }
  | { readonly exact: false; readonly absolute: number; readonly relative: number }

/** The first difference of a field, and what becomes of it. */
export interface Divergence {
  readonly field: ComparedField
  readonly unit: string
  readonly first_frame_a: number
  readonly first_frame_b: number
  readonly body_id: BodyId | null
  readonly value_a: number | string
  readonly value_b: number | string
  readonly difference: number
  readonly greatest: number
  readonly greatest_frame_a: number
  readonly frames_over: number
  /** factor by which the difference grows from frame to frame; null where too few frames tell */
  readonly growth_per_frame: number | null
}

interface Tracker {
  first: Omit<Divergence, 'greatest' | 'greatest_frame_a' | 'frames_over' | 'growth_per_frame'> | null
  greatest: number
  greatestFrame: number
  over: number
  /** ln of the difference by compared frame since the first, for the growth */
  readonly logs: [number, number][]
}

/** Frames after the first difference from which the growth is told. */
const growthFrames = 200

/** A comparison that is under way. */
export interface Comparer {
  /** Compares a frame of each. */
  see(a: Chunk, rowA: number, b: Chunk, rowB: number): void
  readonly compared: number
  /** differences found so far, the earliest first */
  divergences(): Divergence[]
}

/** Starts a comparison of these bodies. */
export function comparer(matches: readonly BodyMatch[], tolerance: Tolerance): Comparer {
  const trackers = new Map<ComparedField, Tracker>()
  let compared = 0

  const isOver = (a: number, b: number): boolean => {
    if (Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b))) return false
    if (tolerance.exact) return true
    if (a === b) return false
    const difference = Math.abs(a - b)
    return !(difference <= tolerance.absolute + tolerance.relative * Math.max(Math.abs(a), Math.abs(b)))
  }
  const note = (
    field: ComparedField,
    found: { unit: string; body: BodyId | null; a: number | string; b: number | string; difference: number },
    [frameA, frameB]: readonly [number, number],
  ): void => {
    const tracker = trackers.get(field) ?? {
      first: null,
      greatest: 0,
      greatestFrame: frameA,
      over: 0,
      logs: [],
    }
    trackers.set(field, tracker)
    const { unit, body, a, b, difference } = found
    tracker.first ??= {
      field,
      unit,
      first_frame_a: frameA,
      first_frame_b: frameB,
      body_id: body,
      value_a: a,
      value_b: b,
      difference,
    }
    tracker.over += 1
    if (difference > tracker.greatest) {
      tracker.greatest = difference
      tracker.greatestFrame = frameA
    }
    const since = frameA - tracker.first.first_frame_a
    if (since < growthFrames && difference > 0 && Number.isFinite(difference))
      tracker.logs.push([since, Math.log(difference)])
  }

  return {
    see(a, rowA, b, rowB) {
      compared += 1
      const frames = [a.frames[rowA] ?? Number.NaN, b.frames[rowB] ?? Number.NaN] as const
      for (const field of Object.keys(bodyFields) as (keyof typeof bodyFields)[]) {
        let worst: Parameters<typeof note>[1] | null = null
        for (const match of matches) {
          const found = differing(field, { a, rowA, b, rowB, match }, isOver, tolerance.exact)
          if (found !== null && !(found.difference <= (worst?.difference ?? -1)))
            worst = { ...found, unit: bodyFields[field].unit, body: match.a }
        }
        if (worst !== null) note(field, worst, frames)
      }
      const plain = [
        ['system_energy', a.totals[rowA], b.totals[rowB]],
        ['iterations', a.iterations[rowA], b.iterations[rowB]],
        ['residual', a.residuals[rowA], b.residuals[rowB]],
      ] as const
      for (const [field, one = Number.NaN, other = Number.NaN] of plain)
        if (isOver(one, other))
          note(
            field,
            { unit: frameFields[field].unit, body: null, a: one, b: other, difference: distance(one, other) },
            frames,
          )
      const [one, other] = [renamed(a.contacts[rowA] ?? '', matches), b.contacts[rowB] ?? '']
      if (one !== other)
        note('contacts', { unit: 'pairs', body: null, a: one, b: other, difference: 1 }, frames)
    },
    get compared() {
      return compared
    },
    divergences: () =>
      [...trackers.values()]
        .flatMap(({ first, greatest, greatestFrame, over, logs }) =>
          first === null
            ? []
            : [
                {
                  ...first,
                  greatest,
                  greatest_frame_a: greatestFrame,
                  frames_over: over,
                  growth_per_frame: growth(logs),
                },
              ],
        )
        .toSorted((one, other) => one.first_frame_a - other.first_frame_a),
  }
}

/** NaN against a number is as different as can be. */
const distance = (a: number, b: number): number => {
  const difference = Math.abs(a - b)
  return Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference
}

interface Sight {
  readonly a: Chunk
  readonly rowA: number
  readonly b: Chunk
  readonly rowB: number
  readonly match: BodyMatch
}

/** The component of a field that differs most, where one differs by more than is allowed. */
function differing(
  field: keyof typeof bodyFields,
  { a, rowA, b, rowB, match }: Sight,
  isOver: (a: number, b: number) => boolean,
  isExact: boolean,
): { a: number; b: number; difference: number } | null {
  const { from, to } = bodyFields[field]
  const startA = (rowA * a.bodies.length + a.bodies.indexOf(match.a)) * stateWidth
  const startB = (rowB * b.bodies.length + b.bodies.indexOf(match.b)) * stateWidth
  // A quaternion and its negative are one orientation; bit by bit they are two.
  let sign = 1
  if (field === 'orientation' && !isExact) {
    let product = 0
    for (let at = from; at < to; at++) product += (a.states[startA + at] ?? 0) * (b.states[startB + at] ?? 0)
    if (product < 0) sign = -1
  }
  let worst: { a: number; b: number; difference: number } | null = null
  for (let at = from; at < to; at++) {
    const one = a.states[startA + at] ?? Number.NaN
    const other = sign * (b.states[startB + at] ?? Number.NaN)
    if (!isOver(one, other)) continue
    const difference = distance(one, other)
    if (worst === null || difference > worst.difference) worst = { a: one, b: other, difference }
  }
  return worst
}

/** The pairs of recording a under the ids of b. */
function renamed(contacts: string, matches: readonly BodyMatch[]): string {
  if (matches.every(({ a, b }) => a === b)) return contacts
  const name = new Map(matches.map(({ a, b }) => [String(a), String(b)]))
  return contacts
    .split(' ')
    .map((pair) =>
      pair
        .split('-')
        .map((id) => name.get(id) ?? id)
        .join('-'),
    )
    .sort()
    .join(' ')
}

/** Frames that tell a growth. */
const enough = 5

/** exp of the slope of ln difference over frames, by least squares. */
function growth(logs: readonly (readonly [number, number])[]): number | null {
  if (logs.length < enough) return null
  const mean = (axis: 0 | 1): number => logs.reduce((sum, log) => sum + log[axis], 0) / logs.length
  const [x, y] = [mean(0), mean(1)]
  const spread = logs.reduce((sum, [at]) => sum + (at - x) ** 2, 0)
  return Math.exp(logs.reduce((sum, [at, log]) => sum + (at - x) * (log - y), 0) / spread)
}
