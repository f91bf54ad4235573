import t from 'tap'
import { inferLambdaUnit } from '../../src/domain/lambda-unit.ts'
import { type MomentumRow, momentumRow } from '../../src/domain/momentum.ts'
import type { Frame, FrictionConstraint } from '../../src/types.ts'

const [mass, g, dt] = [10, 9.81, 0.016]

/** A body at rest: the floor carries m g dt each step. */
const resting = (scale: number): MomentumRow => ({
  change: [0, 0, mass * g * dt],
  lambda: [0, 0, mass * g * scale],
})

t.test('inferLambdaUnit: a resting body tells impulses from forces', async (t) => {
  t.equal(inferLambdaUnit([resting(dt), resting(dt)], dt), 'N·s')
  t.equal(inferLambdaUnit([resting(1), resting(1)], dt), 'N')
  t.equal(inferLambdaUnit([resting(0.3)], dt), 'unknown')
})

t.test('inferLambdaUnit: frames in which the solver diverged do not decide', async (t) => {
  const diverged: MomentumRow = { change: [1e195, 0, 1e195], lambda: [-1e180, 3e190, 1] }
  t.equal(inferLambdaUnit([resting(dt), diverged, resting(dt)], dt), 'N·s')
})

t.test('inferLambdaUnit: rows without lambda tell nothing', async (t) => {
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
    external_forces: [],
    solver: null,
    system_energy: null,
    body_energies: [],
  }
}

t.test('momentumRow: an external force is no impulse of a contact', async (t) => {
  const push = { body_id: 1, force: at(5, 0, 0), torque: at(0, 0, 0), at: at(0, 0, 0) }
  const after = { ...frame(0.5, [{}]), external_forces: [push, push, { ...push, body_id: 2 }] }
  const row = momentumRow(frame(0), after, { body_id: 1, mass: 4 }, [0, 0, -10], 0.1)
  t.same(row?.change, [1, 0, 4])
  const unknown = { ...push, force: { ...push.force, x: null } }
  const told = momentumRow(
    frame(0),
    { ...after, external_forces: [unknown] },
    { body_id: 1, mass: 4 },
    [0, 0, -10],
    0.1,
  )
  t.equal(told, null)
})

t.test('momentumRow: on A -n * normal + t1 * lambda1, on B the opposite', async (t) => {
  const [before, after] = [frame(0), frame(0.5, [{}])]
  const gravity = [0, 0, -10] as const
  t.same(momentumRow(before, after, { body_id: 1, mass: 4 }, gravity, 0.1), {
    change: [2, 0, 4],
    lambda: [-1, 0, 2],
  })
  t.same(momentumRow(before, after, { body_id: 2, mass: 4 }, gravity, 0.1)?.lambda, [1, 0, -2])
})

t.test('momentumRow: a contact that carries no load tells nothing', async (t) => {
  const falling = frame(0, [{ normal_lambda: 0, tangent1_lambda: 1e-25 }])
  t.equal(momentumRow(frame(0), falling, { body_id: 1, mass: 4 }, [0, 0, 0], 0.1), null)
})

t.test('momentumRow: a body without contact or without a velocity has none', async (t) => {
  const gravity = [0, 0, 0] as const
  t.equal(momentumRow(frame(0), frame(1), { body_id: 1, mass: 4 }, gravity, 0.1), null)
  t.equal(
    momentumRow(frame(0), frame(1, [{ normal_lambda: null }]), { body_id: 1, mass: 4 }, gravity, 0.1),
    null,
  )
  t.equal(momentumRow(frame(0), frame(1, [{}]), { body_id: 9, mass: 4 }, gravity, 0.1), null)
})
