import {
  type BodyId,
  collisionAt,
  constraintAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  type RecordingSummary,
} from '@causeway/recording'
import { createEnvironmentTest } from './body.ts'

/** Omits bodies without a name. */
export type BodyNames = Readonly<Record<BodyId, string>>

export const listRecordedNames = ({ geometry }: Pick<RecordingSummary, 'geometry'>): BodyNames =>
  Object.fromEntries(geometry.flatMap(({ body_id, name }) => (name === null ? [] : [[body_id, name]])))

/** Cosine of 45 degrees. */
const minCosine = Math.SQRT1_2

/** Names unnamed environment bodies `floor`, `ceiling` or `wall` by the direction of their first contact. */
export class BodyNameCollector {
  readonly #names: Map<BodyId, string>
  readonly #counts = new Map<string, number>()
  readonly #isEnvironment: (id: BodyId) => boolean
  /** Unit vector. */
  readonly #downDirection: readonly [number, number, number]

  constructor(summary: RecordingSummary) {
    this.#names = new Map(
      Object.entries(listRecordedNames(summary)).map(([id, name]) => [Number(id), name] as const),
    )
    this.#isEnvironment = createEnvironmentTest(summary)
    const { x, y, z } = summary.gravity_m_s2 ?? { x: null, y: null, z: null }
    const g = Math.hypot(x ?? 0, y ?? 0, z ?? 0)
    this.#downDirection = g > 0 ? [(x ?? 0) / g, (y ?? 0) / g, (z ?? 0) / g] : [0, 0, -1]
  }

  has(id: BodyId): boolean {
    return this.#names.has(id)
  }

  observe({ collisions, constraints, friction }: FrameWindow, row: number): void {
    this.#observeRows(collisions, row, collisionAt)
    this.#observeRows(constraints, row, constraintAt)
    this.#observeRows(friction, row, frictionAt)
  }

  /** Only body B can be an environment body. */
  #observeRows(
    { offset, data }: FlatRows,
    row: number,
    columns: { readonly b: number; readonly normal: number },
  ) {
    for (let at = offset[row] ?? 0; at < (offset[row + 1] ?? 0); at++) {
      const b = data.get(at, columns.b)
      if (this.#names.has(b) || !this.#isEnvironment(b)) continue
      const cosine = this.#downDirection.reduce(
        (sum, part, axis) => sum + part * data.get(at, columns.normal + axis),
        0,
      )
      if (Number.isNaN(cosine)) continue
      const kind = cosine > minCosine ? 'floor' : cosine < -minCosine ? 'ceiling' : 'wall'
      const count = (this.#counts.get(kind) ?? 0) + 1
      this.#counts.set(kind, count)
      this.#names.set(b, count === 1 ? kind : `${kind} ${count}`)
    }
  }

  get names(): BodyNames {
    return Object.fromEntries(this.#names)
  }
}

/** Returns text such as `crate (body 1)`, `floor`, or `environment body 1`, whose id lacks bit 31. */
function nameBody(id: BodyId, names: BodyNames): string {
  const name = names[id]
  if (id >= 2 ** 31) return name ?? `environment body ${id - 2 ** 31}`
  return name === undefined ? `body ${id}` : `${name} (body ${id})`
}

/** Returns text such as `body 1 and floor`, or `body 1, body 2, body 3 and 4 more`. */
export function nameBodies(ids: readonly BodyId[], names: BodyNames, maxShown = 3): string {
  const texts = ids.map((id) => nameBody(id, names))
  if (texts.length <= 1) return texts.join('')
  if (texts.length > maxShown)
    return `${texts.slice(0, maxShown).join(', ')} and ${texts.length - maxShown} more`
  return `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
}
