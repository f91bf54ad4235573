import t from 'tap'
import type { Finding, FindingKind, Severity } from '../../src/domain/findings/finding.ts'
import { rankFindings } from '../../src/domain/findings/ranking.ts'
import { penetrationLaw } from '../../src/domain/laws/contact/penetration-law.ts'
import { tunnellingLaw } from '../../src/domain/laws/contact/tunnelling-law.ts'
import { balanceLaw } from '../../src/domain/laws/motion/balance-law.ts'
import { restLaw } from '../../src/domain/laws/motion/rest-law.ts'
import { teleportLaw } from '../../src/domain/laws/motion/teleport-law.ts'
import { recordLaw } from '../../src/domain/laws/record-law.ts'
import {
  formatCount,
  formatList,
  formatMainAxis,
  formatNumber,
  formatQuantity,
} from '../../src/domain/sentence.ts'
import { type Point3, type Rotation, rotate } from '../../src/domain/vector.ts'
import { dt, floor, g, lying, runLaw, type SceneSpec } from './law-kit.ts'

const finding = (
  kind: FindingKind,
  [first, last]: readonly [number, number],
  bodies: readonly number[],
  severity: Severity = 'error',
): Finding => ({
  kind,
  severity,
  frames: { first, last, peak: first },
  bodies,
  pair: null,
  value: 1,
  limit: 0,
  unit: '1',
  confidence: 0.9,
})

const spec = (findings: readonly Finding[]) =>
  rankFindings(findings).map(({ id, kind, follows }) => [id, kind, follows])

t.test('rankFindings ranks causes before consequences in the same frame', async (t) => {
  t.same(spec([finding('energy_injection', [45, 45], [1]), finding('friction_cone', [45, 45], [1, 9])]), [
    ['f1', 'friction_cone', null],
    ['f2', 'energy_injection', 'f1'],
  ])
})

t.test(
  'rankFindings ranks a velocity that contradicts the motion before findings computed from it',
  async (t) => {
    const mismatch = finding('velocity_mismatch', [15, 60], [1])
    t.same(spec([finding('energy_drift', [2, 20], [1]), mismatch, finding('momentum', [30, 31], [1])]), [
      ['f1', 'velocity_mismatch', null],
      ['f2', 'energy_drift', 'f1'],
      ['f3', 'momentum', 'f1'],
    ])
    const apart = [finding('energy_drift', [2, 4], [1]), finding('energy_drift', [2, 20], [2]), mismatch]
    t.same(
      spec(apart).map(([, , follows]) => follows),
      [null, null, null],
      'not what ended before, nor what another body did',
    )
  },
)

t.test('rankFindings treats faults of different bodies as causes, and ranks warnings last', async (t) => {
  t.same(
    spec([
      finding('creep', [5, 30], [2], 'warning'),
      finding('momentum', [40, 40], [3]),
      finding('teleport', [41, 41], [4]),
    ]),
    [
      ['f1', 'momentum', null],
      ['f2', 'teleport', null],
      ['f3', 'creep', null],
    ],
  )
})

t.test("rankFindings treats findings after a body's blow-up as consequences", async (t) => {
  const late = finding('penetration', [900, 950], [3, 4])
  t.same(spec([late, finding('blow_up', [60, 200], [3])]), [
    ['f1', 'blow_up', null],
    ['f2', 'penetration', 'f1'],
  ])
})

t.test('formatNumber returns up to six digits, with exponents for large and small numbers', async (t) => {
  const pairs = [
    [0, '0'],
    [49.05, '49.05'],
    [-0.15696, '-0.157'],
    [1422.6129, '1422.6'],
    [12345.04, '12345'],
    [123456.78, '123457'],
    [1.2341e195, '1.234e195'],
    [-2e-9, '-2e-9'],
    [100, '100'],
    [null, 'unknown'],
    [Number.NaN, 'unknown'],
    [Number.POSITIVE_INFINITY, 'infinite'],
    [Number.NEGATIVE_INFINITY, '-infinite'],
  ] as const
  for (const [value, text] of pairs) t.equal(formatNumber(value), text)
  t.equal(formatQuantity(2.5, 'm'), '2.5 m')
  t.equal(formatQuantity(null, 'm'), 'unknown')
  t.equal(formatQuantity(Number.POSITIVE_INFINITY, 'm'), 'infinite')
})

t.test('formatCount selects the plural, and formatList truncates long lists', async (t) => {
  t.equal(formatCount(1, 'body', 'bodies'), '1 body')
  t.equal(formatCount(0, 'frame'), '0 frames')
  t.equal(formatList([1, 2, 3]), '1, 2, 3')
  t.equal(formatList([1, 2, 3, 4, 5, 6, 7]), '1, 2, 3, 4, 5 and 2 more')
})

t.test('formatMainAxis returns the axis of a vector, or an empty string', async (t) => {
  t.equal(formatMainAxis({ x: 0.002, y: 0, z: 0 }, 'm'), ' (0.002 m in X)')
  t.equal(formatMainAxis({ x: 1, y: 1, z: 0 }, 'm'), '')
  t.equal(formatMainAxis({ x: 0, y: 0, z: 0 }, 'm'), '')
  t.equal(formatMainAxis({ x: null, y: 0, z: 0 }, 'm'), '')
})

t.test('tunnellingLaw reports paths through a box in any orientation, but not next to it', async (t) => {
  const half: Point3 = [0.2, 1, 3]
  const turns: readonly Rotation[] = [
    [1, 0, 0, 0],
    [Math.SQRT1_2, Math.SQRT1_2, 0, 0],
    [Math.SQRT1_2, 0, Math.SQRT1_2, 0],
    [Math.SQRT1_2, 0, 0, Math.SQRT1_2],
    [0.1, 0.3, 0.5, Math.sqrt(0.65)],
    [0.6, -0.48, 0.64, 0],
  ]
  for (const turn of turns) {
    /** Returns the findings if a ball passes the centre plane of a box at (0, y, z) between frames 5 and 6. */
    const findings = (y: number, z: number, at: Point3 = [7, -4, 2]) =>
      runLaw(tunnellingLaw(), {
        frames: 10,
        masses: [1, 5],
        extents: [[0.05, 0.05, 0.05], half],
        gravity: [0, 0, 0],
        state: (frame, body) => {
          if (body === 2) return { position: at, orientation: turn }
          const [dx, dy, dz] = rotate(turn, [frame - 5.5, y, z])
          return { position: [at[0] + dx, at[1] + dy, at[2] + dz], velocity: rotate(turn, [100, 0, 0]) }
        },
      }).map(({ kind, frames: { first, last } }) => [kind, first, last])
    const crossing = [['tunnelling', 6, 6]]
    for (const [i, j] of [
      [1, 1],
      [1, -1],
      [-1, 1],
      [-1, -1],
    ] as const) {
      t.same(findings(0.95 * i, 2.95 * j), crossing, `inside the edge ${i} ${j} of ${turn}`)
      t.same(findings(1.05 * i, 2.95 * j), [], `beyond y of ${turn}`)
      t.same(findings(0.95 * i, 3.05 * j), [], `beyond z of ${turn}`)
    }
  }
})

t.test('balanceLaw allows a change of spin in proportion to the larger rotational energy', async (t) => {
  // With w dt = 1.8 and a spin that halves, 0.002 + 0.3 * 1.8² = 0.974 of the larger energy may change: 1 J to 38.46 J.
  const findings = (before: number, after: number) =>
    runLaw(balanceLaw(), {
      frames: 20,
      masses: [2],
      gravity: [0, 0, 0],
      state: (frame) =>
        frame <= 10 ? { spin: [0, 0, 360], rotational: before } : { spin: [0, 0, 180], rotational: after },
    })
  t.same(findings(38, 1), [])
  t.same(findings(1, 38), [])
  t.match(findings(39, 1), [{ frames: { first: 11, last: 11 }, bodies: [1] }])
  t.match(findings(1, 39), [{ kind: 'energy_injection', frames: { first: 11, last: 11 }, value: 38 }])
})

t.test('balanceLaw reports a blow-up above both 1 J and 1000 times the first kinetic energy', async (t) => {
  /** Returns the kinds of findings if a body of 2 kg gains speed in 3 frames. Its energy is v² J. */
  const kinds = (from: number, to: number) =>
    runLaw(balanceLaw(), {
      frames: 20,
      masses: [2],
      gravity: [0, 0, 0],
      state: (frame) => {
        const part = Math.min(Math.max(frame - 10, 0) / 3, 1)
        return { velocity: [0, from + part * (to - from), 0] }
      },
    }).map(({ kind, frames: { first, last } }) => [kind, first, last])
  t.same(kinds(0, Math.sqrt(0.99)), [['energy_injection', 11, 13]])
  t.same(kinds(0, Math.sqrt(1.01)), [['blow_up', 11, 13]])
  t.same(kinds(1, Math.sqrt(990)), [['energy_injection', 11, 13]])
  t.same(kinds(1, Math.sqrt(1010)), [['blow_up', 11, 13]])
})

t.test('restLaw reports creep faster than 2.5 mm/s if friction is below 95 % of its limit', async (t) => {
  /** Returns the kinds of findings if a body slides along y on another body, at this speed in m/s. */
  const kinds = (speed: number, used: number, carrier = 0) =>
    runLaw(restLaw(), {
      frames: 40,
      masses: [1, 1],
      state: (frame, body) => {
        const v = body === 1 ? speed : carrier
        return { position: [0, v * frame * dt, body === 1 ? 0.5 : -0.5], velocity: [0, v, 0] }
      },
      touches: () => [{ a: 1, b: 2, n: g * dt, t1: used * 0.5 * g * dt, mu: 0.5 }],
    }).map(({ kind }) => kind)
  t.same(kinds(0.0024, 0.5), [])
  t.same(kinds(0.0026, 0.5), ['creep'])
  t.same(kinds(0.0026, 0.94), ['creep'])
  t.same(kinds(0.0026, 0.96), [])
  t.same(kinds(0.09, 0.5), ['creep'])
  t.same(kinds(0.11, 0.5), [], 'a faster body does not rest')
  t.same(kinds(0.0526, 0.5, 0.05), ['creep'], 'relative to the body below')
  t.same(kinds(0.0524, 0.5, 0.05), [])
})

t.test('balanceLaw accepts a body that sleeps after a contact', async (t) => {
  const resting = (hasImpulse: (frame: number) => boolean): SceneSpec => ({
    frames: 60,
    masses: [3],
    state: () => ({ position: [0, 0, 0.5] }),
    touches: (frame) => (hasImpulse(frame) ? [lying(3)] : []),
  })
  t.same(
    runLaw(
      balanceLaw(),
      resting((frame) => frame < 20),
    ),
    [],
  )
  t.match(
    runLaw(
      balanceLaw(),
      resting((frame) => frame < 20 || frame >= 30),
    ),
    [{ bodies: [1], frames: { first: 20, last: 29 } }],
    'an impulse carries it again although it has not moved',
  )
  t.match(
    runLaw(
      balanceLaw(),
      resting(() => false),
    ),
    [{ kind: 'unexplained_acceleration' }],
    'in the air',
  )
})

t.test('teleportLaw and balanceLaw accept a motion that ends at a surface', async (t) => {
  // The ball moves 0.2 m per step. In frame 20, continuous collision detection stops it after 0.05 m.
  const bullet = (contact: number): SceneSpec => ({
    frames: 25,
    masses: [1],
    state: (frame) => {
      const steps = frame < 20 ? frame : 19.25 - Math.max(0, frame - 20)
      const speed = frame <= 20 ? -20 : 20
      return {
        position: [0, 0, 4 + (frame <= 20 ? -0.2 * steps : 0.2 * (frame - 20) - 3.85)],
        velocity: [0, 0, speed],
      }
    },
    touches: (frame) => (frame === contact ? [{ n: 40 }] : []),
  })
  t.same(runLaw(teleportLaw(), bullet(21)), [])
  t.match(
    runLaw(teleportLaw(), bullet(0)),
    [{ kind: 'teleport', frames: { first: 20 } }],
    'without a contact',
  )
})

t.test(
  'without contacts, teleportLaw accepts a step that ends at a surface, but not a frozen body',
  async (t) => {
    const shape = { name: null, half_extents: null, inertia: null, position: null, orientation: null }
    // The ball moves 30 mm per step, except in the `count` steps after frame 20.
    const frozen = (count: number): SceneSpec => ({
      frames: 40,
      masses: [1],
      hasContacts: false,
      geometry: [
        { ...shape, body_id: 1, shape: { kind: 'sphere', radius: 0.3 } },
        {
          ...shape,
          body_id: floor,
          shape: { kind: 'plane' },
          position: [0, 0, 0],
          orientation: [1, 0, 0, 0],
        },
      ],
      state: (frame) => ({
        position: [0.03 * (frame - Math.min(Math.max(frame - 20, 0), count)), 0, 0.3],
        velocity: [3, 0, 0],
      }),
    })
    t.same(runLaw(teleportLaw(), frozen(1)), [])
    t.match(runLaw(teleportLaw(), frozen(8)), [{ kind: 'teleport', frames: { first: 22, last: 28 } }])
  },
)

t.test('recordLaw notes a variable clock and reports a jump of a constant one', async (t) => {
  const clock = (time: (frame: number) => number) =>
    runLaw(recordLaw(), {
      frames: 40,
      masses: [2],
      state: () => ({}),
      time,
    })
  const variable = clock((frame) => dt * (frame + 0.1 * Math.sin(1.7 * frame)))
  t.ok(variable.length > 0 && variable.every(({ severity }) => severity === 'info'))
  t.match(
    clock((frame) => dt * (frame < 20 ? frame : frame + 0.5)),
    [{ kind: 'nonuniform_dt', severity: 'error', frames: { first: 20, last: 20 } }],
  )
})

t.test('recordLaw reports intervals, pauses, resets and matching steps only as info', async (t) => {
  const flight = (spec: Partial<SceneSpec>, at = (frame: number) => frame) =>
    runLaw(recordLaw(), {
      frames: 40,
      masses: [2],
      state: (frame) => ({ position: [2 * dt * at(frame), 0, 0], velocity: [2, 0, 0] }),
      ...spec,
    }).map(({ kind, severity, frames }) => `${kind} ${severity} ${frames.first}`)
  const sampled = flight({ id: (row) => 10 * row + 10 }).map((one) => one.replace(/ \d+$/, ''))
  t.same([...new Set(sampled)], ['missing_frames info'])
  t.same(flight({ id: (row) => (row < 20 ? row + 1 : row + 4) }), ['missing_frames error 24'])
  const paused = (frame: number) => (frame < 20 ? frame : Math.max(19, frame - 10))
  t.same(flight({ time: (frame) => dt * paused(frame) }, paused), ['frozen_time info 20'])
  t.match(flight({ time: (frame) => dt * paused(frame) })[0], 'frozen_time error 20')
  const none = [Number.NaN, Number.NaN, Number.NaN] as const
  const unknown = { position: none, velocity: none, spin: none, orientation: [...none, Number.NaN] as const }
  const stopped = flight({ time: (frame) => dt * paused(frame), state: () => unknown })
  t.ok(stopped.includes('frozen_time error 20'), 'without states, it is unknown whether bodies move')
  t.same(
    flight({}, (frame) => ((frame - 1) % 20) + 1),
    ['teleport info 21'],
  )
  const late = (frame: number) => (frame < 20 ? frame : frame + 5)
  t.same(flight({ time: (frame) => dt * late(frame) }, late), ['nonuniform_dt info 20'])
  t.same(flight({ time: (frame) => dt * late(frame) }), ['nonuniform_dt error 20'])
  const rounded = (frame: number) => Math.round(1e3 * dt * (late(frame) + 0.04 * (frame % 3))) / 1e3
  t.same(flight({ time: rounded, isRounded: true }), ['nonuniform_dt error 20'])
})

t.test('balanceLaw notes a weak linear damping, and reports a strong one', async (t) => {
  const slowed = (rate: number) =>
    runLaw(balanceLaw(), {
      ...{ frames: 40, masses: [2], gravity: [0, 0, 0] },
      state: (frame) => ({ velocity: [3 * (1 - rate * dt) ** frame, (1 - rate * dt) ** frame, 0] }),
    })
  t.match(slowed(0.05), [{ kind: 'dissipation_without_contact', severity: 'info', bodies: [1] }])
  t.ok(slowed(0.5).some(({ severity }) => severity === 'error'))
})

t.test('without velocities, penetrationLaw derives the impact speed from the motion', async (t) => {
  const impact = (speed: number): SceneSpec => ({
    frames: 20,
    masses: [1],
    state: (frame) => ({
      position: [0, 0, -speed * dt * Math.min(frame, 10)],
      velocity: [Number.NaN, Number.NaN, Number.NaN],
    }),
    touches: (frame) => (frame > 10 && frame < 15 ? [{ depth: 0.05, closing: Number.NaN }] : []),
  })
  t.same(runLaw(penetrationLaw(), impact(10)), [])
  t.match(runLaw(penetrationLaw(), impact(1)), [{ kind: 'penetration', frames: { first: 11 } }])
})

t.test(
  'teleportLaw reports a displacement of 5 mm along the floor, and accepts a correction of the overlap',
  async (t) => {
    const lifted = (offset: readonly [number, number, number]): SceneSpec => ({
      frames: 20,
      masses: [3],
      state: (frame) => ({ position: frame < 10 ? [0, 0, 0.5] : [offset[0], offset[1], 0.5 + offset[2]] }),
      touches: () => [lying(3)],
    })
    t.same(runLaw(teleportLaw(), lifted([0, 0, 0.005])), [])
    t.match(runLaw(teleportLaw(), lifted([0.003, 0.004, 0])), [
      { kind: 'teleport', bodies: [1], frames: { first: 10, last: 10 } },
    ])
  },
)

t.test(
  'rankFindings ranks a force that changes the momentum before the torque of the same frame',
  async (t) => {
    const energy = finding('energy_injection', [45, 45], [1])
    const torque = finding('angular_momentum', [45, 45], [1])
    t.match(spec([torque, { ...energy, rank: 'momentum' }])[0], ['f1', 'energy_injection'])
    t.match(spec([torque, energy])[0], ['f1', 'angular_momentum'], 'a gain of rotational energy')
  },
)
