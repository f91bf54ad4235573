/** Verdicts name the laws that were checked, and those that the recorded data did not allow. */
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { lawTable } from '../src/domain/coverage/law-table.ts'
import { ask, openReplay, recordRun, toRows } from './replay-kit.ts'

const [g, dt] = [9.81, 0.01]
const opened = openReplay(t, [])

const record = async (name: string, lines: readonly object[]) => recordRun(await opened, name, lines)

const findLaw = (answer: Readonly<Record<string, unknown>>, law: string) =>
  toRows(answer.not_checked).find((one) => one.law === law)

verifies('replay:coverage', 'diagnose names each law as checked, not checked, or both', async (t) => {
  const answer = await (await ask(t, 'drop')).call('diagnose')
  const named = new Set([
    ...(answer.checked as string[]),
    ...(answer.not_applicable as string[]),
    ...toRows(answer.not_checked).map(({ law }) => law),
  ])
  t.same([...named].sort(), Object.keys(lawTable).sort())
  t.match(answer.summary, /^150 frames checked against /)
})

verifies('replay:coverage', 'diagnose of states alone claims nothing about contacts or energy', async (t) => {
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

verifies('replay:coverage', 'a recording without frames is checked against no law', async (t) => {
  const answer = await (await ask(t, 'zero_frames')).call('diagnose')
  t.same(answer.checked, [])
  t.match(findLaw(answer, 'finite_numbers'), { frames: { first: null, last: null }, missing: ['frames'] })
  t.match(answer.summary, /^0 frames checked against 0 of/)
})

verifies('replay:coverage', 'data that a body lacks for a while is named with body and frames', async (t) => {
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

verifies('replay:coverage', 'sentences name the environment', async (t) => {
  const client = await ask(t, 'cone_violation')
  const { findings, summary } = await client.call('diagnose')
  t.match(toRows(findings)[0], { sentence: /body 2 and floor: friction exceeds/, pair: [2, 2147483649] })
  t.match(summary, /body 2 and floor/)
  t.match((await client.call('explain_frame', { frame_id: 30 })).summary, /body 2 and floor/)
})

verifies('replay:coverage', 'checks of one frame and invariants state their coverage', async (t) => {
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

verifies('replay:coverage', 'laws of contacts do not apply to a body that touches nothing', async (t) => {
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
  t.match(summary, new RegExp(`; ${(not_applicable as string[]).length} laws did not apply: no fault found`))
  t.match(
    (await client.call('check_law', { law: 'restitution' })).summary,
    /^20 frames checked: Newton's law of impact did not apply\.$/,
  )
})

verifies('replay:coverage', 'convergence that was not recorded is not a failure of the solver', async (t) => {
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
})
