/** Laws of collisions without contact rows, and of kinetic friction, in closed form. */
import type { BodyGeometry } from '@causeway/recording'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { collisionLaw } from '../../src/domain/laws/contact/collision-law.ts'
import { coneLaw } from '../../src/domain/laws/contact/cone-law.ts'
import { slidingLaw } from '../../src/domain/laws/contact/sliding-law.ts'
import { balanceLaw } from '../../src/domain/laws/motion/balance-law.ts'
import { restLaw } from '../../src/domain/laws/motion/rest-law.ts'
import { dt, falling, floor, g, lying, runLaw, type SceneSpec } from './law-kit.ts'

const sphere = (body_id: number): BodyGeometry =>
  ({
    body_id,
    name: null,
    shape: { kind: 'sphere', radius: 0.5 },
    half_extents: null,
    inertia: null,
    position: null,
    orientation: null,
  }) as unknown as BodyGeometry

interface Meeting {
  /** m/s after frame 5 along x. */
  readonly after: readonly [number, number]
  readonly masses?: readonly number[]
  readonly change?: Partial<SceneSpec>
  /** m, of the second body at the start. */
  readonly distance?: number
}

/** Two balls of 1 and 3 kg without gravity; the first one moves with 4 m/s along x and meets the second in frame 5. */
const meeting = ({ after, masses = [1, 3], change = {}, distance = 1.16 }: Meeting): SceneSpec => ({
  frames: 12,
  masses,
  gravity: [0, 0, 0],
  geometry: [sphere(1), sphere(2)],
  state(frame, body) {
    const [u, v] = body === 1 ? [4, after[0]] : [0, after[1]]
    const start = body === 1 ? 0 : distance
    const x = start + (Math.min(frame, 4) * u + Math.max(0, frame - 4) * (v ?? 0)) * dt
    return { position: [x, 0, 0], velocity: [frame < 5 ? u : (v ?? 0), 0, 0] }
  },
  ...change,
})

const where = { frames: { first: 5, last: 5 }, bodies: [1, 2], pair: [1, 2] }

verifies('replay:laws:collision', 'a collision without a contact row is reported', async (t) => {
  // Perfectly plastic: both move with 1 m/s.
  t.match(runLaw(collisionLaw(), meeting({ after: [1, 1] })), [{ kind: 'missing_contact', ...where }])
  const unknown = meeting({ after: [1, 1], change: { hasContacts: false } })
  t.same(runLaw(collisionLaw(), unknown), [], 'contacts that were never recorded are not a fault')
  const recorded = meeting({
    after: [1, 1],
    change: { touches: (frame) => (frame === 5 ? [{ a: 1, b: 2, normal: [1, 0, 0], n: 3 }] : []) },
  })
  t.same(runLaw(collisionLaw(), recorded), [])
})

verifies('replay:laws:collision', 'a collision keeps momentum, with or without contact rows', async (t) => {
  for (const hasContacts of [true, false]) {
    const run = (after: readonly [number, number]) =>
      runLaw(collisionLaw(), meeting({ after, change: { hasContacts } }))
    // The impulse on the second body was divided by the mass of the first.
    t.match(run([1, 3]), [{ kind: 'unequal_reaction', value: 6, ...where }])
    t.match(run([1, 0]), [{ kind: 'missing_reaction', value: 3, ...where }])
    t.same(run([4, 0]), [], 'nothing happens')
  }
})

verifies('replay:laws:collision', 'a collision does not add energy', async (t) => {
  const unknown = { hasContacts: false }
  // Elastic: 4 m/s becomes -2 and 2 m/s.
  t.same(runLaw(collisionLaw(), meeting({ after: [-2, 2], change: unknown })), [])
  t.match(runLaw(collisionLaw(), meeting({ after: [-5, 3], change: unknown })), [
    { kind: 'energy_injection', value: 18, unit: 'J', ...where },
  ])
})

verifies('replay:laws:collision', 'without shapes, opposite impulses are a collision', async (t) => {
  const unknown = { hasContacts: false, geometry: [] }
  t.match(runLaw(collisionLaw(), meeting({ after: [1, 3], change: unknown })), [
    { kind: 'unequal_reaction', confidence: 0.8 },
  ])
  t.same(runLaw(collisionLaw(), meeting({ after: [1, 0], change: unknown })), [], 'one body is not a pair')
})

verifies('replay:laws:collision', 'bodies that cannot push each other do not collide', async (t) => {
  t.same(runLaw(collisionLaw(), meeting({ after: [1, 3], distance: 3 })), [], 'a distance of 2 m')
  t.same(runLaw(collisionLaw(), meeting({ after: [5, -0.33] })), [], 'they attract each other')
  const third = meeting({ after: [1, 2], masses: [1, 3, 3], change: { geometry: [1, 2, 3].map(sphere) } })
  const cradle: SceneSpec = {
    ...third,
    state: (frame, body) =>
      body === 3 ? { position: [2.16, 0, 0], velocity: [frame < 5 ? 0 : 1, 0, 0] } : third.state(frame, body),
  }
  t.same(runLaw(collisionLaw(), cradle), [], 'a third body takes part')
})

/** A box of 2 kg that slides with mu = 0.3 over the floor; `share` of the friction acts from frame 10. */
const sliding = (share: number, change: (t1: number) => object = (t1) => ({ t1 })): SceneSpec => {
  const part = (frame: number): number => (frame < 10 ? 1 : share)
  const speed = (frame: number): number =>
    Array.from({ length: frame }, (_, i) => part(i + 1)).reduce((v, one) => v - one * 0.3 * g * dt, 5)
  return {
    frames: 25,
    masses: [2],
    extents: [[0.5, 0.5, 0.5]],
    state: (frame) => ({ velocity: [speed(frame), 0, 0] }),
    touches: (frame) => [{ ...lying(2), mu: 0.3, ...change(-part(frame) * 0.3 * 2 * g * dt) }],
  }
}

verifies('replay:laws:friction', 'friction of a sliding body is mu Jn', async (t) => {
  t.same(runLaw(slidingLaw(), sliding(1)), [])
  t.same(runLaw(slidingLaw(), sliding(0.71)), [], 'an inscribed friction pyramid')
  const lost = { kind: 'friction_lost', frames: { first: 10 }, bodies: [1, floor], unit: 'times mu*Fn' }
  for (const share of [0, 0.3, 0.6])
    t.match(runLaw(slidingLaw(), sliding(share)), [{ ...lost, confidence: 0.9 }])
  const unknown = () => ({ t1: Number.NaN, t2: Number.NaN })
  t.same(runLaw(slidingLaw(), sliding(1, unknown)), [])
  t.match(runLaw(slidingLaw(), sliding(0, unknown)), [{ ...lost, confidence: 0.7 }])
  t.match(runLaw(slidingLaw(), sliding(3, unknown)), [{ kind: 'friction_cone', frames: { first: 10 } }])
  // Rapier reports tangential impulses of 0.
  t.same(
    runLaw(
      slidingLaw(),
      sliding(1, () => ({ t1: 0 })),
    ),
    [],
    'impulses that contradict the motion',
  )
})

verifies('replay:laws:friction', 'a slow or turning contact need not have kinetic friction', async (t) => {
  const slow = sliding(0)
  t.same(runLaw(slidingLaw(), { ...slow, state: () => ({ velocity: [0.05, 0, 0] }) }), [])
  const spins: SceneSpec = {
    ...slow,
    state: (frame, body) => ({ ...slow.state(frame, body), spin: [0, 0, 9] }),
  }
  t.same(runLaw(slidingLaw(), spins), [], 'points of the contact slide in different directions')
})

verifies('replay:laws:friction', 'a friction pyramid exceeds the cone between its tangents', async (t) => {
  const run = (t1: number, t2: number, speed = 0, first = { t1, t2 }) =>
    runLaw(coneLaw(), {
      frames: 12,
      masses: [2],
      state: () => ({ velocity: [speed, 0, 0] }),
      touches: (frame) => [{ n: 1, mu: 0.5, t1, t2, ...(frame < 6 && first) }],
    })
  t.same(run(0.5, 0), [])
  t.match(run(0.5, 0.5, 1), [{ kind: 'friction_cone', severity: 'info', value: Math.SQRT2 }])
  t.match(run(0.4, 0.4), [{ kind: 'friction_cone', severity: 'info' }], 'a pyramid holds a point')
  t.match(
    run(0.4, 0.4, 1),
    [{ kind: 'friction_cone', severity: 'error' }],
    'a pyramid lets a point slide later',
  )
  t.match(run(0.6, 0), [{ kind: 'friction_cone', severity: 'error' }], 'one tangent exceeds its limit')
  const cone = { t1: 0.3, t2: 0.4 }
  t.match(run(0.4, 0.4, 0, cone), [{ severity: 'error', frames: { first: 6 } }], 'the engine has a cone')
})

t.test('noise of recorded velocities is not a fault', async (t) => {
  // Deterministic noise of 1 mm/s, and a kick of 0.2 m/s in frame 30.
  const noise = (frame: number, i: number): number => 1e-3 * Math.sin(frame * frame * (7.3 + i) + 13 * i)
  const flying = (kick: number): SceneSpec => ({
    frames: 60,
    masses: [1],
    state(frame) {
      const { position = [0, 0, 0], velocity = [0, 0, 0] } = falling(frame)
      const [x, y, z] = velocity
      const vx = 3 + x + (frame < 30 ? 0 : kick)
      return { position, velocity: [vx + noise(frame, 0), y + noise(frame, 1), z + noise(frame, 2)] }
    },
  })
  t.match(runLaw(balanceLaw(), flying(0)), [{ kind: 'momentum', severity: 'info', bodies: [1] }])
  t.match(runLaw(balanceLaw(), flying(0.2)), [
    { severity: 'error', frames: { first: 30 } },
    { severity: 'info' },
  ])
})

t.test('corrections of the overlap with a wall are not creep', async (t) => {
  const corrected = (normal: readonly [number, number, number]): SceneSpec => ({
    frames: 40,
    masses: [2],
    state: (frame) => ({ position: [0.005 * dt * frame, 0, 0] }),
    touches: () => [lying(2), { ...lying(2), b: floor + 1, normal, lever: [0.5, 0, 0], n: 0 }],
  })
  t.same(runLaw(restLaw(), corrected([-1, 0, 0])), [])
  t.match(runLaw(restLaw(), corrected([0, 1, 0])), [{ kind: 'creep' }], 'a wall at the side')
})
