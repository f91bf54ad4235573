import t from 'tap'
import { newtons } from '../../src/domain/force.ts'

t.test('newtons: an impulse is divided by its step, a force is taken as it is', async (t) => {
  const [mass, g, dt] = [10, 9.81, 0.016]
  t.ok(Math.abs((newtons(mass * g * dt, { unit: 'N·s', dt }) ?? 0) - mass * g) < 1e-12)
  t.equal(newtons(98.1, { unit: 'N', dt }), 98.1)
})

t.test('newtons: nothing is made up where the unit, the step or the value is unknown', async (t) => {
  t.equal(newtons(1, { unit: 'unknown', dt: 0.016 }), null)
  t.equal(newtons(1, { unit: 'N·s', dt: null }), null)
  t.equal(newtons(1, { unit: 'N·s', dt: 0 }), null)
  t.equal(newtons(null, { unit: 'N', dt: null }), null)
})
