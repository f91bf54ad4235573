import t from 'tap'
import { dot, minus, norm, opposite, rotationAngle, split } from '../../src/domain/vector.ts'

const absent = { x: 1, y: null, z: 1 }
const unit = { x: 0, y: 0, z: 1 }
const turn = (angle: number) => ({ w: Math.cos(angle / 2), x: 0, y: Math.sin(angle / 2), z: 0 })
const still = { w: 1, x: 0, y: 0, z: 0 }

t.test('vectors: an absent component makes the result absent', async (t) => {
  t.equal(norm(absent), null)
  t.equal(dot(absent, unit), null)
  t.equal(dot(unit, absent), null)
  t.same(minus(absent, unit), { x: 1, y: null, z: 0 })
  t.same(split(absent, unit), { along: null, across: null })
  t.equal(rotationAngle({ ...still, w: null }, still), null)
  t.equal(rotationAngle(still, { ...still, z: null }), null)
})

t.test('vectors: lengths of a diverged run do not overflow', async (t) => {
  t.equal(norm({ x: 3e195, y: 0, z: -4e195 }), 5e195)
})

t.test('vectors: a velocity splits into its parts along and across a normal', async (t) => {
  t.same(split({ x: 3, y: 4, z: -2 }, unit), { along: -2, across: 5 })
  t.same(opposite({ x: 1, y: -2, z: 0 }), { x: -1, y: 2, z: 0 })
})

t.test('rotation angle: is exact for small angles, and q and -q are the same rotation', async (t) => {
  const near = (a: number | null, b: number): boolean => a !== null && Math.abs(a - b) <= 1e-12 * b
  for (const angle of [1e-9, 0.1, 1, 3]) t.ok(near(rotationAngle(still, turn(angle)), angle), `${angle} rad`)
  const { w, x, y, z } = turn(1)
  t.ok(near(rotationAngle(still, { w: -w, x: -x, y: -y, z: -z }), 1))
  t.ok(near(rotationAngle(turn(0.5), turn(2)), 1.5))
  t.equal(rotationAngle(still, still), 0)
})
