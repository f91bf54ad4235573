import t from 'tap'
import { angularVelocity } from '../../src/domain/angular-velocity.ts'

t.test(
  'angularVelocity: a body that turns about one of its axes has that rate, whatever its orientation',
  async (t) => {
    // q turns by `angle` about z, then spins at `rate` about its own x: dq/dt = q * (0, rate / 2, 0, 0).
    const [angle, rate] = [0.8, 3]
    const [w, z] = [Math.cos(angle / 2), Math.sin(angle / 2)]
    const omega = angularVelocity({ w, x: 0, y: 0, z }, { w: 0, x: (w * rate) / 2, y: (z * rate) / 2, z: 0 })
    t.ok(omega !== null && Math.abs((omega.x ?? 0) - rate) < 1e-12, 'rate about x')
    t.ok(omega !== null && Math.hypot(omega.y ?? 1, omega.z ?? 1) < 1e-12, 'and about nothing else')
  },
)

t.test('angularVelocity: a component that was not recorded leaves it unknown', async (t) => {
  const q = { w: 1, x: 0, y: 0, z: 0 }
  t.equal(angularVelocity(q, { ...q, w: null }), null)
  t.equal(angularVelocity({ ...q, y: null }, q), null)
})
