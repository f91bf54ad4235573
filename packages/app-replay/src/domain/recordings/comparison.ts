import type { BodyId } from '@causeway/recording'
import type { BodyMatch } from '../bodies/body-mapping.ts'
import { roundDerived } from '../sentence.ts'

/** NaN means not recorded. */
export interface FrameColumns {
  readonly bodies: readonly BodyId[]
  readonly frames: Float64Array
  /** Position, velocity, quaternion, spin, total energy; shape [frames, bodies, 14]. */
  readonly states: Float64Array
  /** J */
  readonly totals: Float64Array
  readonly iterations: Float64Array
  readonly residuals: Float64Array
  /** Colliding pairs of each frame, see `formatPairs`. */
  readonly contacts: readonly string[]
}

/** Returns sorted text such as `1-2 1-2147483650`, with replaced ids. */
export function formatPairs(
  pairs: readonly (readonly [BodyId, BodyId])[],
  newIds: ReadonlyMap<BodyId, BodyId>,
): string {
  const texts = pairs.map((pair) => {
    const [a, b] = pair.map((id) => newIds.get(id) ?? id) as [BodyId, BodyId]
    return a < b ? `${a}-${b}` : `${b}-${a}`
  })
  return texts.sort().join(' ')
}

const stateWidth = 14

const bodyFields = {
  velocity: { unit: 'm/s', from: 3, to: 6 },
  position: { unit: 'm', from: 0, to: 3 },
  spin: { unit: 'rad/s', from: 10, to: 13 },
  orientation: { unit: '1', from: 6, to: 10 },
  body_energy: { unit: 'J', from: 13, to: 14 },
} as const
const bodyFieldNames = Object.keys(bodyFields) as (keyof typeof bodyFields)[]

const frameFields = [
  { field: 'system_energy', unit: 'J', column: 'totals' },
  { field: 'iterations', unit: 'iterations', column: 'iterations' },
  { field: 'residual', unit: '1', column: 'residuals' },
] as const

type ComparedField = keyof typeof bodyFields | (typeof frameFields)[number]['field'] | 'contacts'

/** `relative` refers to the larger of two values. */
export type Tolerance =
  | { readonly exact: true }
  | { readonly exact: false; readonly absolute: number; readonly relative: number }

/** The first difference of a field, and how it grows. */
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
  /** Growth factor; `null` if there are too few frames. */
  readonly growth_per_frame: number | null
}

interface Difference {
  readonly a: number | string
  readonly b: number | string
  readonly difference: number
}

interface Tracker {
  readonly first: Omit<Divergence, 'greatest' | 'greatest_frame_a' | 'frames_over' | 'growth_per_frame'>
  greatest: number
  greatest_frame_a: number
  frames_over: number
  /** Frames since the first difference, and log(difference). */
  readonly growthPoints: [number, number][]
}

const maxGrowthFrames = 200

const minGrowthFrames = 5

export class RecordingComparison {
  readonly #matches: readonly BodyMatch[]
  readonly #tolerance: Tolerance
  readonly #trackers = new Map<ComparedField, Tracker>()
  #bodyColumns: BodyColumns | undefined
  #frames = 0

  constructor(matches: readonly BodyMatch[], tolerance: Tolerance) {
    this.#matches = matches
    this.#tolerance = tolerance
  }

  get frames(): number {
    return this.#frames
  }

  /** Compares two frames. The contacts of `a` must use the body ids of `b`. */
  compare(a: FrameColumns, rowA: number, b: FrameColumns, rowB: number): void {
    this.#frames += 1
    const frames = [a.frames[rowA] ?? Number.NaN, b.frames[rowB] ?? Number.NaN] as const
    const bodies = this.#findColumns(a, b)
    for (const field of bodyFieldNames) {
      let worst: (Difference & { readonly body: BodyId }) | undefined
      for (const columns of bodies) {
        const difference = this.#compareBody(field, { a, rowA, b, rowB, columns })
        if (difference !== null && !(difference.difference <= (worst?.difference ?? -1)))
          worst = { ...difference, body: columns.body }
      }
      if (worst !== undefined) this.#add({ field, unit: bodyFields[field].unit }, worst, frames, worst.body)
    }
    for (const { field, unit, column } of frameFields) {
      const [valueA = Number.NaN, valueB = Number.NaN] = [a[column][rowA], b[column][rowB]]
      if (!this.#isDifferent(valueA, valueB)) continue
      this.#add(
        { field, unit },
        { a: valueA, b: valueB, difference: getAbsoluteDifference(valueA, valueB) },
        frames,
      )
    }
    const [contactsA = '', contactsB = ''] = [a.contacts[rowA], b.contacts[rowB]]
    if (contactsA !== contactsB)
      this.#add({ field: 'contacts', unit: 'pairs' }, { a: contactsA, b: contactsB, difference: 1 }, frames)
  }

  listDivergences(): Divergence[] {
    return [...this.#trackers.values()]
      .map(({ first, growthPoints, ...tracker }) => ({
        ...first,
        ...tracker,
        growth_per_frame: roundDerived(fitGrowth(growthPoints)),
      }))
      .toSorted((left, right) => left.first_frame_a - right.first_frame_a)
  }

  #isDifferent(a: number, b: number): boolean {
    if (Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b))) return false
    if (this.#tolerance.exact) return true
    if (a === b) return false
    const { absolute, relative } = this.#tolerance
    return !(Math.abs(a - b) <= absolute + relative * Math.max(Math.abs(a), Math.abs(b)))
  }

  #add(
    { field, unit }: Pick<Divergence, 'field' | 'unit'>,
    { a, b, difference }: Difference,
    [frameA, frameB]: readonly [number, number],
    body: BodyId | null = null,
  ): void {
    const tracker = this.#trackers.get(field) ?? {
      first: {
        field,
        unit,
        first_frame_a: frameA,
        first_frame_b: frameB,
        body_id: body,
        value_a: a,
        value_b: b,
        difference,
      },
      greatest: 0,
      greatest_frame_a: frameA,
      frames_over: 0,
      growthPoints: [],
    }
    this.#trackers.set(field, tracker)
    tracker.frames_over += 1
    if (difference > tracker.greatest) {
      tracker.greatest = difference
      tracker.greatest_frame_a = frameA
    }
    const elapsedFrames = frameA - tracker.first.first_frame_a
    if (elapsedFrames < maxGrowthFrames && difference > 0 && Number.isFinite(difference))
      tracker.growthPoints.push([elapsedFrames, Math.log(difference)])
  }

  #findColumns(a: FrameColumns, b: FrameColumns): BodyColumns['matches'] {
    if (this.#bodyColumns?.a !== a.bodies || this.#bodyColumns.b !== b.bodies) {
      const [columnByIdA, columnByIdB] = [a, b].map(
        ({ bodies }) => new Map(bodies.map((id, column) => [id, column])),
      )
      const matches = this.#matches.flatMap((match) => {
        const [columnA, columnB] = [columnByIdA?.get(match.a), columnByIdB?.get(match.b)]
        return columnA === undefined || columnB === undefined ? [] : [{ body: match.a, columnA, columnB }]
      })
      this.#bodyColumns = { a: a.bodies, b: b.bodies, matches }
    }
    return this.#bodyColumns.matches
  }

  /** Returns `null` if all components are within the tolerance. */
  #compareBody(field: keyof typeof bodyFields, { a, rowA, b, rowB, columns }: BodyRows) {
    const { from, to } = bodyFields[field]
    const startA = (rowA * a.bodies.length + columns.columnA) * stateWidth
    const startB = (rowB * b.bodies.length + columns.columnB) * stateWidth
    // A quaternion and its negative are the same orientation. Only an exact comparison distinguishes them.
    let sign = 1
    if (field === 'orientation' && !this.#tolerance.exact) {
      let product = 0
      for (let at = from; at < to; at++)
        product += (a.states[startA + at] ?? 0) * (b.states[startB + at] ?? 0)
      if (product < 0) sign = -1
    }
    let worst: { a: number; b: number; difference: number } | null = null
    for (let at = from; at < to; at++) {
      const valueA = a.states[startA + at] ?? Number.NaN
      const valueB = sign * (b.states[startB + at] ?? Number.NaN)
      if (!this.#isDifferent(valueA, valueB)) continue
      const difference = getAbsoluteDifference(valueA, valueB)
      if (worst === null || difference > worst.difference) worst = { a: valueA, b: valueB, difference }
    }
    return worst
  }
}

interface BodyColumns {
  readonly a: readonly BodyId[]
  readonly b: readonly BodyId[]
  readonly matches: readonly { readonly body: BodyId; readonly columnA: number; readonly columnB: number }[]
}

interface BodyRows {
  readonly a: FrameColumns
  readonly rowA: number
  readonly b: FrameColumns
  readonly rowB: number
  readonly columns: BodyColumns['matches'][number]
}

/** Returns infinity if only one value is NaN. */
const getAbsoluteDifference = (a: number, b: number): number => {
  const difference = Math.abs(a - b)
  return Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference
}

function fitGrowth(logs: readonly (readonly [number, number])[]): number | null {
  if (logs.length < minGrowthFrames) return null
  const getMean = (axis: 0 | 1): number => logs.reduce((sum, log) => sum + log[axis], 0) / logs.length
  const [x, y] = [getMean(0), getMean(1)]
  const spread = logs.reduce((sum, [at]) => sum + (at - x) ** 2, 0)
  return Math.exp(logs.reduce((sum, [at, log]) => sum + (at - x) * (log - y), 0) / spread)
}
