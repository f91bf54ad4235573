/** Contacts of which only a part was recorded, and motion that no contact explains. */
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { listFaults, openReplay, recordRun, toRows } from './replay-kit.ts'

const [g, dt] = [9.81, 0.01]
const opened = openReplay(t, [])

const faults = async (name: string, lines: readonly object[]) =>
  listFaults(await recordRun(await opened, name, lines))

/** Options for a box that slides on a floor with friction 0.4. Its contact has one tangent, as in a plane world. */
interface Slide {
  /** Speed in m/s that the box gains in frame 50 from nowhere. */
  readonly push?: number
  /** Whether the tangential impulse is recorded. Default: true. */
  readonly hasTangent?: boolean
}

function sliding({ push = 0, hasTangent = true }: Slide): readonly object[] {
  const [mass, mu] = [2, 0.4]
  const run = {
    dt,
    gravity: [0, 0, -g],
    bodies: [
      { id: 1, mass },
      { id: 2, is_environment: true },
    ],
  }
  const normal_lambda = mass * g * dt
  let [x, v] = [0, 6]
  const lines = Array.from({ length: 100 }, (_, row) => {
    const frame = row + 1
    const friction = Math.min(mu * normal_lambda, mass * v)
    const from = x
    v += (frame === 50 ? push : 0) - friction / mass
    x += v * dt
    const tangent = { tangent1: [1, 0, 0], tangent1_lambda: -friction, tangent2_lambda: 0 }
    const point = {
      point: [from, 0, 0],
      normal_lambda,
      friction_coefficient: mu,
      ...(hasTangent && tangent),
    }
    return {
      frame_id: frame,
      time: frame * dt,
      bodies: [{ id: 1, position: [x, 0, 0.25], velocity: [v, 0, 0] }],
      contacts: [{ a: 1, b: 2, normal: [0, 0, -1], depth: 0, points: [point] }],
    }
  })
  return [{ run }, ...lines]
}

verifies(
  'replay:diagnose:unsent',
  'a tangential impulse of 0 needs no direction: the momentum along the only tangent is checked',
  async (t) => {
    t.same(await faults('slide', sliding({})), [])
    const client = await recordRun(await opened, 'pushed', sliding({ push: 0.2 }))
    const { findings, not_checked } = await client.call('diagnose')
    t.match(toRows(findings)[0], { bodies: [1], frames: { first: 50, last: 50 } })
    t.notOk(toRows(not_checked).some(({ law }) => law === 'friction_momentum' || law === 'friction_cone'))
  },
)

verifies(
  'replay:diagnose:unsent',
  'without tangential impulses, a push that friction cannot explain is reported',
  async (t) => {
    // Friction explains up to 1.5 mu g dt = 0.059 m/s.
    t.same(await faults('bare', sliding({ hasTangent: false })), [])
    t.match((await faults('bare-pushed', sliding({ push: 0.2, hasTangent: false })))[0], {
      bodies: [1],
      frames: { first: 50, last: 50 },
    })
  },
)

/** Two discs without friction that meet head-on at 0.4 m/s in frame 20 and part with `restitution`. */
function meeting(restitution: number): readonly object[] {
  const [m1, m2, dt] = [1, 2, 0.01]
  const bodies = [m1, m2].map((mass, i) => ({ id: i + 1, mass }))
  let [x1, x2, v1, v2] = [-0.14, 0.14, 0.2, -0.2]
  const lines = Array.from({ length: 40 }, (_, row) => {
    const frame = row + 1
    const isHit = frame === 20
    const impulse = isHit ? ((1 + restitution) * (v1 - v2)) / (1 / m1 + 1 / m2) : 0
    v1 -= impulse / m1
    v2 += impulse / m2
    const point = {
      point: [(x1 + x2) / 2, 0, 0],
      normal_lambda: impulse,
      friction_coefficient: 0,
      restitution: 1,
    }
    x1 += v1 * dt
    x2 += v2 * dt
    return {
      frame_id: frame,
      time: frame * dt,
      bodies: [
        { id: 1, position: [x1, 0, 0], velocity: [v1, 0, 0] },
        { id: 2, position: [x2, 0, 0], velocity: [v2, 0, 0] },
      ],
      contacts: isHit ? [{ a: 1, b: 2, normal: [1, 0, 0], depth: 0, points: [point] }] : [],
    }
  })
  return [{ run: { dt, gravity: [0, 0, 0], bodies } }, ...lines]
}

verifies(
  'replay:diagnose:unsent',
  'a slow impact that parts the bodies faster than they met is reported; sticking is not',
  async (t) => {
    t.same(await faults('elastic', meeting(1)), [])
    t.same(await faults('soft', meeting(0.2)), [])
    const [first] = await faults('powered', meeting(1.5))
    t.match(first, { kind: 'restitution', bodies: [1, 2], frames: { first: 20, last: 20 }, limit: 1 })
    t.ok(Math.abs(Number(first?.value) - 1.5) < 1e-6)
  },
)

verifies(
  'replay:diagnose:unsent',
  'a body that accelerates without contact for long is reported with how to record a force',
  async (t) => {
    const orbit: object[] = []
    let [x, y, vx, vy] = [1, 0, 0, 1]
    for (let frame = 1; frame <= 60; frame++) {
      const r3 = Math.hypot(x, y) ** 3
      vx -= (x / r3) * dt
      vy -= (y / r3) * dt
      x += vx * dt
      y += vy * dt
      const bodies = [{ id: 1, position: [x, y, 0], velocity: [vx, vy, 0] }]
      orbit.push({ frame_id: frame, time: frame * dt, bodies, contacts: [] })
    }
    const run = { dt, gravity: [0, 0, 0], bodies: [{ id: 1, mass: 1 }] }
    const [first] = await faults('orbit', [{ run }, ...orbit])
    t.match(first, { kind: 'momentum', bodies: [1], sentence: /record it in bodies\[\]\.forces\.$/ })
  },
)
