/** Tests laws of collisions, kinetic friction, rows and shapes, in closed form. */
import type { BodyGeometry } from '@causeway/recording'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { bodyLaw } from '../../src/domain/laws/body-law.ts'
import { chatterLaw } from '../../src/domain/laws/contact/chatter-law.ts'
import { collisionLaw } from '../../src/domain/laws/contact/collision-law.ts'
import { coneLaw } from '../../src/domain/laws/contact/cone-law.ts'
import { overlapLaw } from '../../src/domain/laws/contact/overlap-law.ts'
import { slidingLaw } from '../../src/domain/laws/contact/sliding-law.ts'
import { balanceLaw } from '../../src/domain/laws/motion/balance-law.ts'
import { energyRowLaw } from '../../src/domain/laws/motion/energy-row-law.ts'
import { restLaw } from '../../src/domain/laws/motion/rest-law.ts'
import { measureSeparation } from '../../src/domain/shapes/separation.ts'
import { type Pose, type Solid, toSolid } from '../../src/domain/shapes/solid.ts'
import { dt, falling, floor, g, lying, runLaw, type SceneSpec } from './law-kit.ts'

const makeSphere = (body_id: number): BodyGeometry =>
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
  /** Velocities after frame 5 along x, in m/s. */
  readonly after: readonly [number, number]
  readonly masses?: readonly number[]
  readonly change?: Partial<SceneSpec>
  /** Initial distance of the second body, in m. */
  readonly distance?: number
}

/** Two balls of 1 and 3 kg without gravity. The first one moves along x at 4 m/s and meets the second in frame 5. */
const meeting = ({ after, masses = [1, 3], change = {}, distance = 1.16 }: Meeting): SceneSpec => ({
  frames: 12,
  masses,
  gravity: [0, 0, 0],
  geometry: [makeSphere(1), makeSphere(2)],
  state(frame, body) {
    const [u, v] = body === 1 ? [4, after[0]] : [0, after[1]]
    const start = body === 1 ? 0 : distance
    const x = start + (Math.min(frame, 4) * u + Math.max(0, frame - 4) * (v ?? 0)) * dt
    return { position: [x, 0, 0], velocity: [frame < 5 ? u : (v ?? 0), 0, 0] }
  },
  ...change,
})

const where = { frames: { first: 5, last: 5 }, bodies: [1, 2], pair: [1, 2] }

verifies('replay:laws:collision', 'collisionLaw reports a collision without a contact row', async (t) => {
  // Perfectly plastic: both bodies then move at 1 m/s.
  t.match(runLaw(collisionLaw(), meeting({ after: [1, 1] })), [{ kind: 'missing_contact', ...where }])
  const unknown = meeting({ after: [1, 1], change: { hasContacts: false } })
  t.same(runLaw(collisionLaw(), unknown), [], 'contacts that were never recorded are not a fault')
  const recorded = meeting({
    after: [1, 1],
    change: { touches: (frame) => (frame === 5 ? [{ a: 1, b: 2, normal: [1, 0, 0], n: 3 }] : []) },
  })
  t.same(runLaw(collisionLaw(), recorded), [])
})

verifies('replay:laws:collision', 'collisionLaw reports missing and unequal reactions', async (t) => {
  for (const hasContacts of [true, false]) {
    const run = (after: readonly [number, number]) =>
      runLaw(collisionLaw(), meeting({ after, change: { hasContacts } }))
    // The impulse on the second body is divided by the mass of the first.
    t.match(run([1, 3]), [{ kind: 'unequal_reaction', value: 6, ...where }])
    t.match(run([1, 0]), [{ kind: 'missing_reaction', value: 3, ...where }])
    t.same(run([4, 0]), [], 'nothing happens')
  }
})

verifies('replay:laws:collision', 'collisionLaw reports a gain of energy', async (t) => {
  const unknown = { hasContacts: false }
  // Perfectly elastic: 4 and 0 m/s become -2 and 2 m/s.
  t.same(runLaw(collisionLaw(), meeting({ after: [-2, 2], change: unknown })), [])
  t.match(runLaw(collisionLaw(), meeting({ after: [-5, 3], change: unknown })), [
    { kind: 'energy_injection', value: 18, unit: 'J', ...where },
  ])
})

verifies('replay:laws:collision', 'collisionLaw uses opposite impulses if shapes are unknown', async (t) => {
  const unknown = { hasContacts: false, geometry: [] }
  t.match(runLaw(collisionLaw(), meeting({ after: [1, 3], change: unknown })), [
    { kind: 'unequal_reaction', confidence: 0.8 },
  ])
  t.same(runLaw(collisionLaw(), meeting({ after: [1, 0], change: unknown })), [], 'one body is not a pair')
})

verifies('replay:laws:collision', 'collisionLaw ignores distance, attraction and third bodies', async (t) => {
  t.same(runLaw(collisionLaw(), meeting({ after: [1, 3], distance: 3 })), [], 'a distance of 2 m')
  t.same(runLaw(collisionLaw(), meeting({ after: [5, -0.33] })), [], 'they attract each other')
  const third = meeting({
    after: [1, 2],
    masses: [1, 3, 3],
    change: { geometry: [1, 2, 3].map(makeSphere) },
  })
  const cradle: SceneSpec = {
    ...third,
    state: (frame, body) =>
      body === 3 ? { position: [2.16, 0, 0], velocity: [frame < 5 ? 0 : 1, 0, 0] } : third.state(frame, body),
  }
  t.same(runLaw(collisionLaw(), cradle), [], 'a third body takes part')
})

/** A box of 2 kg that slides on the floor with mu = 0.3. From frame 10 on, only `share` of the friction acts. */
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

verifies('replay:laws:friction', 'slidingLaw reports friction far below or above mu Jn', async (t) => {
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

verifies('replay:laws:friction', 'slidingLaw does not judge slow or rotating contacts', async (t) => {
  const slow = sliding(0)
  t.same(runLaw(slidingLaw(), { ...slow, state: () => ({ velocity: [0.05, 0, 0] }) }), [])
  const spins: SceneSpec = {
    ...slow,
    state: (frame, body) => ({ ...slow.state(frame, body), spin: [0, 0, 9] }),
  }
  t.same(runLaw(slidingLaw(), spins), [], 'points of the contact slide in different directions')
})

verifies('replay:laws:friction', 'coneLaw reports corners of a friction pyramid as info', async (t) => {
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

t.test('pushing a body out of a wall that it overlaps is not creep', async (t) => {
  const corrected = (normal: readonly [number, number, number]): SceneSpec => ({
    frames: 40,
    masses: [2],
    state: (frame) => ({ position: [0.005 * dt * frame, 0, 0] }),
    touches: () => [lying(2), { ...lying(2), b: floor + 1, normal, lever: [0.5, 0, 0], n: 0 }],
  })
  t.same(runLaw(restLaw(), corrected([-1, 0, 0])), [])
  t.match(runLaw(restLaw(), corrected([0, 1, 0])), [{ kind: 'creep' }], 'a wall at the side')
})

const flying: SceneSpec = {
  frames: 20,
  masses: [2],
  state: (frame) => ({ position: [3 * frame * dt, 0, 0], velocity: [3, 0, 0] }),
}

verifies('replay:laws:rows', 'bodyLaw reports masses that are not positive', async (t) => {
  t.same(runLaw(bodyLaw(), flying), [])
  for (const mass of [0, -1, Number.POSITIVE_INFINITY])
    t.match(
      runLaw(bodyLaw(), { ...flying, masses: [mass] }),
      [{ kind: 'invalid_mass', bodies: [1] }],
      `${mass}`,
    )
})

verifies('replay:laws:rows', 'bodyLaw reports a run that starts with an exploded frame', async (t) => {
  const exploded: SceneSpec = { ...flying, state: () => ({ velocity: [2e5, 0, 0] }) }
  t.match(runLaw(bodyLaw(), exploded)[0], { kind: 'blow_up', bodies: [1], frames: { first: 1 }, unit: 'm/s' })
})

verifies('replay:laws:rows', 'bodyLaw reports a diverging run regardless of recorded forces', async (t) => {
  const growing = (factor: number): SceneSpec => ({
    ...flying,
    state: (frame) => ({ velocity: [0, (-factor) ** frame, 0] }),
  })
  t.match(runLaw(bodyLaw(), growing(3)), [
    { kind: 'blow_up', bodies: [1], frames: { first: 2, last: 20 }, value: 3 ** 20, unit: 'm/s' },
  ])
  const late = {
    ...flying,
    frames: 30,
    state: (frame: number) => growing(3).state(Math.max(1, frame - 12), 1),
  }
  t.match(
    runLaw(bodyLaw(), late)[0]?.frames,
    { first: 14, last: 30 },
    'from the first step that multiplies it',
  )
  t.same(runLaw(bodyLaw(), growing(1.9)), [], 'fast, but below 1000 km/s')
  t.same(runLaw(bodyLaw(), { ...growing(3), gravity: [0, 0, 0] }), [], 'units are unknown without gravity')
})

verifies('replay:laws:rows', 'bodyLaw reports contacts of a body without states', async (t) => {
  const found = runLaw(bodyLaw(), { ...flying, touches: (frame) => (frame === 4 ? [{ a: 1, b: 77 }] : []) })
  t.match(found, [{ kind: 'invalid_body_id', bodies: [77], frames: { first: 4, last: 4 } }])
})

verifies('replay:laws:rows', 'bodyLaw reports a contact of a body with itself', async (t) => {
  const found = runLaw(bodyLaw(), { ...flying, touches: (frame) => (frame > 3 ? [{ a: 1, b: 1 }] : []) })
  t.match(found, [
    { kind: 'invalid_body_id', bodies: [1], frames: { first: 4 }, text: 'is in contact with itself' },
  ])
  t.equal(found.length, 1)
})

verifies('replay:laws:rows', 'bodyLaw reports a repeated state of a moving body', async (t) => {
  const repeated = (frame: number): number => (frame === 9 ? 8 : frame)
  const found = runLaw(bodyLaw(), { ...flying, state: (frame) => flying.state(repeated(frame), 1) })
  t.match(found, [{ kind: 'duplicate_state', bodies: [1], frames: { first: 9, last: 9 } }])
  t.same(runLaw(bodyLaw(), { ...flying, state: () => ({ velocity: [0, 0, -0.0981] }) }), [], 'a resting body')
})

verifies('replay:laws:rows', 'energies that contradict the state or their sum are reported', async (t) => {
  t.same(runLaw(energyRowLaw(), { frames: 20, masses: [2], state: falling }), [])
  const spinning = (rotational: number): SceneSpec => ({
    frames: 5,
    masses: [2],
    inertias: [[0.1, 0.2, 0.3]],
    state: () => ({ spin: [1, 2, 3], rotational }),
  })
  t.same(runLaw(energyRowLaw(), spinning(0.5 * (0.1 + 0.8 + 2.7))), [], 'w I w / 2 = 1.8 J')
  t.match(runLaw(energyRowLaw(), spinning(1.9)), [{ kind: 'energy_rows', text: /rotational/ }])
})

verifies('replay:laws:rows', 'chatterLaw accepts lost contacts of a rocking body', async (t) => {
  const flickering = (spin: number): SceneSpec => ({
    frames: 60,
    masses: [1],
    state: () => ({ spin: [0, spin, 0] }),
    touches: (frame) => (frame % 4 === 0 ? [] : [{ n: 1 }]),
  })
  t.match(runLaw(chatterLaw(), flickering(0)), [{ kind: 'contact_chatter' }])
  t.same(runLaw(chatterLaw(), flickering(0.5)), [])
})

t.end()

const upright: Pose['rotation'] = [1, 0, 0, 0]
/** A quarter turn about y, so that z points along x. */
const lyingTurn: Pose['rotation'] = [Math.SQRT1_2, 0, Math.SQRT1_2, 0]
const at = (x: number, y: number, z: number, rotation = upright): Pose => ({ at: [x, y, z], rotation })

const geometry = (
  body_id: number,
  shape: BodyGeometry['shape'],
  more: Partial<BodyGeometry> = {},
): BodyGeometry => ({
  ...{ body_id, name: null, shape, half_extents: null, inertia: null, position: null, orientation: null },
  ...more,
})
const solid = (shape: BodyGeometry['shape'], half: readonly [number, number, number] | null = null): Solid =>
  toSolid(geometry(1, shape, { half_extents: half })) as Solid

const sphere = solid({ kind: 'sphere', radius: 0.5 })
const capsule = solid({ kind: 'capsule', radius: 0.2, half_length: 0.5 })
const box = solid({ kind: 'box' }, [0.5, 0.5, 0.5])
const plane = solid({ kind: 'plane' })

verifies('replay:laws:overlap', 'distances between shapes match their closed forms', async (t) => {
  const cases: readonly (readonly [Solid, Pose, Solid, Pose, number])[] = [
    [sphere, at(0, 0, 0), sphere, at(1.3, 0, 0), 0.3],
    [sphere, at(0, 0, 0.4), plane, at(0, 0, 0), -0.1],
    [plane, at(0, 0, 1, lyingTurn), sphere, at(2, 0, 0), 1.5],
    [capsule, at(0, 0, 1), plane, at(0, 0, 0), 0.3],
    [capsule, at(0, 0, 1, lyingTurn), plane, at(0, 0, 0), 0.8],
    [box, at(0, 0, 0.45), plane, at(0, 0, 0), -0.05],
    [capsule, at(0, 0, 0), capsule, at(1, 0, 0), 0.6],
    [capsule, at(0, 0, 0), capsule, at(0, 0.3, 0, lyingTurn), -0.1],
    [sphere, at(1.1, 0, 0), box, at(0, 0, 0), 0.1],
    [sphere, at(0.2, 0, 0), box, at(0, 0, 0), -0.8],
    [capsule, at(0.9, 0, 0, lyingTurn), box, at(0, 0, 0), -0.3],
    [box, at(0, 0, 0), box, at(0.9, 0, 0), -0.1],
    [
      box,
      at(0, 0, 0),
      box,
      at(1.25, 0, 0, [Math.cos(Math.PI / 8), 0, 0, Math.sin(Math.PI / 8)]),
      0.75 - Math.SQRT1_2,
    ],
  ]
  for (const [a, poseA, b, poseB, expected] of cases) {
    t.ok(Math.abs(measureSeparation(a, poseA, b, poseB) - expected) < 1e-6, `${a.kind} ${b.kind} ${expected}`)
    t.ok(Math.abs(measureSeparation(b, poseB, a, poseA) - expected) < 1e-6, 'in either order')
  }
})

const ball = geometry(1, { kind: 'sphere', radius: 0.5 })
const ground = geometry(floor, { kind: 'plane' }, { position: [0, 0, 0] })

/** A ball that sinks into the floor at 1 m/s from frame 6 on. */
const sinking = (touches: SceneSpec['touches']): SceneSpec => ({
  frames: 12,
  masses: [1],
  geometry: [ball, ground],
  state: (frame) => ({ position: [0, 0, 0.55 - 0.01 * frame], velocity: [0, 0, -1] }),
  ...(touches && { touches }),
})

verifies('replay:laws:overlap', 'overlapLaw reports shapes that overlap without a contact row', async (t) => {
  const falling = { ...sinking(() => []), gravity: [0, 0, 0] as const }
  t.match(runLaw(overlapLaw(), falling), [
    { kind: 'missing_contact', pair: [1, floor], frames: { first: 7, last: 12 } },
  ])
  t.same(runLaw(overlapLaw(), { ...falling, touches: (frame) => (frame > 6 ? [{ n: 1 }] : []) }), [])
})

verifies('replay:laws:overlap', 'overlapLaw reports a bounce without a contact row', async (t) => {
  const bounce: SceneSpec = {
    frames: 12,
    masses: [1],
    geometry: [ball, ground],
    state: (frame) => {
      const speed = frame < 6 ? -1 : 1
      return {
        position: [0, 0, 0.501 + 0.01 * Math.abs(frame - 5)],
        velocity: [0, 0, speed - g * dt * frame],
      }
    },
  }
  t.match(runLaw(overlapLaw(), bounce), [{ kind: 'missing_contact', pair: [1, floor], frames: { first: 6 } }])
})

verifies('replay:laws:overlap', 'overlapLaw reports an impulse across a gap', async (t) => {
  const hovering = (n: number): SceneSpec => ({
    frames: 5,
    masses: [1],
    geometry: [ball, ground],
    state: () => ({ position: [0, 0, 0.8] }),
    touches: () => [{ n }],
  })
  t.match(runLaw(overlapLaw(), hovering(g * dt)), [{ kind: 'contact_gap', pair: [1, floor], limit: 0.01 }])
  t.same(runLaw(overlapLaw(), hovering(0)), [], 'a speculative contact has no impulse')
})

t.end()
