import t from 'tap'
import { balanceLaw } from '../../src/domain/laws/balance-law.ts'
import { budgetLaw } from '../../src/domain/laws/budget-law.ts'
import { chatterLaw } from '../../src/domain/laws/chatter-law.ts'
import { coneLaw } from '../../src/domain/laws/cone-law.ts'
import { normalLaw } from '../../src/domain/laws/normal-law.ts'
import { penetrationLaw } from '../../src/domain/laws/penetration-law.ts'
import { recordLaw } from '../../src/domain/laws/record-law.ts'
import { restLaw } from '../../src/domain/laws/rest-law.ts'
import { restitutionLaw } from '../../src/domain/laws/restitution-law.ts'
import { solverLaw } from '../../src/domain/laws/solver-law.ts'
import { teleportLaw } from '../../src/domain/laws/teleport-law.ts'
import { tunnellingLaw } from '../../src/domain/laws/tunnelling-law.ts'
import {
  dt,
  falling,
  findingsOf,
  floor,
  g,
  lying,
  type Told,
  type ToldScene,
  type ToldTouch,
} from './law-kit.ts'

const rest = (): Told => ({ position: [0, 0, 0.5] })
const fall: ToldScene = { frames: 30, masses: [2], state: falling }

t.test('recordLaw: numbers, clock and ids of a plain fall are in order', async (t) => {
  t.same(findingsOf(recordLaw(), fall), [])
})

t.test(
  'recordLaw: a number that is absent, a clock that stands or jumps, ids that are missing',
  async (t) => {
    const absent = {
      ...fall,
      state: (frame: number) => (frame === 9 ? { velocity: [0, 0, Number.NaN] as const } : falling(frame)),
    }
    t.match(findingsOf(recordLaw(), absent)[0], {
      kind: 'nan',
      frames: { first: 9, last: 9 },
      bodies: [1],
      value: 1,
    })
    const frozen = { ...fall, time: (frame: number) => Math.min(frame, 20) * dt }
    t.match(findingsOf(recordLaw(), frozen), [{ kind: 'frozen_time', frames: { first: 21, last: 30 } }])
    const late = { ...fall, time: (frame: number) => (frame < 12 ? frame : frame + 1) * dt }
    t.match(findingsOf(recordLaw(), late), [{ kind: 'nonuniform_dt', frames: { first: 12, last: 12 } }])
    const gap = { ...fall, id: (row: number) => (row < 10 ? row + 1 : row + 4) }
    t.match(findingsOf(recordLaw(), gap), [{ kind: 'missing_frames', frames: { first: 14 }, value: 3 }])
  },
)

t.test('recordLaw: a quaternion has length 1 within 1e-6', async (t) => {
  const of = (length: number) => ({ ...fall, state: () => ({ orientation: [length, 0, 0, 0] as const }) })
  t.same(findingsOf(recordLaw(), of(1 + 0.9e-6)), [])
  const [found] = findingsOf(recordLaw(), of(1 + 1.1e-6))
  t.match(found, { kind: 'quaternion_norm', frames: { first: 1, last: 30 } })
})

t.test('teleportLaw: a way of v dt is none, and 5 mm beside it is one', async (t) => {
  t.same(findingsOf(teleportLaw(), fall), [])
  const jump = (frame: number): Told => {
    const { position: [x, y, z] = [0, 0, 0], velocity = [0, 0, 0] } = falling(frame)
    return { position: [x + (frame >= 7 ? 0.005 : 0), y, z], velocity }
  }
  const [found, ...more] = findingsOf(teleportLaw(), { ...fall, state: jump })
  t.same(more, [])
  t.match(found, { kind: 'teleport', frames: { first: 7, last: 7 }, bodies: [1] })
  t.ok(Math.abs((found?.value ?? 0) - 0.005) < 1e-12)
})

t.test('balanceLaw: a fall keeps momentum and energy, and what lies is carried', async (t) => {
  t.same(findingsOf(balanceLaw(), fall), [])
  t.same(findingsOf(balanceLaw(), { frames: 20, masses: [3], state: rest, touches: () => [lying(3)] }), [])
})

t.test('balanceLaw: a push of nothing brings m (v² - u²) / 2', async (t) => {
  // Without gravity: 2 kg go on at 3 m/s, and at 5 m/s from frame 11 on: 16 J more.
  const pushed = (frame: number): Told => {
    const [early, late] = [Math.min(frame, 10), Math.max(0, frame - 10)]
    return { position: [dt * (3 * early + 5 * late), 0, 0], velocity: [frame > 10 ? 5 : 3, 0, 0] }
  }
  const [found, ...more] = findingsOf(balanceLaw(), { ...fall, gravity: [0, 0, 0], state: pushed })
  t.same(more, [])
  t.match(found, { kind: 'energy_injection', frames: { first: 11, last: 11 }, bodies: [1], unit: 'J' })
  t.ok(Math.abs((found?.value ?? 0) - 16) < 1e-9)
})

t.test('balanceLaw: a velocity that turns keeps the energy and not the momentum', async (t) => {
  const turned = (frame: number): Told =>
    frame <= 10
      ? { velocity: [3, 0, 0], position: [3 * frame * dt, 0, 0] }
      : { velocity: [0, 3, 0], position: [0.3, 3 * (frame - 10) * dt, 0] }
  const [found] = findingsOf(balanceLaw(), { ...fall, gravity: [0, 0, 0], state: turned })
  t.match(found, { kind: 'momentum', frames: { first: 11, last: 11 }, unit: 'N·s' })
  t.ok(Math.abs((found?.value ?? 0) - 2 * 3 * Math.SQRT2) < 1e-9, 'm |dv|')
})

t.test('balanceLaw: weight that the floor does not carry is unexplained', async (t) => {
  const light = { frames: 20, masses: [3], state: rest, touches: () => [lying(2)] }
  t.match(findingsOf(balanceLaw(), light)[0], { bodies: [1], frames: { first: 2, last: 20 } })
})

t.test('budgetLaw: energy stays within what the system began with', async (t) => {
  t.same(findingsOf(budgetLaw(), fall), [])
  const growing =
    (factor: number) =>
    (frame: number): Told => ({ velocity: [frame < 10 ? 1 : factor, 0, 0] })
  t.same(findingsOf(budgetLaw(), { ...fall, state: growing(1.05) }), [], '10 % is within the scale')
  t.match(findingsOf(budgetLaw(), { ...fall, state: growing(2) })[0], {
    kind: 'energy_injection',
    severity: 'warning',
    frames: { first: 10 },
    value: 3,
  })
  t.match(findingsOf(budgetLaw(), { ...fall, state: growing(1e40) }), [
    { kind: 'blow_up', frames: { first: 10, last: 30 } },
  ])
})

t.test('coneLaw: a tangent of mu n is on the cone, and one of 1.2 mu n beyond it', async (t) => {
  const sliding = (share: number): ToldScene => ({
    frames: 12,
    masses: [1],
    state: rest,
    touches: (frame) => [{ n: 2, mu: 0.5, t1: frame === 8 ? share : 1 }],
  })
  t.same(findingsOf(coneLaw(), sliding(1)), [])
  const [found] = findingsOf(coneLaw(), sliding(1.2))
  t.match(found, { kind: 'friction_cone', frames: { first: 8, last: 8 }, pair: [1, floor], limit: 1 })
  t.ok(Math.abs((found?.value ?? 0) - 1.2) < 1e-12)
})

t.test('coneLaw: each point keeps its cone, though the points together keep theirs', async (t) => {
  const resting = (tangents: (frame: number) => readonly number[]): ToldScene => ({
    frames: 12,
    masses: [1],
    state: rest,
    touches: (frame) => tangents(frame).map((t1) => ({ n: 1, mu: 0.5, t1 })),
  })
  // A body that spins on the spot: the tangents cancel.
  t.same(
    findingsOf(
      coneLaw(),
      resting(() => [0.5, -0.5, 0.5, -0.5]),
    ),
    [],
  )
  const spinning = resting((frame) => (frame === 8 ? [0.6, -0.6, 0.6, -0.6] : [0.5, -0.5, 0.5, -0.5]))
  const [spun] = findingsOf(coneLaw(), spinning)
  t.match(spun, { kind: 'friction_cone', frames: { first: 8, last: 8 }, pair: [1, floor] })
  t.ok(Math.abs((spun?.value ?? 0) - 1.2) < 1e-12)
  // One point of four is scaled by 5, from 0.3 of its limit to 1.5: together they use 0.6.
  const [scaled] = findingsOf(
    coneLaw(),
    resting((frame) => [frame === 8 ? 0.75 : 0.15, 0.15, 0.15, 0.15]),
  )
  t.match(scaled, { kind: 'friction_cone', frames: { first: 8, last: 8 } })
  t.ok(Math.abs((scaled?.value ?? 0) - 1.5) < 1e-12)
})

t.test('restitutionLaw: what comes at 4 m/s leaves at e times that', async (t) => {
  const bounce = (leaving: number): ToldScene => ({
    frames: 12,
    masses: [1],
    gravity: [0, 0, 0],
    state: (frame) => ({ velocity: [0, 0, frame < 6 ? -4 : leaving] }),
    touches: (frame) => (frame === 6 ? [{ restitution: 0.5, closing: -4 }] : []),
  })
  t.same(findingsOf(restitutionLaw(), bounce(2)), [])
  t.match(findingsOf(restitutionLaw(), bounce(3)), [
    { kind: 'restitution', frames: { first: 6, last: 6 }, value: 0.75, limit: 0.5, pair: [1, floor] },
  ])
})

t.test('restitutionLaw: a contact that pushes no more does not make an impact soft', async (t) => {
  const near: ToldScene = {
    frames: 12,
    masses: [1],
    gravity: [0, 0, 0],
    state: (frame) => ({ velocity: [0, 0, frame < 6 ? -4 : 3] }),
    touches: (frame) =>
      frame === 6 || frame === 7 ? [{ restitution: 0.5, closing: frame === 6 ? -4 : 3 }] : [],
  }
  t.match(findingsOf(restitutionLaw(), near), [{ kind: 'restitution', value: 0.75 }])
})

t.test('normalLaw: the normal of a lasting contact turns by less than 30 degrees', async (t) => {
  const turning = (degrees: number): ToldScene => ({
    frames: 10,
    masses: [1],
    state: rest,
    touches: (frame) => {
      const angle = frame < 5 ? 0 : (degrees * Math.PI) / 180
      return [{ normal: [Math.sin(angle), 0, -Math.cos(angle)] }]
    },
  })
  t.same(findingsOf(normalLaw(), turning(29)), [])
  t.match(findingsOf(normalLaw(), turning(31)), [{ kind: 'normal_flip', frames: { first: 5, last: 5 } }])
})

t.test('normalLaw: a box that slides into a wall of the body that it lies on turns no normal', async (t) => {
  const wall = { normal: [1, 0, 0] as const }
  const ground = { normal: [0, 0, -1] as const }
  const into = (touches: ToldScene['touches']): ToldScene => ({
    frames: 12,
    masses: [1],
    state: rest,
    ...(touches && { touches }),
  })
  const meeting = into((frame) => (frame < 5 || frame > 8 ? [ground] : [wall, ground]))
  t.same(findingsOf(normalLaw(), meeting), [])
  const turned = into((frame) => (frame < 5 ? [wall, ground] : [{ normal: [-1, 0, 0] }, ground]))
  t.match(findingsOf(normalLaw(), turned), [{ kind: 'normal_flip', frames: { first: 5, last: 5 } }])
})

t.test('normalLaw: points with the same normal count once', async (t) => {
  // Eight points below a box, as many as there may be normals, and a ninth point at a wall that turns.
  const ground = Array.from({ length: 8 }, (): ToldTouch => ({ normal: [0, 0, -1] }))
  const touches = (frame: number): readonly ToldTouch[] => [...ground, { normal: [frame < 5 ? 1 : -1, 0, 0] }]
  t.match(findingsOf(normalLaw(), { frames: 10, masses: [1], state: rest, touches }), [
    { kind: 'normal_flip', frames: { first: 5, last: 5 }, value: Math.PI / 2 },
  ])
})

t.test('normalLaw: of more normals than are kept, those that are dropped are no turns', async (t) => {
  // A ball in a fluted bowl: nine normals 40 degrees apart, whose rows begin with another one in every frame.
  const fluted = (frame: number): readonly ToldTouch[] =>
    Array.from({ length: 9 }, (_, i) => {
      const angle = (((i + frame) % 9) * 2 * Math.PI) / 9
      return { normal: [Math.sin(angle), Math.cos(angle), 0] as const }
    })
  t.same(findingsOf(normalLaw(), { frames: 12, masses: [1], state: rest, touches: fluted }), [])
})

t.test('tunnellingLaw: from one side of a box to the other without contact', async (t) => {
  const passing = (touches: ToldScene['touches']): ToldScene => ({
    frames: 10,
    masses: [1, 5],
    extents: [
      [0.05, 0.05, 0.05],
      [0.1, 1, 1],
    ],
    gravity: [0, 0, 0],
    // 1 m a frame: at -0.5 m in frame 5, at 0.5 m in frame 6.
    state: (frame, body) => (body === 1 ? { position: [frame - 5.5, 0, 0], velocity: [100, 0, 0] } : {}),
    ...(touches && { touches }),
  })
  const crossing = { frames: { first: 6, last: 6 }, pair: [1, 2], value: 1, limit: 0.2 }
  t.match(findingsOf(tunnellingLaw(), passing(undefined)), [
    { kind: 'tunnelling', severity: 'error', ...crossing },
  ])
  const touching = passing((frame) => (frame === 6 ? [{ a: 1, b: 2, normal: [1, 0, 0] }] : []))
  t.same(findingsOf(tunnellingLaw(), touching), [], 'with contact it is an impact')
})

t.test('tunnellingLaw: a body in a corner of floor and wall makes no plane between them', async (t) => {
  const ground: ToldTouch = { normal: [0, 0, -1], lever: [0, 0, -0.5] }
  const wall: ToldTouch = { normal: [1, 0, 0], lever: [0.5, 0, 0] }
  // A small ball falls beside the box from 0.42 m in steps of 0.1 m, onto and through what lies at 0 m.
  const beside = (touches: readonly ToldTouch[], frames: number): ToldScene => ({
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
  t.same(findingsOf(tunnellingLaw(), beside([ground, wall], 9)), [], 'down to 0.02 m')
  t.match(
    findingsOf(tunnellingLaw(), beside([ground], 12)),
    [{ kind: 'tunnelling', pair: [2, floor], frames: { first: 10, last: 10 } }],
    'what rests on the floor alone tells where it is',
  )
})

t.test('solverLaw: frames with constraints that do not converge are one run', async (t) => {
  const stalling: ToldScene = {
    frames: 20,
    masses: [1, 1],
    state: rest,
    touches: () => [lying(1)],
    stalled: (frame) => frame >= 8 && frame <= 11,
  }
  t.match(findingsOf(solverLaw(), stalling), [
    { kind: 'solver_stall', severity: 'error', frames: { first: 8, last: 11 }, bodies: [1], value: 4 },
  ])
  t.same(
    findingsOf(solverLaw(), { ...stalling, touches: () => [] }),
    [],
    'without constraints there is nothing to solve',
  )
})

t.test('chatterLaw: contact that comes and goes without parting', async (t) => {
  const losing = (lost: (frame: number) => boolean): ToldScene => ({
    frames: 40,
    masses: [1],
    state: rest,
    touches: (frame) => (lost(frame) ? [] : [lying(1)]),
  })
  t.same(
    findingsOf(
      chatterLaw(),
      losing((frame) => frame === 12),
    ),
    [],
    'once is none',
  )
  t.match(
    findingsOf(
      chatterLaw(),
      losing((frame) => frame >= 12 && frame <= 24 && frame % 4 === 0),
    ),
    [{ kind: 'contact_chatter', frames: { first: 12, last: 24 }, value: 4, pair: [1, floor] }],
  )
  const lost = (...frames: readonly number[]) =>
    findingsOf(
      chatterLaw(),
      losing((frame) => frames.includes(frame)),
    )
  t.match(
    lost(12, 22, 32),
    [{ frames: { first: 12, last: 32 }, value: 3 }],
    'each 10 frames after the one before',
  )
  t.same(lost(12, 22, 33), [], 'a loss 11 frames later begins anew')
  t.same(lost(12, 13, 14, 15, 16, 17, 20, 26), [], 'six frames without contact are no loss of it')
})

t.test('penetrationLaw: overlap of 9 mm is let pass, 12 mm that last are too deep', async (t) => {
  const deep = (depth: number, last: number): ToldScene => ({
    frames: 20,
    masses: [1],
    state: rest,
    touches: (frame) => [{ ...lying(1), depth: frame >= 6 && frame <= last ? depth : 0 }],
  })
  t.same(findingsOf(penetrationLaw(), deep(0.009, 12)), [])
  t.match(findingsOf(penetrationLaw(), deep(0.012, 12)), [
    { kind: 'penetration', severity: 'error', frames: { first: 6, last: 12 }, value: 0.012, limit: 0.01 },
  ])
  t.match(findingsOf(penetrationLaw(), deep(0.012, 7)), [{ severity: 'info' }], 'a moment of it is no error')
  t.match(findingsOf(penetrationLaw(0.005), deep(0.009, 12)), [{ limit: 0.005 }], 'by a limit of the caller')
})

t.test(
  'penetrationLaw: what the caller calls too deep is, whatever an impact or a bias explains',
  async (t) => {
    // Recorded at rest with -g dt, and held 12 mm deep after an impact of 4 m/s.
    const held: ToldScene = {
      frames: 20,
      masses: [1],
      state: () => ({ position: [0, 0, 0.5], velocity: [0, 0, -g * dt] }),
      touches: (frame) => (frame < 6 ? [] : [{ ...lying(1), depth: 0.012, closing: frame === 6 ? -4 : 0 }]),
    }
    t.same(findingsOf(penetrationLaw(), held), [])
    t.match(findingsOf(penetrationLaw(0.01), held), [{ frames: { first: 6, last: 20 }, limit: 0.01 }])
  },
)

t.test(
  'penetrationLaw: a body that sinks faster than gravity adds in a step is held by no bias',
  async (t) => {
    const sinking = (speed: number): ToldScene => ({
      frames: 20,
      masses: [1],
      state: () => ({ position: [0, 0, 0.5], velocity: [0, 0, -speed] }),
      touches: () => [{ ...lying(1), depth: 0.0105 }],
    })
    t.same(findingsOf(penetrationLaw(), sinking(1.4 * g * dt)), [])
    t.match(findingsOf(penetrationLaw(), sinking(1.6 * g * dt)), [{ kind: 'penetration', severity: 'error' }])
  },
)

t.test('restLaw: what lies still neither jitters nor creeps', async (t) => {
  const still: ToldScene = { frames: 40, masses: [1], state: rest, touches: () => [lying(1)] }
  t.same(findingsOf(restLaw(), still), [])
  const shaking = (frame: number): Told => ({
    position: [0, 0, 0.5],
    velocity: [0, 0, frame % 2 === 0 ? 0.02 : -0.02],
  })
  t.match(findingsOf(restLaw(), { ...still, state: shaking })[0], { kind: 'jitter', bodies: [1] })
  const creeping = (frame: number): Told => ({
    position: [0.005 * frame * dt, 0, 0.5],
    velocity: [0.005, 0, 0],
  })
  const held = { n: g * dt, t1: 0.2 * g * dt, mu: 0.5 }
  const [found, ...more] = findingsOf(restLaw(), { ...still, state: creeping, touches: () => [held] })
  t.same(more, [])
  t.match(found, { kind: 'creep', severity: 'warning', unit: 'm/s', frames: { last: 40 } })
  t.ok(Math.abs((found?.value ?? 0) - 0.005) < 1e-9)
})
