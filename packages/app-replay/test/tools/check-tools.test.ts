import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { ask, toRows } from '../replay-kit.ts'

verifies('replay:cone:worked-example', async (t) => {
  const client = await ask(t, 'slide_at_45', {
    change: (db) => {
      db.exec(`DELETE FROM FrictionConstraintRecord WHERE frame_id = 44
        AND id NOT IN (SELECT min(id) FROM FrictionConstraintRecord WHERE frame_id = 44)`)
      db.exec(`UPDATE FrictionConstraintRecord SET friction_coefficient = 0.5, normal_lambda = 98.1,
        tangent1_lambda = 49.04, tangent2_lambda = 0.12 WHERE frame_id = 44`)
    },
  })
  const answer = await client.call('check_friction_cone', { frame_id: 44 })
  const [contact] = toRows(answer.violations)
  const total = Math.hypot(49.04, 0.12)
  const near = (field: string, value: number): boolean => Math.abs(Number(contact?.[field]) - value) < 1e-9
  t.match(contact, { friction_coefficient: 0.5, normal_force: 98.1, exceeds_limit: false })
  t.ok(near('friction_limit', 49.05))
  t.ok(near('total_tangent_force', total))
  t.ok(near('margin', 49.05 - total))
  t.ok(near('utilization', total / 49.05))
  t.match(answer, { violation_count: 0, exceeding: [], epsilon: 0.01 })
  t.equal(
    answer.summary,
    '1 contact checked. 0 violations detected. Body 1 is at friction limit (99.98% of mu*Fn).',
  )
})

verifies('replay:cone:violation', async (t) => {
  const client = await ask(t, 'slide_at_45')
  const answer = await client.call('check_friction_cone', { frame_id: 45 })
  t.match(answer, { violation_count: 4, strict_violation_count: 4, unit: 'N·s', body_id: null })
  t.same(
    toRows(answer.exceeding).map(({ index }) => index),
    [0, 1, 2, 3],
  )
  const unnamed = await client.call('check_friction_cone', { frame_id: 45, body_id: null })
  t.same(unnamed, answer, 'null filters nothing')
  const calm = await client.call('check_friction_cone', { frame_id: 44, body_id: 2147483650 })
  t.match(calm, { violation_count: 0, body_id: 2147483650, violations: { length: 4 } })
})

verifies('replay:cone:strict', async (t) => {
  const client = await ask(t, 'slide_at_45', {
    change: (db) =>
      db.exec(`UPDATE FrictionConstraintRecord SET normal_lambda = 0, tangent1_lambda = 3e-15, tangent2_lambda = 0
        WHERE frame_id = 44`),
  })
  const answer = await client.call('check_friction_cone', { frame_id: 44 })
  t.match(answer, { violation_count: 4, strict_violation_count: 0 })
  t.match(answer.summary, /4 violations detected \(4 within noise of 1e-6\)\.$/)
})

verifies('replay:cone:old-era', async (t) => {
  const client = await ask(t, 'era_no_tangents')
  await t.rejects(client.call('check_friction_cone', { frame_id: 45 }), {
    code: 'NOT_RECORDED',
    data: { wanted: ['tangent_lambdas'], era: 'friction' },
  })
})

t.test('check_friction_cone reports pairs without friction rows', async (t) => {
  const client = await ask(t, 'frictionless')
  const answer = await client.call('check_friction_cone', { frame_id: 50 })
  t.match(answer, { violations: [], pairs_without_friction: 1, summary: /no cone to check/ })
})

verifies('replay:penetration', async (t) => {
  const client = await ask(t, 'penetration')
  const deep = await client.call('check_penetration', { frame_id: 120 })
  const [pair] = toRows(deep.excessive_penetrations)
  t.match(pair, { body_a_id: 2, body_b_id: 2147483649 })
  const depth = Number(pair?.penetration_depth)
  t.ok(depth > 0.01)
  const equal = await client.call('check_penetration', { frame_id: 120, threshold: depth })
  t.match(equal, { excessive_penetrations: [], checked: 1 }, 'the threshold is exclusive')
  await t.rejects(client.call('check_penetration', { frame_id: -1 }), { code: 'FRAME_NOT_FOUND' })
})

verifies('replay:resting', async (t) => {
  const rest = 9.81 * 0.004
  const client = await ask(t, 'drop', {
    change: (db) =>
      db.exec(`UPDATE VelocityRecord SET x = 0, y = 0, z = -${rest} WHERE id = (SELECT velocity_id
        FROM AssetDynamicStateRecord s JOIN InertialStateRecord i ON i.id = s.kinematicState_id
        WHERE s.frame_id = 150)`),
  })
  const answer = await client.call('check_resting_contact', { frame_id: 150 })
  t.match(answer, {
    bodies_in_contact: 1,
    environment_in_contact: 1,
    moving_bodies: [{ body_id: 2, velocity_magnitude: rest, likely_at_rest: true }],
    summary: /g\*dt = 0\.03924 m\/s/,
  })
  const lenient = await client.call('check_resting_contact', { frame_id: 150, velocity_threshold: 0.2 })
  t.match(lenient, { moving_bodies: [], velocity_threshold: 0.2 })
})

verifies('replay:resting:frictionless', async (t) => {
  const client = await ask(t, 'era_no_constraints')
  const answer = await client.call('check_resting_contact', { frame_id: 45 })
  t.match(answer, { bodies_in_contact: 2, environment_in_contact: 1, source: 'collisions' })
  t.match(answer.summary, /No friction rows/)
})

const [floor, flagged] = [1, 2147483649]

verifies('replay:contacts:body', async (t) => {
  const client = await ask(t, 'stack')
  const contacts = async (body_id: number) =>
    toRows((await client.call('get_contacts_for_body', { body_id, frame_id: 60 })).contacts)
  t.equal((await contacts(3)).length, 8, 'the cube in the middle touches two others')
  for (const id of [floor, flagged]) {
    const rows = await contacts(id)
    t.equal(rows.length, 4)
    t.ok(rows.every(({ body_b_id }) => body_b_id === flagged))
  }
})

verifies('replay:unit:impulse', async (t) => {
  const client = await ask(t, 'drop')
  const { contacts, unit } = await client.call('get_contacts_for_body', { body_id: 2, frame_id: 150 })
  const sum = (field: string): number =>
    toRows(contacts).reduce((total, row) => total + Number(row[field]), 0)
  const [mass, g, dt] = [10, 9.81, 0.004]
  t.equal(unit, 'N·s')
  t.ok(Math.abs(sum('normal_lambda') / (mass * g * dt) - 1) < 0.01, 'the recorded impulse of one step')
  t.ok(Math.abs(sum('normal_force_n') / (mass * g) - 1) < 0.01, 'the weight in newtons')
})

t.test('if steps vary, forces in newtons are computed with the step to the frame', async (t) => {
  const client = await ask(t, 'drop', {
    change: (db) =>
      db.exec('UPDATE SimulationFrameRecord SET simulation_time = simulation_time + 0.004 WHERE id >= 150'),
  })
  const rows = async (frame_id: number) =>
    toRows((await client.call('get_contacts_for_body', { body_id: 2, frame_id })).contacts)
  const step = ([row]: Record<string, unknown>[]): number =>
    Number(row?.normal_lambda) / Number(row?.normal_force_n)
  t.ok(Math.abs(step(await rows(150)) - 0.008) < 1e-12)
  t.ok(Math.abs(step(await rows(149)) - 0.004) < 1e-12)
})

verifies('replay:history', async (t) => {
  const client = await ask(t, 'drop')
  const range = { start_frame: 1, end_frame: 150 }
  const one = await client.call('get_contact_history', { body_a_id: 2, body_b_id: floor, ...range })
  const other = await client.call('get_contact_history', { body_a_id: flagged, body_b_id: 2, ...range })
  t.match(one, { frames_with_contact: 67, source: 'friction', run_count: 3, normal_flips: [] })
  t.equal(one.frames_with_contact, other.frames_with_contact, 'in either order')
  t.same(one.runs, other.runs)
  t.match(toRows(one.contact_history)[0], { frame_id: 63, num_contacts: 4 })
  const page = await client.call('get_contact_history', {
    body_a_id: 2,
    body_b_id: floor,
    ...range,
    max_points: 10,
  })
  t.match(page, { truncated: true, frames_with_contact: 67, contact_history: { length: 10 } })
  t.equal(toRows(toRows(page.contact_history)[0]?.contacts).length, 4, 'a few frames include their rows')
})

t.test('get_contact_history finds the contact of a frictionless pair', async (t) => {
  const client = await ask(t, 'frictionless')
  const args = { body_a_id: 2, body_b_id: floor, start_frame: 1, end_frame: 100 }
  const answer = await client.call('get_contact_history', args)
  t.match(answer, { source: 'collisions', frames_with_contact: 100, summary: /no friction rows/ })
  const contacts = await client.call('get_contacts_for_body', { body_id: 2, frame_id: 50 })
  t.match(contacts, { contacts: [], source: 'collisions', collisions: [{ body_b_id: flagged }] })
})

t.test('get_contact_history rejects a body paired with itself and a reversed range', async (t) => {
  const client = await ask(t, 'drop')
  const call = (args: object) => client.call('get_contact_history', { start_frame: 1, end_frame: 9, ...args })
  await t.rejects(call({ body_a_id: floor, body_b_id: flagged }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(call({ body_a_id: 2, body_b_id: 1, start_frame: 10 }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(call({ body_a_id: 2, body_b_id: 77 }), { code: 'BODY_NOT_FOUND', data: { body_id: 77 } })
})

t.test('contact tools reject a recording without contact data', async (t) => {
  const client = await ask(t, 'era_states_only')
  const failing = { code: 'NOT_RECORDED', data: { era: 'inertial' } }
  await t.rejects(client.call('get_contacts_for_body', { body_id: 1, frame_id: 1 }), failing)
  await t.rejects(client.call('check_resting_contact', { frame_id: 1 }), failing)
  await t.rejects(client.call('check_penetration', { frame_id: 1 }), failing)
  await t.rejects(client.call('get_solver_diagnostics'), { code: 'NOT_RECORDED' })
})

verifies('replay:solver:range', async (t) => {
  const client = await ask(t, 'solver_stall')
  const answer = await client.call('get_solver_diagnostics')
  const frames = toRows(answer.diagnostics).map(({ frame_id }) => frame_id)
  t.same([frames[0], frames.at(-1), frames.length], [1, 80, 80])
  t.match(answer, { start_frame: 1, end_frame: 80, max_residual_frame: 39 })
})

t.test('get_solver_diagnostics names the frames in which the solver stalled', async (t) => {
  const client = await ask(t, 'solver_stall')
  const answer = await client.call('get_solver_diagnostics')
  t.same(answer.not_converged, [30, 31, 32, 33, 34, 35, 36, 37, 38, 39])
  t.match(answer.summary, /not converged in 10 \(30, 31, 32, 33, 34 and 5 more\)/)
})

verifies('replay:energy:body', async (t) => {
  const client = await ask(t, 'drop')
  const answer = await client.call('get_body_energy', { body_id: 2, start_frame: 10, end_frame: 12 })
  const points = toRows(answer.energy_points)
  t.same(
    points.map(({ frame_id }) => frame_id),
    [10, 11, 12],
  )
  for (const { linear_ke, rotational_ke, potential_e, total_e } of points)
    t.ok(Math.abs(Number(linear_ke) + Number(rotational_ke) + Number(potential_e) - Number(total_e)) < 1e-9)
})

verifies('replay:energy:system', async (t) => {
  const client = await ask(t, 'drop')
  const answer = await client.call('get_system_energy', { start_frame: 62, end_frame: 63 })
  const [before, after] = toRows(answer.energy_points)
  t.ok(
    Math.abs(Number(after?.total_system_e) - Number(before?.total_system_e) - Number(after?.delta_e)) < 1e-9,
  )
  t.match(answer, { totals: { count: 2, min_frame: 63, max_frame: 62 }, start_frame: 62, end_frame: 63 })
  t.match(after, { collision_active: true, energy_injection: false })
})

verifies('replay:energy:bucketed', async (t) => {
  const client = await ask(t, 'slide_at_45')
  const first = await client.call('get_system_energy', { max_points: 20 })
  t.ok(toRows(first.energy_points).length <= 20)
  t.ok(
    toRows(first.energy_points).some(({ frame_id }) => frame_id === 45),
    'the peak is included',
  )
  t.match(first, { bucketed: true, truncated: true, totals: { count: 120, max_frame: 45 } })
  const seen: unknown[] = []
  let cursor = first.next_cursor
  while (typeof cursor === 'string') {
    const page = await client.call('get_system_energy', { max_points: 50, cursor })
    t.same(page.totals, first.totals, 'the totals are those of the whole range')
    seen.push(...toRows(page.energy_points).map(({ frame_id }) => frame_id))
    cursor = page.next_cursor
  }
  t.same(
    seen,
    Array.from({ length: 120 }, (_, index) => index + 1),
  )
})

verifies('replay:anomalies:threshold', async (t) => {
  const client = await ask(t, 'drop')
  const all = toRows((await client.call('get_system_energy')).energy_points)
  const landing = Math.abs(Number(all[62]?.delta_e))
  const frames = async (threshold: number): Promise<unknown[]> =>
    toRows((await client.call('find_energy_anomalies', { threshold })).anomalies).map(
      ({ frame_id }) => frame_id,
    )
  t.same(await frames(landing * (1 - 1e-12)), [1, 63])
  t.same(await frames(landing), [1], 'a change equal to the threshold does not count')
  t.same(await frames(1e6), [])
})

verifies('replay:anomalies:kind', async (t) => {
  const client = await ask(t, 'late_spawn')
  const answer = await client.call('find_energy_anomalies', { threshold: 1 })
  t.match(toRows(answer.anomalies), [
    { frame_id: 1, kind: 'baseline' },
    { frame_id: 40, kind: 'baseline', per_body: [{ body_id: 3 }] },
    { frame_id: 65, kind: 'impact_loss', per_body: [{ body_id: 3 }] },
  ])
  t.match(answer, { count: 1, counts: { baseline: 2, impact_loss: 1 } })
  t.match(answer.summary, /^1 anomaly .* 1 loss in contact .*frame 65\)\. 2 baseline steps/)
})

t.test('find_energy_anomalies names the bodies that cause a change and the pairs in contact', async (t) => {
  const client = await ask(t, 'slide_at_45')
  const { anomalies } = await client.call('find_energy_anomalies')
  const step = toRows(anomalies).find(({ frame_id }) => frame_id === 45)
  t.match(step, { kind: 'injection', since_frame: 44, pairs: [{ body_a_id: 1, body_b_id: 2147483650 }] })
  const [body] = toRows(step?.per_body)
  t.equal(body?.body_id, 1)
  t.ok(Math.abs(Number(body?.delta_e) - Number(step?.delta_e)) < 1e-9, 'it is the only body')
})

t.test('energies of a diverged run do not overflow', async (t) => {
  const client = await ask(t, 'drop', {
    change: (db) =>
      db.exec('UPDATE SystemEnergyRecord SET total_system_e = 2e195, delta_e = 2e195 WHERE frame_id = 70'),
  })
  t.match(await client.call('get_system_energy'), { totals: { max: 2e195, max_frame: 70 } })
  const answer = await client.call('find_energy_anomalies')
  t.match(answer.summary, /largest: 2e195 J in frame 70/)
})

t.test('get_system_energy rejects invalid cursors and ranges outside the recording', async (t) => {
  const client = await ask(t, 'drop')
  await t.rejects(client.call('get_system_energy', { cursor: '12' }), { code: 'INVALID_CURSOR' })
  await t.rejects(client.call('get_system_energy', { start_frame: 151 }), {
    code: 'FRAME_NOT_FOUND',
    data: { first_frame: 1, last_frame: 150 },
  })
})

t.test('find_energy_anomalies stops on cancellation', async (t) => {
  const client = await ask(t, 'drop')
  const signal = AbortSignal.abort()
  await t.rejects(client.call('find_energy_anomalies', { threshold: 0 }, { signal }))
})

verifies(
  'replay:range-checks',
  'check_friction_cone groups consecutive violations if end_frame is given',
  async (t) => {
    const client = await ask(t, 'cone_violation')
    const answer = await client.call('check_friction_cone', { frame_id: 1, end_frame: 100 })
    t.match(answer, { count: 1, frames_checked: 100 })
    t.match(toRows(answer.violations), [{ frames: { first: 20, last: 60 }, pair: [2, 2147483649] }])
    const other = await client.call('check_friction_cone', { frame_id: 1, end_frame: 100, body_id: 1 })
    t.equal(other.count, 1, 'the environment is included')
  },
)

verifies(
  'replay:range-checks',
  'check_penetration uses its threshold for runs if end_frame is given',
  async (t) => {
    const client = await ask(t, 'penetration')
    const run = async (threshold: number) =>
      toRows(
        (await client.call('check_penetration', { frame_id: 1, end_frame: 120, threshold }))
          .excessive_penetrations,
      )
    const [deep] = await run(0.01)
    t.match(deep, { frames: { first: 70, last: 120, peak: 120 }, unit: 'm' })
    const [shallow] = await run(0.005)
    const { first } = (shallow?.frames ?? { first: 70 }) as { first: number }
    t.ok(first < 70)
    t.same(await run(1), [])
  },
)

verifies(
  'replay:range-checks',
  'check_resting_contact does not find jitter or creep in a stack at rest',
  async (t) => {
    const client = await ask(t, 'stack')
    t.same((await client.call('check_resting_contact', { frame_id: 1, end_frame: 60 })).moving_bodies, [])
  },
)

verifies('replay:laws', 'check_numerics reports missing numbers of a body as one run', async (t) => {
  const client = await ask(t, 'nan')
  const answer = await client.call('check_numerics')
  t.match(toRows(answer.runs), [{ kind: 'nan', bodies: [3], frames: { first: 50, last: 80 } }])
  t.equal(answer.count, 1)
})

verifies('replay:laws', 'check_momentum finds a jump of speed without an impulse', async (t) => {
  const client = await ask(t, 'energy_injection')
  const [run] = toRows((await client.call('check_momentum')).runs)
  const { findings, frames_checked } = await client.call('diagnose', { law: 'momentum' })
  t.match(toRows(findings)[0], run as object, 'diagnose returns the same for this law')
  t.ok(Number(frames_checked) > 0)
  t.match(run, { kind: 'energy_injection', bodies: [2], frames: { first: 60, last: 60 }, unit: 'J' })
})

verifies('replay:laws', 'check_restitution reports a recording without normal constraints', async (t) => {
  const client = await ask(t, 'era_states_only')
  const answer = await client.call('check_restitution')
  t.match(answer, {
    checked: [],
    not_checked: [{ law: 'restitution' }],
    summary: /could not be checked completely \(not recorded: contacts, .*\)\. Nothing can be said about/,
  })
})
