import t from 'tap'
import { chatterLaw } from '../../src/domain/laws/contact/chatter-law.ts'
import { coneLaw } from '../../src/domain/laws/contact/cone-law.ts'
import { normalLaw } from '../../src/domain/laws/contact/normal-law.ts'
import { penetrationLaw } from '../../src/domain/laws/contact/penetration-law.ts'
import { restitutionLaw } from '../../src/domain/laws/contact/restitution-law.ts'
import { tunnellingLaw } from '../../src/domain/laws/contact/tunnelling-law.ts'
import type { Law } from '../../src/domain/laws/law.ts'
import { balanceLaw } from '../../src/domain/laws/motion/balance-law.ts'
import { budgetLaw } from '../../src/domain/laws/motion/budget-law.ts'
import { restLaw } from '../../src/domain/laws/motion/rest-law.ts'
import { teleportLaw } from '../../src/domain/laws/motion/teleport-law.ts'
import { solverLaw } from '../../src/domain/laws/solver-law.ts'
import { readSlip } from '../../src/domain/steps/momentum.ts'
import type { Point3 } from '../../src/domain/vector.ts'
import {
  dt,
  falling,
  floor,
  g,
  lying,
  runLaw,
  type SceneBody,
  type SceneContact,
  type SceneSpec,
} from './law-kit.ts'

const rest = (): SceneBody => ({ position: [0, 0, 0.5] })
const fall: SceneSpec = { frames: 30, masses: [2], state: falling }

t.test('teleportLaw accepts a displacement of v dt and reports 5 mm more', async (t) => {
  t.same(runLaw(teleportLaw(), fall), [])
  const jump = (frame: number): SceneBody => {
    const { position: [x, y, z] = [0, 0, 0], velocity = [0, 0, 0] } = falling(frame)
    return { position: [x + (frame >= 7 ? 0.005 : 0), y, z], velocity }
  }
  const [found, ...more] = runLaw(teleportLaw(), { ...fall, state: jump })
  t.same(more, [])
  t.match(found, { kind: 'teleport', frames: { first: 7, last: 7 }, bodies: [1] })
  t.ok(Math.abs((found?.value ?? 0) - 0.005) < 1e-12)
})

t.test('balanceLaw accepts a falling body and a body that the floor supports', async (t) => {
  t.same(runLaw(balanceLaw(), fall), [])
  t.same(runLaw(balanceLaw(), { frames: 20, masses: [3], state: rest, touches: () => [lying(3)] }), [])
})

t.test('balanceLaw reports a push without a cause, with the energy m (v² - u²) / 2', async (t) => {
  // Without gravity, 2 kg move at 3 m/s, and from frame 11 on at 5 m/s, which adds 16 J.
  const pushed = (frame: number): SceneBody => {
    const [early, late] = [Math.min(frame, 10), Math.max(0, frame - 10)]
    return { position: [dt * (3 * early + 5 * late), 0, 0], velocity: [frame > 10 ? 5 : 3, 0, 0] }
  }
  const [found, ...more] = runLaw(balanceLaw(), { ...fall, gravity: [0, 0, 0], state: pushed })
  t.same(more, [])
  t.match(found, { kind: 'energy_injection', frames: { first: 11, last: 11 }, bodies: [1], unit: 'J' })
  t.ok(Math.abs((found?.value ?? 0) - 16) < 1e-9)
})

t.test('balanceLaw reports a velocity that changes direction without a cause', async (t) => {
  const turned = (frame: number): SceneBody =>
    frame <= 10
      ? { velocity: [3, 0, 0], position: [3 * frame * dt, 0, 0] }
      : { velocity: [0, 3, 0], position: [0.3, 3 * (frame - 10) * dt, 0] }
  const [found] = runLaw(balanceLaw(), { ...fall, gravity: [0, 0, 0], state: turned })
  t.match(found, { kind: 'momentum', frames: { first: 11, last: 11 }, unit: 'N·s' })
  t.ok(Math.abs((found?.value ?? 0) - 2 * 3 * Math.SQRT2) < 1e-9, 'm |dv|')
})

t.test('balanceLaw reports a body whose weight the floor does not support', async (t) => {
  const light = { frames: 20, masses: [3], state: rest, touches: () => [lying(2)] }
  t.match(runLaw(balanceLaw(), light)[0], { bodies: [1], frames: { first: 2, last: 20 } })
})

t.test('budgetLaw reports energy above that of the first frame', async (t) => {
  t.same(runLaw(budgetLaw(), fall), [])
  const growing =
    (factor: number) =>
    (frame: number): SceneBody => ({ velocity: [frame < 10 ? 1 : factor, 0, 0] })
  t.same(runLaw(budgetLaw(), { ...fall, state: growing(1.05) }), [], '10 % is within the scale')
  t.match(runLaw(budgetLaw(), { ...fall, state: growing(2) })[0], {
    kind: 'energy_injection',
    severity: 'warning',
    frames: { first: 10 },
    value: 3,
  })
  t.match(runLaw(budgetLaw(), { ...fall, state: growing(1e40) }), [
    { kind: 'blow_up', frames: { first: 10, last: 30 } },
  ])
})

t.test('coneLaw accepts a tangential impulse of mu n and reports 1.2 mu n', async (t) => {
  const sliding = (share: number): SceneSpec => ({
    frames: 12,
    masses: [1],
    state: rest,
    touches: (frame) => [{ n: 2, mu: 0.5, t1: frame === 8 ? share : 1 }],
  })
  t.same(runLaw(coneLaw(), sliding(1)), [])
  const [found] = runLaw(coneLaw(), sliding(1.2))
  t.match(found, { kind: 'friction_cone', frames: { first: 8, last: 8 }, pair: [1, floor], limit: 1 })
  t.ok(Math.abs((found?.value ?? 0) - 1.2) < 1e-12)
})

t.test('coneLaw checks each point, even if the sum of all points is within the cone', async (t) => {
  const resting = (tangents: (frame: number) => readonly number[]): SceneSpec => ({
    frames: 12,
    masses: [1],
    state: rest,
    touches: (frame) => tangents(frame).map((t1) => ({ n: 1, mu: 0.5, t1 })),
  })
  // The tangents of a body that spins in place cancel.
  t.same(
    runLaw(
      coneLaw(),
      resting(() => [0.5, -0.5, 0.5, -0.5]),
    ),
    [],
  )
  const spinning = resting((frame) => (frame === 8 ? [0.6, -0.6, 0.6, -0.6] : [0.5, -0.5, 0.5, -0.5]))
  const [spun] = runLaw(coneLaw(), spinning)
  t.match(spun, { kind: 'friction_cone', frames: { first: 8, last: 8 }, pair: [1, floor] })
  t.ok(Math.abs((spun?.value ?? 0) - 1.2) < 1e-12)
  // One of four points is scaled by 5, from 0.3 to 1.5 of its limit; together they use 0.6.
  const [scaled] = runLaw(
    coneLaw(),
    resting((frame) => [frame === 8 ? 0.75 : 0.15, 0.15, 0.15, 0.15]),
  )
  t.match(scaled, { kind: 'friction_cone', frames: { first: 8, last: 8 } })
  t.ok(Math.abs((scaled?.value ?? 0) - 1.5) < 1e-12)
})

t.test('restitutionLaw accepts a bounce at e times 4 m/s and reports a faster one', async (t) => {
  const bounce = (leaving: number): SceneSpec => ({
    frames: 12,
    masses: [1],
    gravity: [0, 0, 0],
    state: (frame) => ({ velocity: [0, 0, frame < 6 ? -4 : leaving] }),
    touches: (frame) => (frame === 6 ? [{ restitution: 0.5, closing: -4 }] : []),
  })
  t.same(runLaw(restitutionLaw(), bounce(2)), [])
  t.match(runLaw(restitutionLaw(), bounce(3)), [
    { kind: 'restitution', frames: { first: 6, last: 6 }, value: 0.75, limit: 0.5, pair: [1, floor] },
  ])
})

t.test('restitutionLaw measures the approach in the frame before the contact', async (t) => {
  const kicked: SceneSpec = {
    frames: 12,
    masses: [1],
    gravity: [0, 0, 0],
    state: (frame) => ({ velocity: [0, 0, frame < 5 ? -1 : frame === 5 ? -4 : 3] }),
    touches: (frame) => (frame === 6 ? [{ restitution: 0.5, closing: -4 }] : []),
  }
  t.match(runLaw(restitutionLaw(), kicked), [{ kind: 'restitution', value: 0.75 }])
})

t.test('slip is the relative velocity along the tangents of a contact', async (t) => {
  let slip: Point3 | undefined
  const reader: Law = {
    observe(step) {
      const [touch] = step.touches
      if (touch !== undefined) slip = readSlip(step, step.row, { ...touch, normal: [0.6, 0, 0.8] })
    },
    findings: () => [],
  }
  runLaw(reader, { frames: 4, masses: [1], state: () => ({ velocity: [3, 2, 1] }), touches: () => [{}] })
  const along = 3 * 0.6 + 1 * 0.8
  const expected = [3 - along * 0.6, 2, 1 - along * 0.8]
  for (const [axis, value] of expected.entries())
    t.ok(Math.abs(Math.abs(slip?.[axis] ?? 0) - Math.abs(value)) < 1e-12, `${slip} and ${expected}`)
})

t.test('restitutionLaw does not treat a contact that has stopped pushing as soft', async (t) => {
  const near: SceneSpec = {
    frames: 12,
    masses: [1],
    gravity: [0, 0, 0],
    state: (frame) => ({ velocity: [0, 0, frame < 6 ? -4 : 3] }),
    touches: (frame) =>
      frame === 6 || frame === 7 ? [{ restitution: 0.5, closing: frame === 6 ? -4 : 3 }] : [],
  }
  t.match(runLaw(restitutionLaw(), near), [{ kind: 'restitution', value: 0.75 }])
})

t.test('normalLaw accepts rotations of less than 30 degrees in a lasting contact', async (t) => {
  const turning = (degrees: number): SceneSpec => ({
    frames: 10,
    masses: [1],
    state: rest,
    touches: (frame) => {
      const angle = frame < 5 ? 0 : (degrees * Math.PI) / 180
      return [{ normal: [Math.sin(angle), 0, -Math.cos(angle)] }]
    },
  })
  t.same(runLaw(normalLaw(), turning(29)), [])
  t.match(runLaw(normalLaw(), turning(31)), [{ kind: 'normal_flip', frames: { first: 5, last: 5 } }])
})

t.test('normalLaw accepts a new normal if the body also touches a wall', async (t) => {
  const wall = { normal: [1, 0, 0] as const }
  const ground = { normal: [0, 0, -1] as const }
  const into = (touches: SceneSpec['touches']): SceneSpec => ({
    frames: 12,
    masses: [1],
    state: rest,
    ...(touches && { touches }),
  })
  const meeting = into((frame) => (frame < 5 || frame > 8 ? [ground] : [wall, ground]))
  t.same(runLaw(normalLaw(), meeting), [])
  const turned = into((frame) => (frame < 5 ? [wall, ground] : [{ normal: [-1, 0, 0] }, ground]))
  t.match(runLaw(normalLaw(), turned), [{ kind: 'normal_flip', frames: { first: 5, last: 5 } }])
})

t.test('normalLaw counts points with the same normal once', async (t) => {
  // Below the box are as many points as normals are stored. A ninth point is at a wall that rotates.
  const ground = Array.from({ length: 8 }, (): SceneContact => ({ normal: [0, 0, -1] }))
  const touches = (frame: number): readonly SceneContact[] => [
    ...ground,
    { normal: [frame < 5 ? 1 : -1, 0, 0] },
  ]
  t.match(runLaw(normalLaw(), { frames: 10, masses: [1], state: rest, touches }), [
    { kind: 'normal_flip', frames: { first: 5, last: 5 }, value: Math.PI / 2 },
  ])
})

t.test('normalLaw does not judge pairs with more normals than it stores', async (t) => {
  // A ball in a fluted bowl has nine normals, 40 degrees apart, in a different order in every frame.
  const fluted = (frame: number): readonly SceneContact[] =>
    Array.from({ length: 9 }, (_, i) => {
      const angle = (((i + frame) % 9) * 2 * Math.PI) / 9
      return { normal: [Math.sin(angle), Math.cos(angle), 0] as const }
    })
  t.same(runLaw(normalLaw(), { frames: 12, masses: [1], state: rest, touches: fluted }), [])
})

t.test('tunnellingLaw reports a path through a box without contact', async (t) => {
  const passing = (touches: SceneSpec['touches']): SceneSpec => ({
    frames: 10,
    masses: [1, 5],
    extents: [
      [0.05, 0.05, 0.05],
      [0.1, 1, 1],
    ],
    gravity: [0, 0, 0],
    // The body moves 1 m per frame: it is at -0.5 m in frame 5 and at 0.5 m in frame 6.
    state: (frame, body) => (body === 1 ? { position: [frame - 5.5, 0, 0], velocity: [100, 0, 0] } : {}),
    ...(touches && { touches }),
  })
  const crossing = { frames: { first: 6, last: 6 }, pair: [1, 2], value: 1, limit: 0.2 }
  t.match(runLaw(tunnellingLaw(), passing(undefined)), [
    { kind: 'tunnelling', severity: 'error', ...crossing },
  ])
  const touching = passing((frame) => (frame === 6 ? [{ a: 1, b: 2, normal: [1, 0, 0] }] : []))
  t.same(runLaw(tunnellingLaw(), touching), [], 'with contact it is an impact')
})

t.test('tunnellingLaw does not infer a plane from a corner between floor and wall', async (t) => {
  const ground: SceneContact = { normal: [0, 0, -1], lever: [0, 0, -0.5] }
  const wall: SceneContact = { normal: [1, 0, 0], lever: [0.5, 0, 0] }
  // A small ball falls next to the box, from 0.42 m in steps of 0.1 m. At 0 m, it meets and passes the floor.
  const nextToBox = (touches: readonly SceneContact[], frames: number): SceneSpec => ({
    frames,
    masses: [5, 0.1],
    extents: [
      [0.5, 0.5, 0.5],
      [0.05, 0.05, 0.05],
    ],
    state: (frame, body) =>
      body === 1
        ? { position: [0, 0, 0.5] }
        : { position: [-2, 0, 0.42 - 0.1 * Math.max(0, frame - 5)], velocity: [0, 0, -10] },
    touches: () => touches,
  })
  t.same(runLaw(tunnellingLaw(), nextToBox([ground, wall], 9)), [], 'down to 0.02 m')
  t.match(
    runLaw(tunnellingLaw(), nextToBox([ground], 12)),
    [{ kind: 'tunnelling', pair: [2, floor], frames: { first: 10, last: 10 } }],
    'a body that rests on the floor alone defines the plane',
  )
})

t.test('solverLaw merges frames without convergence into one run', async (t) => {
  const stalling: SceneSpec = {
    frames: 20,
    masses: [1, 1],
    state: rest,
    touches: () => [lying(1)],
    stalled: (frame) => frame >= 8 && frame <= 11,
  }
  t.match(runLaw(solverLaw(), stalling), [
    { kind: 'solver_stall', severity: 'error', frames: { first: 8, last: 11 }, bodies: [1], value: 4 },
  ])
  t.same(
    runLaw(solverLaw(), { ...stalling, touches: () => [] }),
    [],
    'without constraints there is nothing to solve',
  )
})

t.test('chatterLaw reports contacts that are lost without a bounce', async (t) => {
  const losing = (lost: (frame: number) => boolean): SceneSpec => ({
    frames: 40,
    masses: [1],
    state: rest,
    touches: (frame) => (lost(frame) ? [] : [lying(1)]),
  })
  t.same(
    runLaw(
      chatterLaw(),
      losing((frame) => frame === 12),
    ),
    [],
    'one loss is not chatter',
  )
  t.match(
    runLaw(
      chatterLaw(),
      losing((frame) => frame >= 12 && frame <= 24 && frame % 4 === 0),
    ),
    [{ kind: 'contact_chatter', frames: { first: 12, last: 24 }, value: 4, pair: [1, floor] }],
  )
  const lost = (...frames: readonly number[]) =>
    runLaw(
      chatterLaw(),
      losing((frame) => frames.includes(frame)),
    )
  t.match(
    lost(12, 22, 32),
    [{ frames: { first: 12, last: 32 }, value: 3 }],
    'each 10 frames after the previous one',
  )
  t.same(lost(12, 22, 33), [], 'a loss 11 frames later is a new run')
  t.same(lost(12, 13, 14, 15, 16, 17, 20, 26), [], 'six frames without contact are not a loss')
})

t.test('penetrationLaw accepts 9 mm and reports a lasting 12 mm', async (t) => {
  const deep = (depth: number, last: number): SceneSpec => ({
    frames: 20,
    masses: [1],
    state: rest,
    touches: (frame) => [{ ...lying(1), depth: frame >= 6 && frame <= last ? depth : 0 }],
  })
  t.same(runLaw(penetrationLaw(), deep(0.009, 12)), [])
  t.match(runLaw(penetrationLaw(), deep(0.012, 12)), [
    { kind: 'penetration', severity: 'error', frames: { first: 6, last: 12 }, value: 0.012, limit: 0.01 },
  ])
  t.match(runLaw(penetrationLaw(), deep(0.012, 7)), [{ severity: 'info' }], 'a short overlap is not an error')
  t.match(runLaw(penetrationLaw(0.005), deep(0.009, 12)), [{ limit: 0.005 }], 'with a limit of the caller')
})

t.test('penetrationLaw does not allow exceptions to a limit that the caller sets', async (t) => {
  // A body at rest with a recorded velocity of -g dt. An impact at 4 m/s left it 12 mm deep.
  const held: SceneSpec = {
    frames: 20,
    masses: [1],
    state: () => ({ position: [0, 0, 0.5], velocity: [0, 0, -g * dt] }),
    touches: (frame) => (frame < 6 ? [] : [{ ...lying(1), depth: 0.012, closing: frame === 6 ? -4 : 0 }]),
  }
  t.same(runLaw(penetrationLaw(), held), [])
  t.match(runLaw(penetrationLaw(0.01), held), [{ frames: { first: 6, last: 20 }, limit: 0.01 }])
})

t.test(
  'penetrationLaw does not assume a velocity bias if a body sinks faster than gravity explains',
  async (t) => {
    const sinking = (speed: number): SceneSpec => ({
      frames: 20,
      masses: [1],
      state: () => ({ position: [0, 0, 0.5], velocity: [0, 0, -speed] }),
      touches: () => [{ ...lying(1), depth: 0.0105 }],
    })
    t.same(runLaw(penetrationLaw(), sinking(1.4 * g * dt)), [])
    t.match(runLaw(penetrationLaw(), sinking(1.6 * g * dt)), [{ kind: 'penetration', severity: 'error' }])
  },
)

t.test('restLaw accepts a body at rest', async (t) => {
  const still: SceneSpec = { frames: 40, masses: [1], state: rest, touches: () => [lying(1)] }
  t.same(runLaw(restLaw(), still), [])
  const shaking = (frame: number): SceneBody => ({
    position: [0, 0, 0.5],
    velocity: [0, 0, frame % 2 === 0 ? 0.02 : -0.02],
  })
  t.match(runLaw(restLaw(), { ...still, state: shaking })[0], { kind: 'jitter', bodies: [1] })
  const creeping = (frame: number): SceneBody => ({
    position: [0.005 * frame * dt, 0, 0.5],
    velocity: [0.005, 0, 0],
  })
  const held = { n: g * dt, t1: 0.2 * g * dt, mu: 0.5 }
  const [found, ...more] = runLaw(restLaw(), { ...still, state: creeping, touches: () => [held] })
  t.same(more, [])
  t.match(found, { kind: 'creep', severity: 'warning', unit: 'm/s', frames: { last: 40 } })
  t.ok(Math.abs((found?.value ?? 0) - 0.005) < 1e-9)
})
