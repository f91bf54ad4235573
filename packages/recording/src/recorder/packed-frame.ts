/**
 * A frame as our own recordings keep it: float64 numbers, NaN where nothing was recorded, little-endian on disk.
 * `docs/recording-frames.md` says what the numbers mean.
 */

/** Columns of a body's row; `parts` is a sum of `hasState`, `hasEnergy` and `hasOwnEnergy`. */
const bodyFields = [
  ...['id', 'parts', 'px', 'py', 'pz', 'vx', 'vy', 'vz', 'ax', 'ay', 'az', 'qw', 'qx', 'qy', 'qz'],
  ...['rw', 'rx', 'ry', 'rz', 'alpha_x', 'alpha_y', 'alpha_z'],
  ...['linear_ke', 'rotational_ke', 'potential_e', 'total_e'],
] as readonly string[]

/** Where the groups of a body's row begin: m, m/s, m/s², w first, dq/dt w first, rad/s², J. */
export const bodyAt = {
  id: 0,
  parts: 1,
  position: 2,
  velocity: 5,
  acceleration: 8,
  orientation: 11,
  rate: 15,
  angularAcceleration: 19,
  energy: 22,
} as const

/** Numbers of a body's row. */
export const bodyWidth = bodyFields.length

/** The body stands in the frame's states. */
export const hasState = 1

/** The body stands in the frame's energies. */
export const hasEnergy = 2

/** The energies are those that the engine gave; else they follow from what was known of the body. */
export const hasOwnEnergy = 4

/**
 * Lists of the contact block, in this order, with the numbers of a row:
 * collision `a b normal depth points`; point `point_a point_b depth`, as many for each collision as it says;
 * constraint `a b normal lever_a lever_b depth restitution closing`;
 * friction `a b normal tangent1 tangent2 lever_a lever_b mu normal_lambda tangent1_lambda tangent2_lambda`;
 * external `body force torque at`.
 */
export const contactLists = [
  { name: 'collisions', width: 7 },
  { name: 'points', width: 7 },
  { name: 'constraints', width: 14 },
  { name: 'friction', width: 21 },
  { name: 'externals', width: 10 },
] as const

/** Name of a list of the contact block. */
export type ContactList = (typeof contactLists)[number]['name']

/** The lists of a contact block, each flat. */
export type ContactRows = Readonly<Record<ContactList, ArrayLike<number>>>

/** What a solver said; NaN = absent. */
export interface SolverRow {
  readonly iterations: number
  readonly residual: number
  readonly converged: boolean
  readonly constraints: number
  readonly contacts: number
}

/** Energy of the system, J; NaN = absent. */
export interface SystemRow {
  readonly linear: number
  readonly rotational: number
  readonly potential: number
  readonly total: number
  readonly delta: number
  readonly injection: boolean
  readonly active: boolean
}

/** A whole frame. */
export interface PackedFrame {
  readonly id: number
  /** s, after the step */
  readonly time: number
  /** s since the epoch */
  readonly wallTime: number
  /** shape [bodies, bodyWidth], row-major */
  readonly bodies: Float64Array
  /** counts of the lists, then the lists; null where all are empty */
  readonly contacts: Float64Array | null
  readonly solver: SolverRow | null
  readonly system: SystemRow | null
}

/** Joins lists into a block in memory of its own, or in what `room` gives; null where all are empty. */
export function packContacts(
  rows: ContactRows,
  room = (length: number): Float64Array => new Float64Array(length),
): Float64Array | null {
  let length = contactLists.length
  for (const { name } of contactLists) length += rows[name].length
  if (length === contactLists.length) return null
  const block = room(length)
  let at: number = contactLists.length
  contactLists.forEach(({ name, width }, i) => {
    const list = rows[name]
    block[i] = list.length / width
    block.set(list, at)
    at += list.length
  })
  return block
}

const none = new Float64Array(0)

/** The lists of a block, as views of it. */
export function unpackContacts(block: Float64Array | null): Readonly<Record<ContactList, Float64Array>> {
  let at: number = contactLists.length
  const list = (i: number, width: number): Float64Array => {
    if (block === null) return none
    const from = at
    at += (block[i] ?? 0) * width
    return block.subarray(from, at)
  }
  const [collisions, points, constraints, friction, externals] = contactLists.map(({ width }, i) =>
    list(i, width),
  ) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array]
  return { collisions, points, constraints, friction, externals }
}

/** The bytes of numbers, as SQLite takes them. */
export const toBytes = (numbers: Float64Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)

/** The numbers of bytes that SQLite gave, which may stand anywhere in a larger buffer. */
export function toNumbers(bytes: Uint8Array): Float64Array {
  const isAligned = bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0
  const { buffer, byteOffset } = isAligned ? bytes : Uint8Array.from(bytes)
  return new Float64Array(buffer, byteOffset, bytes.byteLength / Float64Array.BYTES_PER_ELEMENT)
}
