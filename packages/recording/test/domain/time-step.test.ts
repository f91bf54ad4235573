import t from 'tap'
import { timeStep } from '../../src/domain/time-step.ts'

const steps = (count: number, dt: number) => Array.from({ length: count }, (_, i) => (i + 1) * dt)

t.test('timeStep: equal steps give their mean, free of the rounding of a single one', async (t) => {
  const { dt, isUniform } = timeStep(steps(1000, 0.016))
  t.ok(dt !== null && Math.abs(dt - 0.016) < 1e-15)
  t.equal(isUniform, true)
})

t.test('timeStep: a clock that stands still in places is not uniform', async (t) => {
  const times = [...steps(10, 0.01), 0.1, 0.1, 0.1]
  const { dt, isUniform } = timeStep(times)
  t.ok(dt !== null && Math.abs(dt - 0.01) < 1e-12)
  t.equal(isUniform, false)
})

t.test('timeStep: a clock that never moves has no step', async (t) => {
  t.same(timeStep([1, 1, 1]), { dt: null, isUniform: false })
})

t.test('timeStep: fewer than two frames, or times that were not recorded, tell nothing', async (t) => {
  t.same(timeStep([0.5]), { dt: null, isUniform: true })
  t.same(timeStep([]), { dt: null, isUniform: true })
  t.same(timeStep([1, null, 3, 4]), { dt: 1, isUniform: false })
})
