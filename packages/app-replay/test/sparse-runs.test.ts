/** Tests of runs whose engine does not send every part of a frame. */
import type { TestClient } from '@causeway/app-kit/testing'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { listFaults, openReplay, recordRun, toRows } from './replay-kit.ts'

const [g, dt] = [9.81, 0.01]

/** A server without files. All tests share it; each records a run. */
const opened = openReplay(t, [])
const names = Array.from({ length: 40 }, (_, i) => `run-${i}`)

async function recorded(lines: readonly object[]): Promise<TestClient> {
  const name = names.pop()
  if (name === undefined) throw new Error('more runs than names')
  return recordRun(await opened, name, lines)
}

const findFaults = async (lines: readonly object[]) => listFaults(await recorded(lines))

interface BallState {
  readonly id: number
  readonly position: readonly number[]
  readonly velocity: readonly number[]
}

/** A ball of 2 kg that falls from 1 m, by semi-implicit Euler. Each bounce preserves 0.8 of its speed. */
function bouncing(change: (line: { bodies: readonly BallState[]; isHit: boolean; frame: number }) => object) {
  const lines: object[] = []
  let [z, v] = [1, 0]
  for (let frame = 1; frame <= 200; frame++) {
    v -= g * dt
    const isHit = z + v * dt < 0.1 && v < 0
    if (isHit) v = -0.8 * v
    z += v * dt
    const bodies = [{ id: 1, position: [0, 0, z], velocity: [0, 0, v] }]
    lines.push({ frame_id: frame, time: frame * dt, ...change({ bodies, isHit, frame }) })
  }
  return lines
}

const ballRun = {
  run: {
    dt,
    gravity: [0, 0, -g],
    bodies: [
      { id: 1, mass: 2, restitution: 0.8 },
      { id: 2, is_environment: true },
    ],
  },
}
const floorContact = (isHit: boolean) => (isHit ? [{ a: 1, b: 2, normal: [0, 0, -1], depth: 0.001 }] : [])

verifies('replay:diagnose:unsent', 'diagnose accepts a run without spins and orientations', async (t) => {
  const plain = bouncing(({ bodies, isHit }) => ({ bodies, contacts: floorContact(isHit) }))
  t.same(await findFaults([ballRun, ...plain]), [])
})

verifies(
  'replay:diagnose:unsent',
  'diagnose reports a velocity that is missing temporarily, but not spins that are never sent',
  async (t) => {
    const lost = bouncing(({ bodies, isHit, frame }) => ({
      bodies: bodies.map(({ velocity, ...body }) =>
        frame >= 60 && frame < 63 ? body : { ...body, velocity, orientation: [1, 0, 0, 0] },
      ),
      contacts: floorContact(isHit),
    }))
    const [first] = await findFaults([ballRun, ...lost])
    // The orientation is missing in these frames too; the spin is always missing.
    t.match(first, { kind: 'nan', bodies: [1], frames: { first: 60, last: 62 }, value: 7 })
  },
)

verifies(
  'replay:diagnose:unsent',
  'diagnose does not report the effects of contacts that were not recorded',
  async (t) => {
    const silent = bouncing(({ bodies }) => ({ bodies }))
    const client = await recorded([ballRun, ...silent])
    const { findings, not_checked: unchecked } = await client.call('diagnose')
    t.same(
      toRows(findings).filter(({ severity }) => severity !== 'info'),
      [],
    )
    const records = toRows(unchecked).find(({ law }) => law === 'body_records')
    t.match(records, { missing: ['contacts'] }, 'contacts may name bodies that do not exist')
    const { missing } = await client.call('get_metadata')
    t.same(
      ['collisions', 'contact_points'].filter((part) => !(missing as string[]).includes(part)),
      [],
    )
    const { checked, not_checked, summary } = await client.call('check_momentum')
    t.notOk((checked as string[]).includes('free_motion'))
    t.match(
      toRows(not_checked).find(({ law }) => law === 'free_motion'),
      { frames: { last: 200 }, missing: ['contacts'], how_to_record: /contacts in every frame line/ },
    )
    t.match(summary, /not recorded: .*contacts/)
  },
)

verifies(
  'replay:diagnose:unsent',
  'diagnose reports a bounce without a contact if contacts are recorded',
  async (t) => {
    const wrong = bouncing(({ bodies }) => ({ bodies, contacts: [] }))
    t.match((await findFaults([ballRun, ...wrong]))[0], { bodies: [1], frames: { first: 43 } })
  },
)

/** A box of 2 kg that spins and flies over the floor. Every number is rounded. */
function roundedFlight(round: (value: number) => number, kick = 0): readonly object[] {
  const run = {
    dt,
    gravity: [0, 0, -g],
    lambda_unit: 'N·s',
    bodies: [{ id: 1, mass: 2, inertia: [0.03, 0.03, 0.03].map(round) }],
  }
  const frames = Array.from({ length: 150 }, (_, row) => {
    const frame = row + 1
    const kicked = frame > 100 ? kick : 0
    const angle = 1.7 * frame * dt
    return {
      frame_id: frame,
      time: round(frame * dt),
      bodies: [
        {
          id: 1,
          position: [0.3137 * frame * dt, 0, 20 - (g * dt * dt * frame * (frame + 1)) / 2].map(round),
          velocity: [0.3137 + kicked, 0, -g * dt * frame].map(round),
          orientation: [Math.cos(angle / 2), 0, Math.sin(angle / 2), 0].map(round),
          angular_velocity: [0, 1.7, 0],
        },
      ],
      contacts: [],
    }
  })
  return [{ run }, ...frames]
}

verifies('replay:diagnose:unsent', 'diagnose does not report the rounding of recorded numbers', async (t) => {
  for (const [name, round] of [
    ['3 decimals', (value) => Number(value.toFixed(3))],
    ['4 decimals', (value) => Number(value.toFixed(4))],
    ['6 digits', (value) => Number(value.toPrecision(6))],
    ['float32', Math.fround],
  ] as const satisfies readonly (readonly [string, (value: number) => number])[]) {
    t.same(await findFaults(roundedFlight(round)), [], name)
    const [first] = await findFaults(roundedFlight(round, 0.05))
    t.match(first, { bodies: [1], frames: { first: 101 } }, `a change of velocity with ${name}`)
  }
})

verifies('replay:diagnose:unsent', 'diagnose lists laws that are not checked due to rounding', async (t) => {
  const rounded = roundedFlight((value) => Number(value.toFixed(1)))
  const timed = rounded.map((line) =>
    'frame_id' in line ? { ...line, time: Number(line.frame_id) * dt } : line,
  )
  const client = await recorded(timed)
  t.same(await listFaults(client), [])
  const { checked, not_checked } = await client.call('diagnose')
  t.notOk((checked as string[]).includes('free_motion'))
  t.match(
    toRows(not_checked).find(({ law }) => law === 'free_motion'),
    { missing: ['velocities with more decimals'], how_to_record: /rounded to 0\.1;.*m\/s/ },
  )
})

verifies(
  'replay:diagnose:unsent',
  'diagnose does not report the work of a moving platform that has no mass',
  async (t) => {
    const lifted = (mass: object): readonly object[] => [
      {
        run: {
          dt,
          gravity: [0, 0, -g],
          bodies: [
            { id: 1, ...mass },
            { id: 2, mass: 1, inertia: [1, 1, 1] },
          ],
        },
      },
      ...Array.from({ length: 100 }, (_, row) => {
        const time = (row + 1) * dt
        const velocity = [0, 0, time]
        return {
          frame_id: row + 1,
          time,
          bodies: [1, 2].map((id) => ({ id, position: [0, 0, id + time ** 2 / 2], velocity })),
          contacts: [{ a: 1, b: 2, normal: [0, 0, 1], depth: 0 }],
        }
      }),
    ]
    const client = await recorded(lifted({}))
    t.same(await listFaults(client), [])
    const { not_checked } = await client.call('diagnose')
    t.match(
      toRows(not_checked).find(({ law }) => law === 'energy_budget'),
      { missing: ['masses'] },
    )
  },
)

/** A body of 1 kg in free fall, with or without recorded gravity and inertia. */
function dropped(run: object, frames = 200): readonly object[] {
  const lines = Array.from({ length: frames }, (_, row) => {
    const frame = row + 1
    const position = [0, 0, (-g * dt * dt * frame * (frame + 1)) / 2]
    const state = { position, velocity: [0, 0, -g * dt * frame], orientation: [1, 0, 0, 0] }
    return {
      frame_id: frame,
      time: frame * dt,
      bodies: [{ id: 1, ...state, angular_velocity: [0, 0, 0] }],
      contacts: [],
    }
  })
  return [{ run: { dt, bodies: [{ id: 1, mass: 1, inertia: [0.1, 0.1, 0.1] }], ...run } }, ...lines]
}

verifies(
  'replay:diagnose:unsent',
  'diagnose does not report an energy gain of a falling body if gravity was not recorded',
  async (t) => {
    const client = await recorded(dropped({}))
    t.same((await client.call('diagnose')).findings, [])
    const { events } = await client.call('timeline')
    t.same(
      toRows(events).filter(({ kind }) => /energy/.test(String(kind))),
      [],
    )
  },
)

verifies(
  'replay:diagnose:unsent',
  'without contacts and gravity, diagnose accepts a body that rests and then falls',
  async (t) => {
    // The body is on a table for 120 steps, and then falls next to it.
    const lines = Array.from({ length: 200 }, (_, row) => {
      const frame = row + 1
      const steps = Math.max(0, frame - 120)
      const position = [0, 0, 1 - (g * dt * dt * steps * (steps + 1)) / 2]
      const state = { position, velocity: [0, 0, -g * dt * steps], orientation: [1, 0, 0, 0] }
      return { frame_id: frame, time: frame * dt, bodies: [{ id: 1, ...state, angular_velocity: [0, 0, 0] }] }
    })
    const run = { dt, bodies: [{ id: 1, mass: 1, inertia: [0.1, 0.1, 0.1] }] }
    const client = await recorded([{ run }, ...lines])
    t.same((await client.call('diagnose')).findings, [])
    const { gravity_m_s2 } = await client.call('get_metadata')
    t.equal(gravity_m_s2, null, 'rest and flight are not distinguished')
  },
)

verifies(
  'replay:diagnose:unsent',
  'without inertia, diagnose accepts a ball that turns spin into speed',
  async (t) => {
    // The floor converts a backspin of 20 rad/s to speed: 1 m/s² while the ball slides (2 / 3.5 s).
    const skidding = Array.from({ length: 55 }, (_, row) => {
      const frame = row + 1
      const [v, x] = [frame * dt, (dt * dt * frame * (frame + 1)) / 2]
      const half = (20 * v - 25 * x) / 2
      const orientation = [Math.cos(half), 0, Math.sin(half), 0]
      const body = { id: 1, position: [x, 0, 0.1], velocity: [v, 0, 0], orientation }
      const point = {
        point: [x, 0, 0],
        depth: 0,
        friction_coefficient: 1 / g,
        tangent1: [1, 0, 0],
        tangent2: [0, 1, 0],
        normal_lambda: 2 * g * dt,
        tangent1_lambda: 2 * dt,
        tangent2_lambda: 0,
      }
      return {
        frame_id: frame,
        time: frame * dt,
        bodies: [{ ...body, angular_velocity: [0, 20 - 25 * v, 0] }],
        contacts: [{ a: 1, b: 2, normal: [0, 0, -1], points: [point] }],
      }
    })
    t.same(await findFaults([ballRun, ...skidding]), [])
  },
)

verifies(
  'replay:diagnose:unsent',
  'assert_invariants fails limits on energies that were not recorded',
  async (t) => {
    const client = await recorded(dropped({ bodies: [] }))
    const { verdicts } = await client.call('assert_invariants', { invariants: { max_energy_drift: 0.1 } })
    t.match(verdicts, [{ invariant: 'max_energy_drift', passed: false, value: null }])
  },
)

verifies(
  'replay:diagnose:unsent',
  'assert_invariants fails limits on contacts that were not recorded, and save_baseline omits them',
  async (t) => {
    const client = await recorded([ballRun, ...bouncing(({ bodies }) => ({ bodies }))])
    const invariants = { max_penetration_m: 1, no_cone_violation: true }
    const { passed, verdicts } = await client.call('assert_invariants', { invariants })
    t.equal(passed, false)
    t.match(verdicts, [
      { invariant: 'max_penetration_m', passed: false, value: null },
      { invariant: 'no_cone_violation', passed: false, value: null },
    ])
    const saved = await client.call('save_baseline', { name: 'blind' })
    t.notOk('max_penetration_m' in (saved.invariants as object))
    const series = ['contacts.depth', 'contacts.pairs', 'body.1.contacts', 'pair.1.floor.contact']
    const shown = toRows((await client.call('get_series', { series })).series)
    t.same(
      shown.map(({ max }) => max),
      [null, null, null, null],
    )
    const unrecorded = await recorded([ballRun, ...bouncing(({ bodies }) => ({ bodies, contacts: [] }))])
    t.match(
      await unrecorded.call('assert_invariants', { invariants }),
      { passed: true },
      'no contacts, as recorded',
    )
  },
)

verifies('replay:diagnose:unsent', 'contacts that were not recorded are null, not 0', async (t) => {
  const lines = Array.from({ length: 20 }, (_, row) => ({
    frame_id: row + 1,
    time: (row + 1) * dt,
    bodies: [{ id: 1, position: [0, 0, 0.1], velocity: [0, 0, 0] }],
  }))
  const blind = await recorded([ballRun, ...lines])
  const story = await blind.call('explain_frame', { frame_id: 10 })
  t.match(story, { contacts: null, balances: [{ contact_n: null, in_contact: null, unexplained_n: null }] })
  t.match(toRows(story.balances)[0], { gravity_n: { z: -2 * g } }, 'what is known is returned')
  t.notMatch(story.summary, /in contact|unexplained/)
  t.match(story.summary, /contacts not recorded/)
  const { frames } = await blind.call('tail_recording')
  t.match(toRows(frames)[0], { pairs_in_contact: null })
  t.match((await blind.call('get_frame', { frame_id: 10 })).summary, /contacts not recorded/)
  const pair = { body_id: 1, frame_a: 5, frame_b: 10 }
  t.match(await blind.call('compare_body_across_frames', pair), { contact_delta: null })
  const shown = await recorded([ballRun, ...lines.map((line) => ({ ...line, contacts: [] }))])
  const other = await shown.call('explain_frame', { frame_id: 10 })
  t.match(other, { contacts: [], balances: [{ in_contact: false, contact_n: { z: 0 } }] })
  t.ok(Math.abs(Number(toRows(other.balances)[0]?.unexplained_n) - 2 * g) < 1e-9)
  t.match(toRows((await shown.call('tail_recording')).frames)[0], { pairs_in_contact: 0 })
  t.match(await shown.call('compare_body_across_frames', pair), { contact_delta: { contacts_a: 0 } })
})

verifies('replay:diagnose:unsent', 'a stall contains the residuals that were recorded', async (t) => {
  const residuals = [null, 0.5, 2, null, 1, null]
  const lines = residuals.map((residual, row) => ({
    frame_id: row + 1,
    time: (row + 1) * dt,
    // The body's state is missing in the last frames.
    bodies: [{ id: 1, position: [0, 0, row < 3 ? 0.1 : null], velocity: [0, 0, row < 3 ? 0 : null] }],
    contacts: [{ a: 1, b: 2, normal: [0, 0, -1], depth: 0.001 }],
    solver: { iterations: 50, residual, converged: false },
  }))
  const client = await recorded([ballRun, ...lines])
  const { runs } = await client.call('find_solver_stalls')
  t.match(runs, [{ frames: { first: 1, last: 6, peak: 3 }, residual: 2, residual_growth: 2, bodies: [1] }])
  const { findings } = await client.call('diagnose', { max_findings: 20 })
  t.ok(toRows(findings).some(({ kind }) => kind === 'solver_stall'))
  const { events } = await client.call('timeline', { kinds: ['not_converged'] })
  t.match(events, [{ frame_id: 1, value: null }])
  for (const frame_id of [1, 3, 6])
    t.type((await client.call('explain_frame', { frame_id })).summary, 'string')
})

/** The bouncing ball with a contact point that has a restitution, but no lever arms. */
const pointed = (restitution: number) =>
  bouncing(({ bodies, isHit }) => ({
    bodies: bodies.map((body) => ({ ...body, orientation: [1, 0, 0, 0], angular_velocity: [0, 0, 0] })),
    contacts: floorContact(isHit).map((contact) => ({
      ...contact,
      points: [{ point: [0, 0, 0], restitution }],
    })),
  }))

verifies(
  'replay:diagnose:unsent',
  'diagnose checks the restitution of contact points without lever arms',
  async (t) => {
    t.same(await findFaults([ballRun, ...pointed(0.8)]), [])
  },
)

verifies(
  'replay:diagnose:unsent',
  'without lever arms, diagnose finds a bounce that its restitution does not explain',
  async (t) => {
    const [first] = await findFaults([ballRun, ...pointed(0.3)])
    t.match(first, { kind: 'restitution', bodies: [1, 2147483650], frames: { first: 43 } })
  },
)
