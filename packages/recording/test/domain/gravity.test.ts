import t from 'tap'
import { gravityFromFlight, gravityFromPotential } from '../../src/domain/gravity.ts'
import type { Triple } from '../../src/domain/momentum.ts'

t.test('gravityFromFlight: free fall gives g, and a few kicks do not change it', async (t) => {
  const fall: Triple[] = Array.from({ length: 9 }, () => [0, 0, -9.81])
  t.same(gravityFromFlight([...fall, [50, 0, 0], [0, 900, 0]]), { x: 0, y: 0, z: -9.81 })
})

t.test('gravityFromFlight: samples that disagree tell nothing, and neither do none', async (t) => {
  t.equal(
    gravityFromFlight([
      [1, 0, 0],
      [0, 5, 0],
      [0, 0, 9],
    ]),
    null,
  )
  t.equal(gravityFromFlight([]), null)
})

t.test('gravityFromPotential: potential_e = -m g z, with either sign of the height', async (t) => {
  const samples = [5, -10, 0.5].map((height) => ({ mass: 3, height, potential: 3 * 1.62 * height }))
  const gravity = gravityFromPotential(samples)
  t.match(gravity, { x: 0, y: 0 })
  t.ok(Math.abs((gravity?.z ?? 0) + 1.62) < 1e-12)
})

t.test('gravityFromPotential: a body at height 0 tells nothing', async (t) => {
  t.equal(gravityFromPotential([{ mass: 3, height: 0, potential: 0 }]), null)
})
