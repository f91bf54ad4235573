/** Tests laws of contacts, spins and units, in closed form. */
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { frictionWorkLaw } from '../../src/domain/laws/contact/friction-work-law.ts'
import { impulseLaw } from '../../src/domain/laws/contact/impulse-law.ts'
import { reactionLaw } from '../../src/domain/laws/contact/reaction-law.ts'
import { slidingLaw } from '../../src/domain/laws/contact/sliding-law.ts'
import { balanceLaw } from '../../src/domain/laws/motion/balance-law.ts'
import { rotationLaw } from '../../src/domain/laws/motion/rotation-law.ts'
import { spinLaw } from '../../src/domain/laws/motion/spin-law.ts'
import { teleportLaw } from '../../src/domain/laws/motion/teleport-law.ts'
import { unitLaw } from '../../src/domain/laws/unit-law.ts'
import { dt, falling, floor, g, lying, runLaw, type SceneBody, type SceneSpec } from './law-kit.ts'

const noGeometry = {
  ...{ name: null, shape: null, half_extents: null, inertia: null, position: null, orientation: null },
}

type Vec = readonly [number, number, number]

/** Two bodies of 1 and 3 kg that collide in frame 5 with 6 N·s along x, of which body 2 receives `share`. */
function colliding(share: number, touches?: SceneSpec['touches']): SceneSpec {
  const impulse = 6
  const velocities = (frame: number): readonly [number, number] =>
    frame < 5 ? [4, 0] : [4 - impulse, (share * impulse) / 3]
  return {
    frames: 10,
    masses: [1, 3],
    state: (frame, body) => ({
      velocity: [velocities(frame)[body - 1] ?? 0, 0, falling(frame).velocity?.[2] ?? 0],
    }),
    touches:
      touches ??
      ((frame) => (frame === 5 ? [{ a: 1, b: 2, normal: [1, 0, 0], lever: [0.5, 0, 0], n: impulse }] : [])),
  }
}

verifies('replay:laws:reaction', 'reactionLaw accepts equal and opposite impulses', async (t) => {
  t.same(runLaw(reactionLaw(), colliding(1)), [])
})

verifies(
  'replay:laws:reaction',
  'reactionLaw names both bodies if a reaction is unequal or missing',
  async (t) => {
    const where = { frames: { first: 5, last: 5 }, bodies: [1, 2], pair: [1, 2] }
    // Common mistake: the impulse on both bodies is divided by the mass of the first.
    t.match(runLaw(reactionLaw(), colliding(3)), [{ kind: 'unequal_reaction', value: 12, ...where }])
    t.match(runLaw(reactionLaw(), colliding(0)), [{ kind: 'missing_reaction', value: 6, ...where }])
  },
)

verifies('replay:laws:reaction', 'reactionLaw judges an isolated pair even without impulses', async (t) => {
  const unknown = colliding(3, (frame) =>
    frame === 5 ? [{ a: 1, b: 2, normal: [1, 0, 0], n: Number.NaN, t1: Number.NaN }] : [],
  )
  t.match(runLaw(reactionLaw(), unknown), [{ kind: 'unequal_reaction', bodies: [1, 2] }])
})

verifies(
  'replay:laws:reaction',
  'reactionLaw compares the impulse with the motion of a body that has further contacts',
  async (t) => {
    // Body 1 rests on the floor and supports body 2, which receives only half of the impulse.
    const carried: SceneSpec = {
      frames: 10,
      masses: [2, 1],
      state: (frame, body) => ({
        velocity: [0, 0, body === 2 && frame >= 2 ? (-g * dt * (frame - 1)) / 2 : 0],
      }),
      touches: (frame) =>
        frame < 2
          ? []
          : [{ n: 3 * g * dt }, { a: 1, b: 2, normal: [0, 0, 1], lever: [0, 0, 0.5], n: g * dt }],
    }
    t.match(runLaw(reactionLaw(), carried), [
      { kind: 'unequal_reaction', bodies: [1, 2], frames: { first: 2 } },
    ])
  },
)

const resting = (touch: object): SceneSpec => ({
  frames: 20,
  masses: [2],
  state: () => ({}),
  touches: () => [{ ...lying(2), ...touch }],
})

verifies('replay:laws:impulse', 'impulseLaw accepts the contact impulse of a resting body', async (t) => {
  t.same(runLaw(impulseLaw(), resting({})), [])
})

verifies('replay:laws:impulse', 'impulseLaw reports a pull, even if only the motion shows it', async (t) => {
  const found = { kind: 'attractive_impulse', bodies: [1, floor], frames: { first: 1 } }
  t.match(runLaw(impulseLaw(), resting({ n: -0.1 })), [found])
  const pulled: SceneSpec = {
    frames: 10,
    masses: [2],
    state: (frame) => ({ velocity: [0, 0, -2 * g * dt * frame] }),
    touches: () => [{ isPlain: true }],
  }
  t.match(runLaw(impulseLaw(), pulled), [{ ...found, frames: { first: 2 } }])
})

verifies(
  'replay:laws:impulse',
  'impulseLaw reports numbers that are missing or infinite among recorded ones',
  async (t) => {
    const spec = (n: number): SceneSpec => ({
      ...resting({}),
      touches: (frame) => [{ n: frame === 7 ? n : 1 }],
    })
    for (const n of [Number.NaN, Number.POSITIVE_INFINITY])
      t.match(
        runLaw(impulseLaw(), spec(n)),
        [{ kind: 'invalid_impulse', frames: { first: 7, last: 7 } }],
        `${n}`,
      )
    const never = { ...resting({}), touches: () => [{ n: Number.NaN }] }
    t.same(runLaw(impulseLaw(), never), [], 'an impulse that is never recorded is not a fault')
  },
)

const sliding = (t1: number): SceneSpec => ({
  frames: 20,
  masses: [2],
  state: (frame) => ({ velocity: [3 - Math.abs(t1) * frame * 0.01, 0, 0] }),
  touches: () => [{ ...lying(2), t1 }],
})

verifies('replay:laws:friction', 'frictionWorkLaw reports friction along the slip', async (t) => {
  t.same(runLaw(frictionWorkLaw(), sliding(-0.05)), [])
  t.match(runLaw(frictionWorkLaw(), sliding(0.05)), [{ kind: 'friction_energy', bodies: [1, floor] }])
})

verifies('replay:laws:acceleration', 'balanceLaw compares constant accelerations with gravity', async (t) => {
  const slow = (frame: number): SceneBody => ({ velocity: [0, 0, -9 * dt * frame] })
  const found = runLaw(balanceLaw(), { frames: 60, masses: [1, 2], state: slow })
  t.match(found, [
    {
      kind: 'unexplained_acceleration',
      bodies: [1, 2],
      text: 'falls with 9 m/s², but the recorded gravity is 9.81 m/s²',
    },
  ])
  const windy = runLaw(balanceLaw(), {
    frames: 60,
    masses: [1],
    state: (frame) => ({ velocity: [2 * dt * frame, 0, -g * dt * frame] }),
  })
  t.match(windy, [{ text: 'has an unexplained acceleration of (2, 0, 0) m/s²', value: 2 }])
})

/** A body that spins about z at w (rad/s, body frame) and rotates by `rate` times w dt. */
const spinning = (w: (frame: number) => Vec, rate = 1): SceneSpec => {
  let angle = 0
  let last = 0
  return {
    frames: 30,
    masses: [1],
    inertias: [[0.1, 0.1, 0.1]],
    state: (frame) => {
      if (frame !== last) angle += rate * w(frame)[2] * dt
      last = frame
      const spin = w(frame)
      return { ...falling(frame), spin, orientation: [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)] }
    },
  }
}

verifies('replay:laws:spin', 'spinLaw and rotationLaw accept a constant spin', async (t) => {
  for (const law of [spinLaw(), rotationLaw()])
    t.same(
      runLaw(
        law,
        spinning(() => [0, 0, 5]),
      ),
      [],
    )
})

verifies('replay:laws:spin', 'spinLaw reports torque-free changes with and without inertia', async (t) => {
  const kicked = spinning((frame) => [0, 0, frame < 12 ? 1 : 4])
  const found = { kind: 'angular_momentum', bodies: [1], frames: { first: 12, last: 12 } }
  const [first] = runLaw(spinLaw(), kicked)
  t.match(first, found)
  t.ok(Math.abs((first?.value ?? 0) - 0.3) < 1e-9, 'I dw = 0.1 kg m² × 3 rad/s')
  const fromNothing = spinning((frame) => [0, 0, frame < 12 ? 0 : 4])
  t.match(runLaw(spinLaw(), { ...fromNothing, inertias: [undefined] }), [found])
})

verifies('replay:laws:spin', 'spinLaw accepts contact torques and reports missing ones', async (t) => {
  const torque = 0.05
  const rolling = (share: number): SceneSpec => ({
    frames: 20,
    masses: [1],
    inertias: [[0.1, 0.1, 0.1]],
    // r × J = (0, 0, -0.5) × (J, 0, 0) = (0, -0.5 J, 0)
    state: (frame) => ({ spin: [0, -(share * 0.5 * torque * frame) / 0.1, 0] }),
    touches: () => [{ ...lying(1), t1: torque }],
  })
  t.same(runLaw(spinLaw(), rolling(1)), [])
  t.match(runLaw(spinLaw(), rolling(0)), [{ kind: 'angular_momentum', frames: { first: 2, last: 20 } }])
})

verifies(
  'replay:laws:spin',
  'rotationLaw reports a frozen orientation, degrees, and other mismatches',
  async (t) => {
    const w = (): Vec => [0, 0, 2]
    t.match(runLaw(rotationLaw(), spinning(w, 0)), [
      { kind: 'frozen_orientation', frames: { first: 2, last: 30 } },
    ])
    t.match(runLaw(rotationLaw(), spinning(w, 180 / Math.PI)), [{ kind: 'unit_mismatch' }])
    t.match(runLaw(rotationLaw(), spinning(w, 1.5)), [{ kind: 'spin_mismatch' }])
  },
)

verifies('replay:laws:unit', 'unitLaw detects forces sent as impulses, and masses in grams', async (t) => {
  const hit = (factor: number): SceneSpec => ({
    frames: 20,
    masses: [2],
    state: (frame) => ({ velocity: [0, 0, 3 * frame] }),
    touches: () => [{ n: 2 * (3 + g * dt) * factor }],
  })
  t.same(runLaw(unitLaw(), hit(1)), [])
  t.match(runLaw(unitLaw(), hit(1 / dt)), [{ kind: 'unit_mismatch', text: /forces in N/ }])
  t.match(runLaw(unitLaw(), hit(1 / 1000)), [{ kind: 'unit_mismatch', text: /g instead of kg/ }])
  t.same(runLaw(unitLaw(), hit(1.3)), [], 'another factor is not a unit')
})

verifies('replay:laws:velocity', 'teleportLaw reports a lasting velocity mismatch', async (t) => {
  const fast = (frames: number): SceneSpec => ({
    frames: 40,
    masses: [1],
    state: (frame) => ({
      position: [frame * dt, 0, 0],
      velocity: [frame > 3 && frame <= 3 + frames ? 4 : 1, 0, 0],
    }),
  })
  t.match(runLaw(teleportLaw(), fast(30)), [{ kind: 'velocity_mismatch' }])
  t.match(runLaw(teleportLaw(), fast(4)), [{ kind: 'teleport' }])
})

t.end()

verifies(
  'replay:laws:spin',
  'rotationLaw recognizes degrees even if they exceed a quarter turn per step',
  async (t) => {
    for (const [size, text] of [
      [180 / Math.PI, /degrees per second/],
      [60 / (2 * Math.PI), /revolutions per minute/],
    ] as const) {
      const spec = spinning(() => [0, 0, 4])
      const state: SceneSpec['state'] = (frame, body) => ({
        ...spec.state(frame, body),
        spin: [0, 0, 4 * size],
        orientation: [Math.cos(2 * frame * dt), 0, 0, Math.sin(2 * frame * dt)],
      })
      t.match(runLaw(rotationLaw(), { ...spec, state }), [{ kind: 'unit_mismatch', text }])
    }
  },
)

verifies('replay:laws:spin', 'spinLaw reports a ball whose spin drifts by 0.2 % per step', async (t) => {
  const drifting = spinning((frame) => [0, 0, 5 * 1.002 ** Math.max(0, frame - 10)])
  const ball: SceneSpec = { ...drifting, inertias: [[0.1, 0.1, 0.1]] }
  t.match(runLaw(spinLaw(), ball), [{ kind: 'angular_momentum', frames: { first: 11 } }])
})

verifies('replay:laws:unit', 'unitLaw detects normal forces without tangential impulses', async (t) => {
  const forces: SceneSpec = {
    frames: 20,
    masses: [2],
    state: () => ({ position: [0, 0, 0.5] }),
    touches: () => [{ n: 2 * g, t1: Number.NaN }],
  }
  t.match(runLaw(unitLaw(), forces), [{ kind: 'unit_mismatch', text: /forces in N instead/ }])
})

verifies(
  'replay:laws:velocity',
  'teleportLaw accepts a velocity that changes after the step moved the body',
  async (t) => {
    // Gravity acts, the body moves, and then the velocity is scaled: the motion exceeds both velocities by g dt².
    const step = 1 / 30
    const velocity = (frame: number): number => (frame < 5 ? -g * step * frame : -0.7 * g * step * frame)
    const spec: SceneSpec = {
      frames: 5,
      masses: [1],
      time: (frame) => frame * step,
      state: (frame) => ({
        position: [0, 0, (-g * step * step * frame * (frame + 1)) / 2],
        velocity: [0, 0, velocity(frame)],
      }),
    }
    t.same(runLaw(teleportLaw(), spec), [])
  },
)

verifies(
  'replay:laws:spin',
  'spinLaw reports a drift of spin within the tolerance of each step',
  async (t) => {
    const turning = (factor: number, noise = 0, kick = 0): SceneSpec => ({
      frames: 240,
      masses: [1],
      inertias: [[0.01, 0.01, 0.01]],
      state(frame) {
        const spin = 10 * factor ** Math.max(0, frame - 40) + (frame < 100 ? 0 : kick)
        const error = (i: number): number => noise * Math.sin(frame * frame * (7.3 + i) + 13 * i)
        return { spin: [error(0), error(1), spin + error(2)] }
      },
    })
    const kind = 'angular_momentum'
    t.same(runLaw(spinLaw(), turning(1)), [])
    for (const [factor, severity] of [
      [0.9998, 'info'],
      [1.0005, 'warning'],
    ] as const) {
      const found = { kind, severity, bodies: [1], frames: { first: 41, last: 240 } }
      t.match(runLaw(spinLaw(), turning(factor)), [found], `a factor of ${factor}`)
    }
    t.match(runLaw(spinLaw(), turning(1, 0.02)), [{ kind, severity: 'info', bodies: [1] }], 'noise')
    const drift = runLaw(spinLaw(), turning(1.001, 0.02))
    t.match(drift, [{ kind, severity: 'warning', bodies: [1] }, { severity: 'info' }], 'a drift in noise')
    t.match(
      runLaw(spinLaw(), turning(1, 0.02, 1)),
      [{ kind, severity: 'error', frames: { first: 100 } }, { severity: 'info' }],
      'a jump in noise',
    )
  },
)

verifies('replay:laws:spin', 'the rounding of impulses to decimals explains small torques', async (t) => {
  const lying = (first: number, second: number): SceneSpec => ({
    frames: 20,
    isRounded: true,
    masses: [2],
    inertias: [[0.01, 0.01, 0.01]],
    state: () => ({}),
    touches: () => [
      { lever: [0.5, 0, -0.5], n: first },
      { lever: [-0.5, 0, -0.5], n: second },
    ],
  })
  t.same(runLaw(spinLaw(), lying(0.09811, 0.0981)), [], '5 decimals')
  const found = { kind: 'angular_momentum', bodies: [1], frames: { first: 2, last: 20 } }
  t.match(runLaw(spinLaw(), lying(0.0981100000321, 0.0981)), [found], 'more decimals')
  t.match(runLaw(spinLaw(), lying(0.09931, 0.0981)), [found], 'more than rounding')
})

verifies('replay:laws:friction', 'frictionWorkLaw notes an undeclared moving surface once', async (t) => {
  // A conveyor belt with 1 m/s accelerates a box by friction until it stays on the belt.
  const gain = 0.5 * g * dt
  const speed = (frame: number) => Math.min(1, gain * frame)
  const belt = (push: (frame: number) => number): SceneSpec => ({
    frames: 60,
    masses: [2],
    state: (frame) => ({ position: [0, 0, 0.5], velocity: [speed(frame), 0, 0] }),
    touches: (frame) => [{ n: 2 * g * dt, t1: 2 * push(frame) }],
  })
  const conveyor = belt((frame) => speed(frame) - speed(frame - 1))
  t.match(runLaw(frictionWorkLaw(), conveyor), [
    { kind: 'friction_energy', severity: 'info', bodies: [floor], value: 1 },
  ])
  t.same(runLaw(slidingLaw(), conveyor), [])
  const geometry = [{ ...noGeometry, body_id: floor, surface_velocity: [1, 0, 0] as const }]
  for (const law of [frictionWorkLaw(), slidingLaw()]) t.same(runLaw(law, { ...conveyor, geometry }), [])
  // A fault that ends leaves full friction against the slip, which changes little at 9 m/s.
  const fault: SceneSpec = {
    ...belt((frame) => (frame < 10 ? gain : -gain)),
    state: (frame) => ({ velocity: [9 + gain * (frame < 10 ? frame : 18 - frame), 0, 0] }),
  }
  t.match(runLaw(frictionWorkLaw(), fault), [{ severity: 'error', frames: { first: 2, last: 9 } }])
  t.match(runLaw(frictionWorkLaw(), { ...belt((frame) => (frame < 15 ? -gain : 0)), geometry }), [
    { kind: 'friction_energy', severity: 'error', bodies: [1, floor], frames: { last: 14 } },
  ])
})

verifies('replay:laws:spin', 'spinLaw tolerates the motion of contact points in substeps', async (t) => {
  // The impulse of 4 N·s acts on a later substep, when the centre is 15 mm nearer to the recorded point.
  const hit = (share: number): SceneSpec => ({
    ...{ frames: 30, masses: [2], inertias: [[0.2, 0.2, 0.2]] },
    state: (frame) => ({
      position: [2 * dt * frame, 0, -g * dt * dt * ((frame * (frame + 1)) / 2 - (1 - share) * frame)],
      velocity: [2, 0, -g * dt * frame],
    }),
    touches: (frame) => (frame === 20 ? [{ lever: [0.015, 0, -0.5], n: 4 }] : []),
  })
  t.same(runLaw(spinLaw(), hit(0.625)), [])
  t.match(runLaw(spinLaw(), hit(1)), [{ kind: 'angular_momentum', frames: { first: 20, last: 20 } }])
})
