/**
 * Verdicts list the laws that were checked, and those that lack data. Also tests incomplete contacts, and motion that
 * no contact explains.
 */
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { lawTable } from '../src/domain/coverage/law-table.ts'
import { ask, listFaults, openReplay, recordRun, toRows } from './replay-kit.ts'

const [g, dt] = [9.81, 0.01]
const opened = openReplay(t, [])

const record = async (name: string, lines: readonly object[]) => recordRun(await opened, name, lines)

const findLaw = (answer: Readonly<Record<string, unknown>>, law: string) =>
  toRows(answer.not_checked).find((one) => one.law === law)

verifies('replay:coverage', 'diagnose lists each law as checked, not checked, or both', async (t) => {
  const answer = await (await ask(t, 'drop')).call('diagnose')
  const named = new Set([
    ...(answer.checked as string[]),
    ...(answer.not_applicable as string[]),
    ...toRows(answer.not_checked).map(({ law }) => law),
  ])
  t.same([...named].sort(), Object.keys(lawTable).sort())
  t.match(
    answer.summary,
    /^Checked 150 frames: \d+ of the \d+ laws that apply, \d+ of them in part \(not recorded: .*\)\. /,
  )
})

verifies('replay:coverage', 'diagnose does not judge contacts or energy from states alone', async (t) => {
  const answer = await (await ask(t, 'era_states_only')).call('diagnose')
  for (const law of ['friction_cone', 'penetration', 'free_motion', 'contact_momentum'])
    t.notOk((answer.checked as string[]).includes(law), law)
  t.ok((answer.checked as string[]).includes('velocity_matches_motion'))
  t.match(findLaw(answer, 'penetration'), { missing: ['contacts', 'depths'], frames: { first: 1 } })
  t.match(answer.summary, /in what was checked/)
})

verifies(
  'replay:coverage',
  'missing tangential impulses leave only the cone and friction unchecked',
  async (t) => {
    const answer = await (await ask(t, 'era_no_tangents')).call('diagnose')
    const { checked } = answer
    t.ok((checked as string[]).includes('contact_momentum'))
    for (const law of ['friction_cone', 'friction_momentum']) {
      t.notOk((checked as string[]).includes(law), law)
      t.match(findLaw(answer, law)?.missing, ['tangential impulses'], law)
    }
  },
)

verifies(
  'replay:coverage',
  'a verdict does not contradict itself if no law could be checked completely',
  async (t) => {
    const { summary } = await (await ask(t, 'tunnelling')).call('diagnose', { law: 'tunnelling' })
    t.match(
      summary,
      /^Checked 36 frames: none of the 3 laws that apply could be checked completely \(not recorded: shapes, shapes of the environment\)\. The impenetrability of bodies is violated in 2 runs\. /,
    )
    const partial = await (await ask(t, 'nan')).call('diagnose', { law: 'numerics' })
    t.match(partial.summary, /^Checked 80 frames: all 8 laws that apply, 6 of them in part \(not recorded: /)
  },
)

verifies(
  'replay:diagnose',
  'sentences do not contain kinds, and explain_frame rounds forces to six digits',
  async (t) => {
    const { findings, summary } = await (await ask(t, 'energy_injection')).call('diagnose')
    const sentence = 'Frame 60: body 2 gains energy without a cause (11.61 J, limit 0.004503 J).'
    t.match(findings, [{ kind: 'energy_injection', sentence }])
    t.match(summary, `First cause: ${sentence.replace('Frame', 'frame')}`)
    const story = await (await ask(t, 'stack')).call('explain_frame', { frame_id: 50 })
    const numbers =
      JSON.stringify([
        story.balances,
        toRows(story.contacts).map(({ penetration_depth, ...derived }) => derived),
      ]).match(/\d[\d.]*/g) ?? []
    t.ok(numbers.length > 20)
    for (const number of numbers.filter((text) => text.includes('.')))
      t.ok(number.replace(/^0\.0*|\./g, '').length <= 6, number)
  },
)

verifies(
  'replay:diagnose',
  'summaries name environment bodies, numbered in the order of their contacts',
  async (t) => {
    const walls: readonly (readonly [id: number, normal: readonly number[]])[] = [
      [3, [0, 0, -1]],
      [4, [1, 0, 0]],
      [5, [-1, 0, 0]],
    ]
    /** The body touches the floor, then also a wall, then also a second wall. */
    const lines = Array.from({ length: 30 }, (_, row) => ({
      frame_id: row + 1,
      time: (row + 1) * dt,
      bodies: [{ id: 1, position: [0, 0, 0], velocity: [0.5, 0, 0] }],
      contacts: walls
        .slice(0, 1 + Math.floor(row / 10))
        .map(([b, normal]) => ({ a: 1, b, normal, depth: 0.1, points: [] })),
    }))
    const bodies = [{ id: 1, mass: 1 }, ...walls.map(([id]) => ({ id, is_environment: true }))]
    const run = { run: { dt, gravity: [0, 0, -g], lambda_unit: 'N·s', bodies } }
    const client = await record('walls', [run, ...lines])
    const onFloor = lines.map((line) => ({ ...line, contacts: line.contacts.slice(0, 1) }))
    await record('others', [run, ...onFloor])
    const floors = (id: number) => [
      { id: 1, mass: 1 },
      { id, is_environment: true },
    ]
    await record('floor', [{ run: { ...run.run, bodies: floors(3) } }, ...onFloor])
    const inAir = lines.map((line) => ({ ...line, contacts: [] }))
    await record('renumbered', [{ run: { ...run.run, bodies: floors(4) } }, ...inAir])
    const summarize = async (tool: string, args: object) => String((await client.call(tool, args)).summary)
    const named: readonly (readonly [tool: string, args: object, text: string])[] = [
      ['get_contacts_for_body', { body_id: 1, frame_id: 25 }, 'floor, wall and wall 2'],
      ['get_contacts_for_body', { body_id: 5, frame_id: 25 }, 'contacts of wall 2'],
      [
        'get_contact_history',
        { body_a_id: 1, body_b_id: 5, start_frame: 1, end_frame: 30 },
        'body 1 and wall 2',
      ],
      ['explain_frame', { frame_id: 21 }, 'Contact begins: body 1 and wall 2.'],
      ['check_penetration', { frame_id: 21 }, 'between body 1 and floor.'],
      ['diagnose', { start_frame: 22 }, ''],
      [
        'compare_recordings',
        { a: 'walls', b: 'others' },
        'contacts, only in a: body 1 and wall, only in b: none',
      ],
      [
        'compare_recordings',
        { a: 'floor', b: 'renumbered' },
        'contacts, only in a: body 1 and floor, only in b: none',
      ],
      [
        'compare_recordings',
        { a: 'renumbered', b: 'floor' },
        'contacts, only in a: none, only in b: body 1 and floor',
      ],
    ]
    for (const [tool, args, text] of named) {
      const summary = await summarize(tool, args)
      t.ok(summary.includes(text), `${tool}: ${summary}`)
      t.notMatch(summary, /2147483\d{3}/, tool)
    }
  },
)

verifies('replay:coverage', 'a recording without frames is not checked against any law', async (t) => {
  const answer = await (await ask(t, 'zero_frames')).call('diagnose')
  t.same(answer.checked, [])
  t.match(findLaw(answer, 'finite_numbers'), { frames: { first: null, last: null }, missing: ['frames'] })
  t.match(answer.summary, /^There are no frames to check\.$/)
})

verifies('replay:coverage', 'data that a body temporarily lacks is named with body and frames', async (t) => {
  const lines = Array.from({ length: 40 }, (_, row) => {
    const [frame, v] = [row + 1, -g * dt * (row + 1)]
    const ball = (id: number) => ({
      id,
      position: [id, 0, (v * dt * (frame + 1)) / 2],
      ...(id === 2 && frame > 20 ? {} : { velocity: [0, 0, v] }),
    })
    return { frame_id: frame, time: frame * dt, bodies: [ball(1), ball(2)], contacts: [] }
  })
  const bodies = [1, 2].map((id) => ({ id, mass: 1 }))
  const client = await record('part', [{ run: { dt, gravity: [0, 0, -g], bodies } }, ...lines])
  const answer = await client.call('diagnose')
  t.ok((answer.checked as string[]).includes('free_motion'))
  t.match(findLaw(answer, 'free_motion'), {
    frames: { first: 21, last: 40 },
    bodies: [2],
    missing: ['velocities'],
    how_to_record: 'send bodies[].velocity',
  })
})

verifies('replay:coverage', 'diagnose and explain_frame name the floor', async (t) => {
  const client = await ask(t, 'cone_violation')
  const { findings, summary } = await client.call('diagnose')
  t.match(toRows(findings)[0], { sentence: /body 2 and floor: friction exceeds/, pair: [2, 2147483649] })
  t.match(summary, /body 2 and floor/)
  t.match((await client.call('explain_frame', { frame_id: 30 })).summary, /body 2 and floor/)
})

verifies('replay:coverage', 'checks of one frame and of invariants state their coverage', async (t) => {
  const client = await ask(t, 'era_no_tangents')
  const one = await client.call('check_penetration', { frame_id: 30 })
  t.same(one.laws_checked, ['penetration'])
  t.same(one.not_checked, [])
  const { not_checked, summary } = await client.call('assert_invariants', {
    invariants: { no_findings: 'error' },
  })
  t.ok(toRows(not_checked).some(({ law }) => law === 'friction_cone'))
  t.match(summary, /no_findings covers \d+ laws; not recorded: .*tangential impulses/)
})

verifies('replay:coverage', 'laws of contacts do not apply to a body without any contact', async (t) => {
  const lines = Array.from({ length: 20 }, (_, row) => {
    const [frame, v] = [row + 1, -g * dt * (row + 1)]
    const position = [0, 0, (-g * dt * dt * frame * (frame + 1)) / 2]
    return {
      frame_id: frame,
      time: frame * dt,
      bodies: [{ id: 1, position, velocity: [0, 0, v] }],
      contacts: [],
    }
  })
  const client = await record('alone', [
    { run: { dt, gravity: [0, 0, -g], bodies: [{ id: 1, mass: 1 }] } },
    ...lines,
  ])
  const { checked, not_applicable, summary } = await client.call('diagnose')
  for (const law of ['friction_cone', 'penetration', 'restitution', 'contact_momentum']) {
    t.ok((not_applicable as string[]).includes(law), law)
    t.notOk((checked as string[]).includes(law), law)
  }
  t.ok((checked as string[]).includes('free_motion'))
  t.match(summary, /^Checked 20 frames: \d+ of the \d+ laws that apply.*\. No fault found/)
  t.match(
    (await client.call('check_law', { law: 'restitution' })).summary,
    /^Checked 20 frames: Newton's law of impact does not apply\.$/,
  )
})

verifies(
  'replay:coverage',
  'missing convergence data is not reported as a failure of the solver',
  async (t) => {
    const lines = Array.from({ length: 20 }, (_, row) => ({
      frame_id: row + 1,
      time: (row + 1) * dt,
      bodies: [{ id: 1, position: [0, 0, 0.5], velocity: [0, 0, 0] }],
      contacts: [
        {
          ...{ a: 1, b: 2147483649, normal: [0, 0, -1], depth: 0 },
          points: [{ point: [0, 0, 0], depth: 0, normal_lambda: g * dt }],
        },
      ],
      solver: { iterations: 12, residual: 1e-6, ...(row === 9 && { converged: true }) },
    }))
    const client = await record('iterations', [
      { run: { dt, gravity: [0, 0, -g], bodies: [{ id: 1, mass: 1 }] } },
      ...lines,
    ])
    const answer = await client.call('diagnose')
    t.notOk(toRows(answer.findings).some(({ kind }) => kind === 'solver_stall'))
    t.match(findLaw(answer, 'solver_convergence'), { missing: ['solver diagnostics'] })
    const solver = async (frame_id: number) => (await client.call('get_frame', { frame_id })).solver
    t.match(await solver(1), { iterations: 12, converged: null })
    t.match(await solver(10), { converged: true })
    const diagnostics = await client.call('get_solver_diagnostics', { stalls: true })
    t.match(diagnostics, { converged_judged: 1, not_converged_count: 0 })
    t.match(toRows(diagnostics.diagnostics), [{ converged: null }])
  },
)

const faults = async (name: string, lines: readonly object[]) =>
  listFaults(await recordRun(await opened, name, lines))

/** Options of a box that slides on a floor with friction 0.4. The contact has only one tangent, as in a 2D world. */
interface Slide {
  /** Speed in m/s that the box gains in frame 50 without a cause. */
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
  'momentum along the only tangent is checked, because an impulse of 0 does not need a direction',
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

/** Two discs without friction that collide head-on at 0.4 m/s in frame 20 and separate with `restitution`. */
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
  'a slow impact after which bodies separate faster than they met is reported, but sticking is not',
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
  'a body that accelerates for long without contact is reported with advice to record its force',
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
