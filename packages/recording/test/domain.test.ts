import t from 'tap'
import { computeAngularVelocity } from '../src/domain/angular-velocity.ts'
import { isEnvironmentId, makeEnvironmentBody, resolveBodyId } from '../src/domain/body-id.ts'
import { inferGravityFromFlight, inferGravityFromPotential } from '../src/domain/gravity.ts'
import {
  computeMomentumRow,
  inferLambdaUnit,
  type MomentumRow,
  type Triple,
} from '../src/domain/lambda-unit.ts'
import { findLowerBound, isMonotonic, type Probe, type Row } from '../src/domain/row-search.ts'
import { computeTimeStep } from '../src/domain/time-step.ts'
import type { Frame, FrictionConstraint } from '../src/types.ts'

t.test('computeAngularVelocity returns the rate about a body axis in a rotated orientation', async (t) => {
  // q turns by `angle` about z, then spins at `rate` about its own x: dq/dt = q * (0, rate / 2, 0, 0).
  const [angle, rate] = [0.8, 3]
  const [w, z] = [Math.cos(angle / 2), Math.sin(angle / 2)]
  const omega = computeAngularVelocity(
    { w, x: 0, y: 0, z },
    { w: 0, x: (w * rate) / 2, y: (z * rate) / 2, z: 0 },
  )
  t.ok(omega !== null && Math.abs((omega.x ?? 0) - rate) < 1e-12, 'returns the rate about x')
  t.ok(omega !== null && Math.hypot(omega.y ?? 1, omega.z ?? 1) < 1e-12, 'returns 0 about the other axes')
})

t.test('computeAngularVelocity returns null if a component is missing', async (t) => {
  const q = { w: 1, x: 0, y: 0, z: 0 }
  t.equal(computeAngularVelocity(q, { ...q, w: null }), null)
  t.equal(computeAngularVelocity({ ...q, y: null }, q), null)
})

const floor = 0x8000_0001

t.test('resolveBodyId returns recorded ids unchanged, even above int32', async (t) => {
  t.equal(resolveBodyId(1, new Set([1]), new Set([floor])), 1)
  t.equal(resolveBodyId(floor, new Set([1]), new Set([floor])), floor)
})

t.test(
  'resolveBodyId returns an environment body for its instance id, unless a dynamic body has that id',
  async (t) => {
    t.equal(resolveBodyId(1, new Set([2]), new Set([floor])), floor)
    t.equal(resolveBodyId(1, new Set([1, 2]), new Set([floor])), 1)
    t.equal(resolveBodyId(7, new Set([1]), new Set([floor])), null)
  },
)

t.test('makeEnvironmentBody removes bit 31 from the instance id', async (t) => {
  t.same(makeEnvironmentBody(floor), { body_id: floor, instance_id: 1 })
  t.ok(isEnvironmentId(floor))
  t.notOk(isEnvironmentId(0x7fff_ffff))
})

t.test('inferGravityFromFlight returns g for free fall and ignores a few outliers', async (t) => {
  const fall: Triple[] = Array.from({ length: 9 }, () => [0, 0, -9.81])
  t.same(inferGravityFromFlight([...fall, [50, 0, 0], [0, 900, 0]]), { x: 0, y: 0, z: -9.81 })
})

t.test('inferGravityFromFlight returns null if samples disagree or are missing', async (t) => {
  t.equal(
    inferGravityFromFlight([
      [1, 0, 0],
      [0, 5, 0],
      [0, 0, 9],
    ]),
    null,
  )
  t.equal(inferGravityFromFlight([]), null)
})

t.test('inferGravityFromPotential solves potential_e = -m g z for both signs of the height', async (t) => {
  const samples = [5, -10, 0.5].map((height) => ({ mass: 3, height, potential: 3 * 1.62 * height }))
  const gravity = inferGravityFromPotential(samples)
  t.match(gravity, { x: 0, y: 0 })
  t.ok(Math.abs((gravity?.z ?? 0) + 1.62) < 1e-12)
})

t.test('inferGravityFromPotential ignores a body at height 0', async (t) => {
  t.equal(inferGravityFromPotential([{ mass: 3, height: 0, potential: 0 }]), null)
})

const [mass, g, dt] = [10, 9.81, 0.016]

/** A body at rest, to which the floor applies m g dt in each step. */
const resting = (scale: number): MomentumRow => ({
  change: [0, 0, mass * g * dt],
  lambda: [0, 0, mass * g * scale],
})

t.test('inferLambdaUnit uses a resting body to distinguish impulses from forces', async (t) => {
  t.equal(inferLambdaUnit([resting(dt), resting(dt)], dt), 'N·s')
  t.equal(inferLambdaUnit([resting(1), resting(1)], dt), 'N')
  t.equal(inferLambdaUnit([resting(0.3)], dt), 'unknown')
})

t.test('inferLambdaUnit ignores frames in which the solver diverged', async (t) => {
  const diverged: MomentumRow = { change: [1e195, 0, 1e195], lambda: [-1e180, 3e190, 1] }
  t.equal(inferLambdaUnit([resting(dt), diverged, resting(dt)], dt), 'N·s')
})

t.test('inferLambdaUnit returns unknown for rows without lambdas', async (t) => {
  t.equal(inferLambdaUnit([], dt), 'unknown')
  t.equal(inferLambdaUnit([{ change: [1, 2, 3], lambda: [0, 0, 0] }], dt), 'unknown')
})

const at = (x: number, y: number, z: number) => ({ x, y, z })

function frame(velocity: number, rows: readonly Partial<FrictionConstraint>[] = []): Frame {
  const row = { normal: at(0, 0, -1), tangent1: at(1, 0, 0), tangent2: at(0, 1, 0), lever_arm_a: at(0, 0, 0) }
  return {
    frame_id: 1,
    simulation_time: 0,
    states: [1, 2].map((body_id) => ({
      body_id,
      position: at(0, 0, 0),
      velocity: at(velocity, 0, 0),
      acceleration: null,
      orientation: { w: 1, ...at(0, 0, 0) },
      angular_velocity: null,
    })),
    collisions: [],
    contact_constraints: [],
    friction_constraints: rows.map((part) => ({
      ...row,
      body_a_id: 1,
      body_b_id: 2,
      lever_arm_b: at(0, 0, 0),
      friction_coefficient: 0.5,
      normal_lambda: 2,
      tangent1_lambda: -1,
      tangent2_lambda: null,
      ...part,
    })),
    joints: [],
    external_forces: [],
    solver: null,
    system_energy: null,
    body_energies: [],
  }
}

t.test('computeMomentumRow does not count an external force as a contact impulse', async (t) => {
  const push = { body_id: 1, force: at(5, 0, 0), torque: at(0, 0, 0), at: at(0, 0, 0) }
  const after = { ...frame(0.5, [{}]), external_forces: [push, push, { ...push, body_id: 2 }] }
  const row = computeMomentumRow(frame(0), after, { body_id: 1, mass: 4 }, [0, 0, -10], 0.1)
  t.same(row?.change, [1, 0, 4])
  const unknown = { ...push, force: { ...push.force, x: null } }
  const missing = computeMomentumRow(
    frame(0),
    { ...after, external_forces: [unknown] },
    { body_id: 1, mass: 4 },
    [0, 0, -10],
    0.1,
  )
  t.equal(missing, null)
})

t.test('computeMomentumRow adds -n * normal + t1 * tangent1 on A and the opposite on B', async (t) => {
  const [before, after] = [frame(0), frame(0.5, [{}])]
  const gravity = [0, 0, -10] as const
  t.same(computeMomentumRow(before, after, { body_id: 1, mass: 4 }, gravity, 0.1), {
    change: [2, 0, 4],
    lambda: [-1, 0, 2],
  })
  t.same(computeMomentumRow(before, after, { body_id: 2, mass: 4 }, gravity, 0.1)?.lambda, [1, 0, -2])
})

t.test('computeMomentumRow returns null for a contact without load', async (t) => {
  const falling = frame(0, [{ normal_lambda: 0, tangent1_lambda: 1e-25 }])
  t.equal(computeMomentumRow(frame(0), falling, { body_id: 1, mass: 4 }, [0, 0, 0], 0.1), null)
})

t.test('computeMomentumRow returns null for a body without contact or velocity', async (t) => {
  const gravity = [0, 0, 0] as const
  t.equal(computeMomentumRow(frame(0), frame(1), { body_id: 1, mass: 4 }, gravity, 0.1), null)
  t.equal(
    computeMomentumRow(frame(0), frame(1, [{ normal_lambda: null }]), { body_id: 1, mass: 4 }, gravity, 0.1),
    null,
  )
  t.equal(computeMomentumRow(frame(0), frame(1, [{}]), { body_id: 9, mass: 4 }, gravity, 0.1), null)
})

/** Returns a probe of a table whose rows have these ids and keys. */
const createProbe =
  (rows: readonly Row[]): Probe =>
  (id) =>
    rows.find((row) => row.id >= id)

const table = (keys: readonly number[], gap = 1): readonly Row[] =>
  keys.map((key, i) => ({ id: 1 + i * gap, key }))

t.test('findLowerBound finds the first row of every key, with or without gaps in the ids', async (t) => {
  for (const gap of [1, 7]) {
    const rows = table([1, 1, 2, 4, 4, 4, 9], gap)
    const span = { first: 1, last: rows.at(-1)?.id ?? 0 }
    for (let key = 0; key <= 10; key++) {
      const bound = findLowerBound(createProbe(rows), span, key)
      const wanted = rows.find((row) => row.key >= key)
      t.equal(rows.find(({ id }) => id >= bound)?.id, wanted?.id, `key ${key}, gap ${gap}`)
    }
  }
})

t.test('findLowerBound takes about log2(rows) probes', async (t) => {
  const rows = 1_000_000
  let probes = 0
  const probe: Probe = (id) => {
    probes++
    return id > rows ? undefined : { id, key: Math.ceil(id / 20) }
  }
  t.equal(findLowerBound(probe, { first: 1, last: rows }, 25_000), 24_999 * 20 + 1)
  t.ok(probes <= 21)
})

t.test('isMonotonic returns false for unordered rows and missing keys', async (t) => {
  const inOrder = table(Array.from({ length: 100 }, (_, i) => Math.floor(i / 3)))
  const span = { first: 1, last: 100 }
  t.ok(isMonotonic(createProbe(inOrder), span, 256))
  t.notOk(isMonotonic(createProbe(table([5, 6, 7, 1])), { first: 1, last: 4 }, 256))
  t.notOk(isMonotonic(createProbe(table([5, Number.NaN, 7])), { first: 1, last: 3 }, 256))
})

const steps = (count: number, dt: number) => Array.from({ length: count }, (_, i) => (i + 1) * dt)

t.test(
  'computeTimeStep returns the mean of equal steps, without the rounding error of each step',
  async (t) => {
    const { dt, isUniform } = computeTimeStep(steps(1000, 0.016))
    t.ok(dt !== null && Math.abs(dt - 0.016) < 1e-15)
    t.equal(isUniform, true)
  },
)

t.test('computeTimeStep reports a clock that pauses as not uniform', async (t) => {
  const times = [...steps(10, 0.01), 0.1, 0.1, 0.1]
  const { dt, isUniform } = computeTimeStep(times)
  t.ok(dt !== null && Math.abs(dt - 0.01) < 1e-12)
  t.equal(isUniform, false)
})

t.test('computeTimeStep returns null for a clock that does not advance', async (t) => {
  t.same(computeTimeStep([1, 1, 1]), { dt: null, isUniform: false })
})

t.test('computeTimeStep ignores steps in which time does not advance', async (t) => {
  t.same(computeTimeStep([0.1, 0.2, 0.2, 0.2, 0.2]), { dt: 0.1, isUniform: false })
  t.same(computeTimeStep([3, 4, 1, 2]), { dt: 1, isUniform: false })
  t.same(computeTimeStep([3, 2, 1]), { dt: null, isUniform: false })
  t.same(computeTimeStep([0, 1, Number.POSITIVE_INFINITY, 3]), { dt: 1, isUniform: false })
})

t.test('computeTimeStep tolerates the rounding of times since 1970', async (t) => {
  const { dt, isUniform } = computeTimeStep(steps(1000, 0.01).map((time) => 1.7e9 + time))
  t.equal(isUniform, true)
  t.ok(dt !== null && Math.abs(dt - 0.01) < 1e-8)
})

t.test('computeTimeStep returns null for fewer than two frames and skips missing times', async (t) => {
  t.same(computeTimeStep([0.5]), { dt: null, isUniform: true })
  t.same(computeTimeStep([]), { dt: null, isUniform: true })
  t.same(computeTimeStep([1, null, 3, 4]), { dt: 1, isUniform: false })
})
