import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { ask, openReplay, rowsOf } from '../replay-kit.ts'

verifies('replay:load:failure-keeps', async (t) => {
  const { client } = await openReplay(t, ['drop', 'not_a_database'])
  const one = client()
  await one.call('load_recording', { path: 'drop' })
  await t.rejects(one.call('load_recording', { path: 'not_a_database.db' }), { code: 'NOT_A_DATABASE' })
  await t.rejects(one.call('load_recording', { path: 'missing' }), { code: 'RECORDING_NOT_FOUND' })
  t.match(await one.call('get_metadata'), { recording: 'drop' })
})

verifies('replay:session:named', async (t) => {
  const { client, app } = await openReplay(t, ['drop'])
  const one = client()
  await one.call('load_recording', { path: 'drop' })
  const calls: Record<string, object> = {
    get_metadata: {},
    get_frame: { frame_id: 100 },
    get_body_state: { frame_id: 100, body_id: 2 },
    get_contacts_for_body: { frame_id: 100, body_id: 2 },
    get_body_energy: { body_id: 2 },
    get_system_energy: {},
    find_energy_anomalies: {},
    compare_body_across_frames: { body_id: 2, frame_a: 1, frame_b: 2 },
    get_contact_history: { body_a_id: 2, body_b_id: 1, start_frame: 1, end_frame: 150 },
    get_solver_diagnostics: {},
    check_friction_cone: { frame_id: 100 },
    check_penetration: { frame_id: 100 },
    check_resting_contact: { frame_id: 100 },
  }
  t.equal(Object.keys(calls).length, 13, 'every tool but list and load')
  t.ok(app.changes.includes('resources'), 'and the loaded recording is announced')
  for (const [tool, args] of Object.entries(calls))
    t.match(await one.call(tool, args), { recording: 'drop', summary: /\w/ }, tool)
})

verifies('replay:session:shared-hint', async (t) => {
  const { client } = await openReplay(t, ['drop'])
  const shared = await client({ shared: true }).call('load_recording', { path: 'drop' })
  t.match(shared.summary, /pass recording: "drop"/)
  const own = await client().call('load_recording', { path: 'drop' })
  t.notMatch(own.summary, /pass recording/)
})

t.test('recording: an explicit one wins over the active one, and leaves it as it was', async (t) => {
  const { client } = await openReplay(t, ['drop', 'stack'])
  const one = client()
  await one.call('load_recording', { path: 'drop.db' })
  t.match(await one.call('get_metadata', { recording: 'stack.db' }), { recording: 'stack' })
  t.match(await one.call('get_metadata'), { recording: 'drop' })
})

verifies('replay:metadata', async (t) => {
  const client = await ask(t, 'late_spawn')
  const answer = await client.call('get_metadata')
  t.same(
    rowsOf(answer.bodies).map(({ body_id, mass }) => [body_id, mass]),
    [
      [2, 10],
      [3, 4],
    ],
  )
  t.match(answer, {
    total_frames: 100,
    environment_bodies: [{ body_id: 2147483649, instance_id: 1 }],
    dt_s: 0.004,
    lambda_unit: 'N·s',
    missing: ['geometry'],
  })
})

t.test(
  'load_recording: tells bodies, frames and what the file lacks, and reports its progress',
  async (t) => {
    const { client } = await openReplay(t, ['era_no_tangents'])
    const answer = await client().call('load_recording', { path: 'era_no_tangents' })
    t.match(answer, { loaded: true, bodies: 2, total_frames: 45, missing: ['tangent_lambdas', 'geometry'] })
    t.match(answer.summary, /2 bodies, 45 frames.*tangent_lambdas/)
  },
)

t.test('list_recordings: is paged', async (t) => {
  const { client } = await openReplay(t, ['drop', 'nan', 'stack'])
  const first = await client().call('list_recordings', { max_points: 2 })
  t.match(first, { count: 3, truncated: true, recordings: { length: 2 } })
  const rest = await client().call('list_recordings', { max_points: 2, cursor: first.next_cursor })
  t.match(rest, { recordings: [{ recording: 'stack' }], next_cursor: null })
})

t.test('a recording of 0 frames: its frames are not found, its series are empty', async (t) => {
  const client = await ask(t, 'zero_frames')
  t.match(await client.call('get_metadata'), {
    total_frames: 0,
    first_frame: null,
    last_frame: null,
    contiguous: true,
  })
  t.match(await client.call('get_system_energy'), { energy_points: [], totals: { count: 0 } })
  await t.rejects(client.call('get_frame', { frame_id: 1 }), { code: 'FRAME_NOT_FOUND' })
})
