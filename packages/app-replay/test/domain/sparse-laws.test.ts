/** Tests laws of numbers and clock, runs with missing data, and different integrators. */
import type { BodyGeometry } from '@causeway/recording'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { coneLaw } from '../../src/domain/laws/contact/cone-law.ts'
import { overlapLaw } from '../../src/domain/laws/contact/overlap-law.ts'
import { slidingLaw } from '../../src/domain/laws/contact/sliding-law.ts'
import { balanceLaw } from '../../src/domain/laws/motion/balance-law.ts'
import { budgetLaw } from '../../src/domain/laws/motion/budget-law.ts'
import { energyRowLaw } from '../../src/domain/laws/motion/energy-row-law.ts'
import { spinLaw } from '../../src/domain/laws/motion/spin-law.ts'
import { teleportLaw } from '../../src/domain/laws/motion/teleport-law.ts'
import { recordLaw } from '../../src/domain/laws/record-law.ts'
import { dt, falling, floor, g, lying, runLaw, type SceneBody, type SceneSpec } from './law-kit.ts'

const noGeometry = { name: null, half_extents: null, inertia: null, position: null, orientation: null }
/** A ball with a radius of 0.3 m above a plane at z = 0. */
const ballAndPlane: readonly BodyGeometry[] = [
  { ...noGeometry, body_id: 1, shape: { kind: 'sphere', radius: 0.3 } },
  { ...noGeometry, body_id: floor, shape: { kind: 'plane' }, position: [0, 0, 0], orientation: [1, 0, 0, 0] },
]

/** A ball at a height, with a velocity that contradicts its motion. */
const moving = (height: (frame: number) => number, speed: (frame: number) => number): SceneSpec => ({
  frames: 40,
  masses: [2],
  hasContacts: false,
  geometry: ballAndPlane,
  state: (frame) => ({ position: [0, 0, height(frame)], velocity: [0, 0, speed(frame)] }),
})

verifies('replay:laws:velocity', 'without contacts, overlapping shapes may be pushed apart', async (t) => {
  // The ball is 80 mm deep. A projection removes 30 % of the overlap in each step.
  const depth = (frame: number): number => 0.08 * 0.7 ** (frame - 1)
  const corrected = moving(
    (frame) => 0.3 - depth(frame),
    () => 0,
  )
  t.same(runLaw(teleportLaw(), corrected), [])
  t.match(runLaw(teleportLaw(), { ...corrected, geometry: [] }), [{ kind: 'teleport', frames: { first: 2 } }])
  const jump = moving(
    (frame) => (frame < 20 ? 5 : 5.1),
    () => 0,
  )
  t.match(runLaw(teleportLaw(), jump), [{ kind: 'teleport', frames: { first: 20 } }])
})

verifies(
  'replay:laws:velocity',
  'without contacts, teleportLaw reports a velocity of the wrong magnitude',
  async (t) => {
    // A fall from 3 m/s by the midpoint rule. For a body that may be in contact, 4 mm per step would not be a jump.
    const speed = (frame: number): number => -3 - g * dt * frame
    const height = (frame: number): number => 50 - 3 * dt * frame - (g * (dt * frame) ** 2) / 2
    t.same(runLaw(teleportLaw(), moving(height, speed)), [])
    const times = (factor: number) => moving(height, (frame) => factor * speed(frame))
    t.match(runLaw(teleportLaw(), times(1.1)), [
      { kind: 'velocity_mismatch', bodies: [1], frames: { last: 40 } },
    ])
    // A resting body with the velocity that gravity adds before the contact removes it.
    const resting = moving(
      () => 0.3,
      () => -g * dt,
    )
    t.same(runLaw(teleportLaw(), resting), [])
  },
)

verifies(
  'replay:laws:overlap',
  'without contacts, a sinking body is reported from its first overlap on',
  async (t) => {
    const sinking = (speed: number) =>
      moving(
        (frame) => 0.3 - speed * dt * (frame - 9.5),
        () => -speed,
      )
    for (const speed of [0.5, 2, 6])
      t.match(
        runLaw(overlapLaw(), sinking(speed)),
        [{ kind: 'penetration', bodies: [1, floor], frames: { first: 11 } }],
        `${speed} m/s`,
      )
    const inside = moving(
      () => 0.2,
      () => 0,
    )
    t.same(runLaw(overlapLaw(), inside), [], 'shapes that always overlap may be meant to')
  },
)

verifies('replay:laws:rows', 'without velocities, energies are compared with the motion', async (t) => {
  const thrown = (factor: number, hit: number): SceneSpec => {
    const speed = (frame: number): number => (frame < hit ? 4 : -3)
    let at = 0
    const places = Array.from({ length: 31 }, (_, frame) => (at += frame === 0 ? 0 : speed(frame) * dt))
    return {
      frames: 30,
      masses: [2],
      gravity: [0, 0, 0],
      state: (frame) => ({ position: [places[frame] ?? 0, 0, 0], velocity: [Number.NaN, 0, 0] }),
      linear: (frame) => speed(frame) ** 2 * (frame < 12 ? 1 : factor),
    }
  }
  t.same(runLaw(energyRowLaw(), thrown(1, 20)), [], 'an impact')
  t.match(runLaw(energyRowLaw(), thrown(1.5, 20)), [
    { kind: 'energy_rows', bodies: [1], frames: { first: 12, last: 30 }, confidence: 0.9 },
  ])
})

t.test('budgetLaw accepts only the energy that explicit Euler adds', async (t) => {
  // z(N) = z(N-1) + v(N-1) dt: a fall gains m g² dt² / 2 in each step.
  const step = 0.05
  const fall = (frames: number, factor: number): SceneSpec => ({
    frames,
    masses: [2],
    time: (frame) => frame * step,
    state: (frame) => ({
      position: [0, 0, (-g * step * step * frame * (frame - 1)) / 2],
      velocity: [0, 0, -g * step * frame * (frame < 40 ? 1 : factor)],
    }),
  })
  t.same(runLaw(budgetLaw(), fall(200, 1)), [])
  t.match(runLaw(budgetLaw(), fall(200, 1.5)), [{ kind: 'energy_injection', frames: { first: 40 } }])
})

/** Positions advance by dt times a velocity from that before the step (share 0) to that after it (share 1). */
function falls(share: (frame: number, body: number) => number, spec: Partial<SceneSpec> = {}): SceneSpec {
  const { masses = [2], frames = 60, time = (frame: number): number => frame * dt } = spec
  const states = masses.map((_, column) => {
    let [z, v] = [0, 0]
    return Array.from({ length: frames + 1 }, (_, frame): SceneBody => {
      if (frame === 0) return { position: [0, 0, 0] }
      const step = time(frame) - time(frame - 1)
      z += (v - share(frame, column + 1) * g * step) * step
      v -= g * step
      return { position: [0, 0, z], velocity: [0, 0, v] }
    })
  })
  return { masses, frames, state: (frame, body) => states[body - 1]?.[frame] ?? {}, time, ...spec }
}

t.test('balanceLaw reports a body whose integrator changes', async (t) => {
  for (const share of [0, 0.5, 0.75, 1])
    t.same(
      runLaw(
        balanceLaw(),
        falls(() => share),
      ),
      [],
      `always ${share}`,
    )
  const change = (before: number, after: number) => falls((frame) => (frame < 25 ? before : after))
  const found = { bodies: [1], frames: { first: 25, last: 60 } }
  t.match(runLaw(balanceLaw(), change(1, 0)), [{ kind: 'energy_drift', ...found }])
  t.match(runLaw(balanceLaw(), change(0.5, 0)), [{ kind: 'energy_drift', ...found }])
  t.match(runLaw(balanceLaw(), change(0, 1)), [{ kind: 'dissipation_without_contact', ...found }])
  t.same(runLaw(balanceLaw(), change(1, 0.75)), [], 'two substeps')
  const gained = 36 * 2 * (g * dt) ** 2
  t.ok(Math.abs((runLaw(balanceLaw(), change(1, 0))[0]?.value ?? 0) / gained - 1) < 1e-9)
})

t.test('balanceLaw accepts integrator changes explained by steps, contacts or sampling', async (t) => {
  const uneven = (frame: number): number => dt * (frame + 0.3 * Math.sin(frame))
  t.same(
    runLaw(
      balanceLaw(),
      falls(() => 1, { time: uneven }),
    ),
    [],
    'a clock that is not constant',
  )
  // From frame 25 on, each frame consists of six steps.
  const sparse = (frame: number): number => dt * (frame < 25 ? frame : 24 + 6 * (frame - 24))
  t.same(
    runLaw(
      balanceLaw(),
      falls((frame) => (frame < 25 ? 1 : 7 / 12), { time: sparse }),
    ),
    [],
  )
  const bounced = falls((frame) => (frame < 21 || frame > 25 ? 1 : 0))
  t.same(runLaw(balanceLaw(), { ...bounced, touches: (frame) => (frame === 20 ? [{ n: 0 }] : []) }), [])
  t.same(
    runLaw(
      balanceLaw(),
      falls((frame) => Math.abs(Math.sin(frame))),
    ),
    [],
    'inexact positions',
  )
})

t.test('balanceLaw reports a body that gains energy if others do not', async (t) => {
  const one = (masses: readonly number[]) => falls((_, body) => (body === 2 ? 0 : 1), { masses })
  const found = { kind: 'energy_drift', severity: 'warning', bodies: [2], frames: { first: 2, last: 60 } }
  t.match(runLaw(balanceLaw(), one([1, 1])), [found])
  t.match(runLaw(balanceLaw(), one([1, 1, 1])), [found])
  t.same(
    runLaw(
      balanceLaw(),
      falls((_, body) => (body === 2 ? 1 : 0), { masses: [1, 1, 1] }),
    ),
    [],
  )
  t.same(
    runLaw(
      balanceLaw(),
      falls(() => 0, { masses: [1, 1, 1] }),
    ),
    [],
  )
})

t.test('balanceLaw reports a drift that noise hides', async (t) => {
  // Errors of 1 mm/s, and a spin of 10 rad/s that gains or loses energy from frame 41 on.
  const noise = (frame: number, i: number): number => 1e-3 * Math.sin(frame * frame * (7.3 + i) + 13 * i)
  const noisy = (gain: number, force = 0): SceneSpec => ({
    frames: 240,
    masses: [1],
    inertias: [[0.01, 0.01, 0.01]],
    gravity: [0, 0, 0],
    state: (frame) => ({
      position: [3 * frame * dt, 0, 0],
      velocity: [
        3 + noise(frame, 0),
        noise(frame, 1) + force * Math.max(0, frame - 40) * dt,
        noise(frame, 2),
      ],
      spin: [0, 0, Math.sqrt(100 + 200 * gain * Math.max(0, frame - 40))],
    }),
  })
  const info = { kind: 'momentum', severity: 'info' }
  t.match(runLaw(balanceLaw(), noisy(0)), [info], 'noise without drift')
  const [gain, ...more] = runLaw(balanceLaw(), noisy(2e-3))
  t.match([gain, ...more], [{ kind: 'energy_drift', severity: 'error', bodies: [1] }, info])
  const first = gain?.frames.first ?? 0
  t.ok(first > 30 && first < 50, `frame ${first}`)
  t.match(runLaw(balanceLaw(), noisy(-2e-3)), [{ kind: 'dissipation_without_contact' }, info])
  t.match(runLaw(balanceLaw(), noisy(0, 0.03)), [{ severity: 'error', bodies: [1] }, info], 'a force')
})

t.test('balanceLaw accepts noise in positions and does not mistake a weak force for noise', async (t) => {
  const step = 1 / 60
  const time = (frame: number): number => frame * step
  // The rounding errors of velocities grow with the velocities.
  const fall = falls(() => 1, { frames: 600, time })
  const noise = (frame: number): number => 1e-4 * Math.sin(frame * frame * 7.3)
  const state = (frame: number, body: number): SceneBody => {
    const { position: [x, y, z] = [0, 0, 0], velocity = [0, 0, 0] } = fall.state(frame, body)
    return { position: [x, y, z + noise(frame)], velocity }
  }
  const noisy = runLaw(balanceLaw(), { ...fall, state })
  t.match(noisy, [{ kind: 'momentum', severity: 'info', bodies: [1] }])
  t.equal(noisy.length, 1)
  const weak = runLaw(balanceLaw(), { ...falls(() => 1, { time }), gravity: [0, 0, -1.005 * g] })
  t.match(weak, [{ kind: 'unexplained_acceleration', severity: 'error', bodies: [1] }])
  t.match(weak[0]?.text, 'falls with 9.81 m/s², but the recorded gravity is 9.859 m/s²')
  t.equal(weak.length, 1, 'half a percent less gravity than recorded')
})

verifies('replay:laws:friction', 'coneLaw does not infer a cone from sticking points', async (t) => {
  const stack = (speed: number): SceneSpec => ({
    frames: 30,
    masses: [2],
    state: () => ({ velocity: [speed, 0, 0] }),
    // The friction of a resting point is at the cone by chance, between its tangents.
    touches: (frame) => [
      frame < 20 ? { n: 1, mu: 0.5, t1: 0.3001, t2: 0.4001 } : { n: 1, mu: 0.5, t1: 0.33, t2: 0.41 },
    ],
  })
  t.match(runLaw(coneLaw(), stack(0)), [{ kind: 'friction_cone', severity: 'info', frames: { first: 20 } }])
  t.match(runLaw(coneLaw(), stack(1)), [{ kind: 'friction_cone', severity: 'error', frames: { first: 20 } }])
})

verifies('replay:laws:friction', 'an unrecorded push is not reported as lost friction', async (t) => {
  const pushed = (acceleration: number): SceneSpec => ({
    frames: 60,
    masses: [2],
    extents: [[0.5, 0.5, 0.5]],
    state: (frame) => ({ velocity: [1 + acceleration * frame * dt, 0, 0] }),
    touches: () => [{ ...lying(2), mu: 0.3, t1: Number.NaN, t2: Number.NaN }],
  })
  t.same(runLaw(slidingLaw(), pushed(1.2)), [], 'an unrecorded push of more than mu m g')
  t.match(runLaw(slidingLaw(), pushed(-0.3)), [{ kind: 'friction_lost' }])
})

verifies('replay:laws:spin', 'spinLaw tolerates the effect of position noise on lever arms', async (t) => {
  // A body at rest. Its position has an error of 0.02 mm, its contact point has none.
  const noise = (frame: number): number => 2e-5 * Math.sin(frame * frame * 7.3)
  const resting = (torque: number): SceneSpec => ({
    frames: 60,
    masses: [2],
    inertias: [[0.1, 0.1, 0.1]],
    state: (frame) => ({ position: [noise(frame), 0, 0] }),
    touches: (frame) => [{ ...lying(2), lever: [-noise(frame - 1), torque, -0.5] }],
  })
  t.same(runLaw(spinLaw(), resting(0)), [])
  t.match(runLaw(spinLaw(), resting(2e-3)), [{ kind: 'angular_momentum' }], '2 mm off the centre')
})

const fall: SceneSpec = { frames: 30, masses: [2], state: falling }

t.test('recordLaw accepts a simple fall', async (t) => {
  t.same(runLaw(recordLaw(), fall), [])
})

t.test('recordLaw reports missing numbers, frozen and jumping clocks, and missing ids', async (t) => {
  const absent = {
    ...fall,
    state: (frame: number) => (frame === 9 ? { velocity: [0, 0, Number.NaN] as const } : falling(frame)),
  }
  t.match(runLaw(recordLaw(), absent)[0], {
    kind: 'nan',
    frames: { first: 9, last: 9 },
    bodies: [1],
    value: 1,
  })
  const frozen = { ...fall, time: (frame: number) => Math.min(frame, 20) * dt }
  t.match(runLaw(recordLaw(), frozen), [{ kind: 'frozen_time', frames: { first: 21, last: 30 } }])
  const late = { ...fall, time: (frame: number) => (frame < 12 ? frame : frame + 1) * dt }
  t.match(runLaw(recordLaw(), late), [{ kind: 'nonuniform_dt', frames: { first: 12, last: 12 } }])
  const gap = { ...fall, id: (row: number) => (row < 10 ? row + 1 : row + 4) }
  t.match(runLaw(recordLaw(), gap), [{ kind: 'missing_frames', frames: { first: 14 }, value: 3 }])
})

t.test('recordLaw accepts a body without velocities if another body has them', async (t) => {
  const unknown = [Number.NaN, Number.NaN, Number.NaN] as const
  const run = (hasVelocity: (frame: number, body: number) => boolean) =>
    runLaw(recordLaw(), {
      frames: 30,
      masses: [2, 3],
      state: (frame, body) => ({
        ...falling(frame),
        ...(hasVelocity(frame, body) ? {} : { velocity: unknown }),
      }),
    })
  t.same(
    run((_frame, body) => body === 1),
    [],
  )
  // A body loses the velocity that it had at first.
  t.match(
    run((frame, body) => body === 1 || frame < 9),
    [{ kind: 'nan', bodies: [2], frames: { first: 9, last: 30 } }],
  )
})

t.test('recordLaw requires quaternions of length 1, within 1e-6', async (t) => {
  const of = (length: number) => ({ ...fall, state: () => ({ orientation: [length, 0, 0, 0] as const }) })
  t.same(runLaw(recordLaw(), of(1 + 0.9e-6)), [])
  const [found] = runLaw(recordLaw(), of(1 + 1.1e-6))
  t.match(found, { kind: 'quaternion_norm', frames: { first: 1, last: 30 } })
})

t.test('recordLaw tolerates the lengths of float32 and rounded quaternions', async (t) => {
  const turn = (frame: number) => [Math.cos(frame / 50), 0, Math.sin(frame / 50), 0] as const
  const run = (convert: (part: number) => number) =>
    runLaw(recordLaw(), {
      ...fall,
      isRounded: true,
      state: (frame) => {
        const [w, x, y, z] = turn(frame)
        return { orientation: [convert(w), convert(x), convert(y), convert(z)] as const }
      },
    })
  const inText = (part: number) => Number(Math.fround(part).toPrecision(8))
  for (const scale of [1 - 1e-5, 1 + 1e-6, 1 + 1e-5]) {
    t.same(
      run((part) => Math.fround(scale * part)),
      [],
      `float32, length ${scale}`,
    )
    t.same(
      run((part) => inText(scale * part)),
      [],
      `float32 in text, length ${scale}`,
    )
  }
  for (const decimals of [3, 4, 5, 6])
    t.same(
      run((part) => Number(part.toFixed(decimals))),
      [],
      `${decimals} decimals`,
    )
  const wrong: Readonly<Record<string, (part: number) => number>> = {
    'float64, 1e-5': (part) => (1 + 1e-5) * part,
    'float32, 1e-4': (part) => Math.fround((1 + 1e-4) * part),
    '4 decimals, 1e-3': (part) => Number(((1 + 1e-3) * part).toFixed(4)),
  }
  for (const orientation of [
    [0, 0, 0, 0],
    [2, 0, 0, 0],
    [1, 1, 0, 0],
    [0.5, 0.5, 0.5, 0],
  ] as const)
    t.match(runLaw(recordLaw(), { ...fall, state: () => ({ orientation }) }), [{ kind: 'quaternion_norm' }])
  for (const [name, convert] of Object.entries(wrong))
    t.match(run(convert), [{ kind: 'quaternion_norm' }], name)
})
