/**
 * Frames as runs store them: float64, SI units, NaN = not recorded, little-endian on disk. See
 * `docs/recording-frames.md`.
 */

/** `parts` is a bit mask of `hasState`, `hasEnergy` and `hasOwnEnergy`. */
const bodyFields = [
  ...['id', 'parts', 'px', 'py', 'pz', 'vx', 'vy', 'vz', 'ax', 'ay', 'az', 'qw', 'qx', 'qy', 'qz'],
  ...['rw', 'rx', 'ry', 'rz', 'alpha_x', 'alpha_y', 'alpha_z'],
  ...['linear_ke', 'rotational_ke', 'potential_e', 'total_e'],
] as readonly string[]

/** Offsets in a body's row. The orientation and its rate start with w. */
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

export const bodyWidth = bodyFields.length

export const hasState = 1

export const hasEnergy = 2

/** Set if the engine sent the energies. */
export const hasOwnEnergy = 4

/**
 * Lists of the contact block, in order, with the widths of their rows: collision `a b normal depth points`; point
 * `point_a point_b depth`, as many as the collision's `points`; constraint `a b normal lever_a lever_b depth
 * restitution closing`; friction `a b normal tangent1 tangent2 lever_a lever_b mu normal_lambda tangent1_lambda
 * tangent2_lambda`; external `body force torque at`.
 */
export const contactLists = [
  { name: 'collisions', width: 7 },
  { name: 'points', width: 7 },
  { name: 'constraints', width: 14 },
  { name: 'friction', width: 21 },
  { name: 'externals', width: 10 },
] as const

export type ContactList = (typeof contactLists)[number]['name']

export type ContactRows = Readonly<Record<ContactList, ArrayLike<number>>>

export interface SolverRow {
  readonly iterations: number
  readonly residual: number
  readonly converged: boolean | null
  readonly constraints: number
  readonly contacts: number
}

export interface SystemRow {
  readonly linear: number
  readonly rotational: number
  readonly potential: number
  readonly total: number
  readonly delta: number
  readonly injection: boolean
  readonly active: boolean
}

export interface PackedFrame {
  readonly id: number
  readonly time: number
  /** Seconds since the Unix epoch. */
  readonly wallTime: number
  /** Shape [bodies, bodyWidth], row-major. */
  readonly bodies: Float64Array
  /** The lengths of the lists, then the lists; null if all are empty. */
  readonly contacts: Float64Array | null
  /** Shape [joints, jointAt.width]; null without joints. */
  readonly joints: Float64Array | null
  readonly solver: SolverRow | null
  readonly system: SystemRow | null
}

/** Returns values in the order of `systemEnergyFields`; flags are 0 or 1. */
export const listSystem = (system: SystemRow): readonly number[] => [
  ...[system.linear, system.rotational, system.potential, system.total, system.delta],
  ...[Number(system.injection), Number(system.active)],
]

/** Returns values in the order of `solverFields`; `converged` is 0 or 1, NaN = not recorded. */
export const listSolver = ({ iterations, residual, converged, constraints, contacts }: SolverRow) =>
  [iterations, residual, converged === null ? Number.NaN : Number(converged), constraints, contacts] as const

/** Stored as `converged` if only that is missing. NULL means that all diagnostics are missing. */
export const unknownConvergence = 2

/** Returns null if all lists are empty. */
export function packContacts(
  rows: ContactRows,
  allocate = (length: number): Float64Array => new Float64Array(length),
): Float64Array | null {
  let length = contactLists.length
  for (const { name } of contactLists) length += rows[name].length
  if (length === contactLists.length) return null
  const block = allocate(length)
  let at: number = contactLists.length
  contactLists.forEach(({ name, width }, i) => {
    const list = rows[name]
    block[i] = list.length / width
    block.set(list, at)
    at += list.length
  })
  return block
}

const emptyList = new Float64Array(0)

export function unpackContacts(block: Float64Array | null): Readonly<Record<ContactList, Float64Array>> {
  let at: number = contactLists.length
  const list = (i: number, width: number): Float64Array => {
    if (block === null) return emptyList
    const from = at
    at += (block[i] ?? 0) * width
    return block.subarray(from, at)
  }
  const [collisions, points, constraints, friction, externals] = contactLists.map(({ width }, i) =>
    list(i, width),
  ) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array]
  return { collisions, points, constraints, friction, externals }
}

export const toBytes = (numbers: Float64Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)

/** Shares memory with the bytes unless they are unaligned. */
export function toNumbers(bytes: Uint8Array): Float64Array {
  const isAligned = bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0
  const { buffer, byteOffset } = isAligned ? bytes : Uint8Array.from(bytes)
  return new Float64Array(buffer, byteOffset, bytes.byteLength / Float64Array.BYTES_PER_ELEMENT)
}
