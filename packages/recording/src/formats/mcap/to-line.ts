import { jointKinds } from '../frame-window.ts'
import { rejectValue } from '../lines/json-value.ts'
import type { Fields } from './messages.ts'

/** Omits empty strings. */
export function toRunLine(run: Fields): object {
  const bodies = (run.bodies ?? []) as readonly Fields[]
  return { run: { ...listValues(run), bodies: bodies.map(listValues) } }
}

/** Run lines are stored as JSON, so typed arrays become lists. */
function listValues(fields: Fields): Fields {
  const entries = Object.entries(fields).filter(([, value]) => value !== '')
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Float64Array ? [...value] : value]),
  )
}

interface Column {
  readonly name: string
  readonly member: string
  readonly width: number
}

const bodyColumns: readonly Column[] = [
  { name: 'position', member: 'position', width: 3 },
  { name: 'velocity', member: 'velocity', width: 3 },
  { name: 'acceleration', member: 'acceleration', width: 3 },
  { name: 'orientation', member: 'orientation', width: 4 },
  { name: 'angular_velocity', member: 'angular_velocity', width: 3 },
  { name: 'angular_velocity_world', member: 'angular_velocity_world', width: 3 },
  { name: 'angular_acceleration', member: 'angular_acceleration', width: 3 },
]

const pointColumns: readonly Column[] = [
  { name: 'contact_point', member: 'point', width: 3 },
  { name: 'contact_depth', member: 'depth', width: 1 },
  { name: 'contact_tangent1', member: 'tangent1', width: 3 },
  { name: 'contact_tangent2', member: 'tangent2', width: 3 },
  { name: 'contact_friction', member: 'friction_coefficient', width: 1 },
  { name: 'contact_restitution', member: 'restitution', width: 1 },
  { name: 'contact_normal_impulse', member: 'normal_lambda', width: 1 },
  { name: 'contact_tangent1_impulse', member: 'tangent1_lambda', width: 1 },
  { name: 'contact_tangent2_impulse', member: 'tangent2_lambda', width: 1 },
]

const forceColumns: readonly Column[] = [
  { name: 'force', member: 'force', width: 3 },
  { name: 'torque', member: 'torque', width: 3 },
  { name: 'force_at', member: 'at', width: 3 },
]

const normalColumn: Column = { name: 'contact_normal', member: 'normal', width: 3 }

/** `declared` contains the ids of moving bodies, for frames without ids. */
export function toFrameLine(frame: Fields, declared: readonly number[]): object {
  const { frame_id, time, wall_time, body_id } = frame
  const ids = (body_id as readonly number[] | undefined) ?? declared
  const bodies = readRows(frame, ids.length, bodyColumns, 'body_id').map((row, i) => ({ id: ids[i], ...row }))
  addForces(frame, bodies)
  return {
    frame_id,
    ...(time === undefined ? {} : { time }),
    ...(wall_time === undefined ? {} : { wall_time }),
    bodies,
    ...(frame.contacts_known === true || frame.contact_a !== undefined
      ? { contacts: readContacts(frame) }
      : {}),
    ...(frame.joint_a === undefined ? {} : { joints: readJoints(frame) }),
    ...readSolver(frame),
  }
}

type Row = Record<string, unknown>

/** Returns `count` rows without the members whose column is missing. */
function readRows(frame: Fields, count: number, columns: readonly Column[], countName: string): Row[] {
  const present = columns.filter(({ name }) => frame[name] !== undefined)
  for (const { name, width } of present) {
    const { length } = frame[name] as ArrayLike<number>
    if (length !== count * width)
      rejectValue(name, length, `${count * width} numbers, ${width} for each value of ${countName}`)
  }
  return Array.from({ length: count }, (_, i) => {
    const row: Row = {}
    for (const { name, member, width } of present) {
      const values = frame[name] as Float64Array
      row[member] = width === 1 ? values[i] : Array.from(values.subarray(i * width, (i + 1) * width))
    }
    return row
  })
}

function addForces(frame: Fields, bodies: readonly Row[]): void {
  const ids = (frame.force_body ?? []) as readonly number[]
  const bodyById = new Map(bodies.map((body) => [body.id, body]))
  for (const [i, row] of readRows(frame, ids.length, forceColumns, 'force_body').entries()) {
    const body =
      bodyById.get(ids[i]) ?? rejectValue(`force_body[${i}]`, ids[i], 'the id of a body of this frame')
    body.forces = [...((body.forces as Row[] | undefined) ?? []), row]
  }
}

/** Merges consecutive points with the same bodies and normal into one pair. */
function readContacts(frame: Fields): Row[] {
  const a = (frame.contact_a ?? []) as readonly number[]
  const b = (frame.contact_b ?? []) as readonly number[]
  if (a.length !== b.length) rejectValue('contact_b', b.length, `${a.length} ids, as many as contact_a`)
  const points = readRows(frame, a.length, pointColumns, 'contact_a')
  const normals = readRows(frame, a.length, [normalColumn], 'contact_a')
  const pairs: { a: unknown; b: unknown; points: Row[] }[] = []
  let last = ''
  for (const [i, point] of points.entries()) {
    const key = JSON.stringify([a[i], b[i], normals[i]?.normal])
    if (key !== last) pairs.push({ a: a[i], b: b[i], ...normals[i], points: [] })
    pairs.at(-1)?.points.push(point)
    last = key
  }
  return pairs
}

const jointColumns: readonly Column[] = [
  { name: 'joint_point', member: 'point', width: 3 },
  { name: 'joint_impulse', member: 'impulse', width: 3 },
  { name: 'joint_torque', member: 'torque', width: 3 },
  { name: 'joint_position_error', member: 'position_error', width: 1 },
]

function readJoints(frame: Fields): Row[] {
  const a = frame.joint_a as readonly number[]
  const [b, kinds] = [frame.joint_b ?? [], frame.joint_kind ?? []] as (readonly number[])[]
  if (a.length !== b?.length) rejectValue('joint_b', b?.length, `${a.length} ids, as many as joint_a`)
  return readRows(frame, a.length, jointColumns, 'joint_a').map((row, i) => ({
    a: a[i],
    b: b?.[i],
    kind: jointKinds[kinds?.[i] ?? 0] ?? rejectValue(`joint_kind[${i}]`, kinds?.[i], '0 to 4'),
    ...row,
  }))
}

function readSolver({ solver_iterations, solver_residual, solver_converged }: Fields): Row {
  if (solver_iterations === undefined && solver_residual === undefined && solver_converged === undefined)
    return {}
  return {
    solver: { iterations: solver_iterations, residual: solver_residual, converged: solver_converged },
  }
}
