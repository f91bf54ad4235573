import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { ask, rowsOf } from '../replay-kit.ts'

const [floor, flagged] = [1, 2147483649]

verifies('replay:contacts:body', async (t) => {
  const client = await ask(t, 'stack')
  const contacts = async (body_id: number) =>
    rowsOf((await client.call('get_contacts_for_body', { body_id, frame_id: 60 })).contacts)
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
    rowsOf(contacts).reduce((total, row) => total + Number(row[field]), 0)
  const [mass, g, dt] = [10, 9.81, 0.004]
  t.equal(unit, 'N·s')
  t.ok(Math.abs(sum('normal_lambda') / (mass * g * dt) - 1) < 0.01, 'as recorded: the impulse of one step')
  t.ok(Math.abs(sum('normal_force_n') / (mass * g) - 1) < 0.01, 'in newtons: the weight')
})

t.test('newtons: where steps are not uniform, the step that led to the frame counts', async (t) => {
  const client = await ask(t, 'drop', {
    change: (db) =>
      db.exec('UPDATE SimulationFrameRecord SET simulation_time = simulation_time + 0.004 WHERE id >= 150'),
  })
  const rows = async (frame_id: number) =>
    rowsOf((await client.call('get_contacts_for_body', { body_id: 2, frame_id })).contacts)
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
  t.match(rowsOf(one.contact_history)[0], { frame_id: 63, num_contacts: 4 })
  const page = await client.call('get_contact_history', {
    body_a_id: 2,
    body_b_id: floor,
    ...range,
    max_points: 10,
  })
  t.match(page, { truncated: true, frames_with_contact: 67, contact_history: { length: 10 } })
  t.equal(rowsOf(rowsOf(page.contact_history)[0]?.contacts).length, 4, 'few frames come with their rows')
})

t.test('get_contact_history: a frictionless pair is in contact all the same', async (t) => {
  const client = await ask(t, 'frictionless')
  const args = { body_a_id: 2, body_b_id: floor, start_frame: 1, end_frame: 100 }
  const answer = await client.call('get_contact_history', args)
  t.match(answer, { source: 'collisions', frames_with_contact: 100, summary: /no friction rows/ })
  const contacts = await client.call('get_contacts_for_body', { body_id: 2, frame_id: 50 })
  t.match(contacts, { contacts: [], source: 'collisions', collisions: [{ body_b_id: flagged }] })
})

t.test('get_contact_history: a body paired with itself, and a reversed range, are refused', async (t) => {
  const client = await ask(t, 'drop')
  const call = (args: object) => client.call('get_contact_history', { start_frame: 1, end_frame: 9, ...args })
  await t.rejects(call({ body_a_id: floor, body_b_id: flagged }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(call({ body_a_id: 2, body_b_id: 1, start_frame: 10 }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(call({ body_a_id: 2, body_b_id: 77 }), { code: 'BODY_NOT_FOUND', data: { body_id: 77 } })
})

t.test('contacts: an era that has none is not answered as free of contact', async (t) => {
  const client = await ask(t, 'era_states_only')
  const failing = { code: 'NOT_RECORDED', data: { era: 'inertial' } }
  await t.rejects(client.call('get_contacts_for_body', { body_id: 1, frame_id: 1 }), failing)
  await t.rejects(client.call('check_resting_contact', { frame_id: 1 }), failing)
  await t.rejects(client.call('check_penetration', { frame_id: 1 }), failing)
  await t.rejects(client.call('get_solver_diagnostics'), { code: 'NOT_RECORDED' })
})
