import { copyFileSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { frameLine, frameLines, runLine, streamLines } from '../../../recording/test/run-lines.ts'
import replay from '../../src/index.ts'
import type { ReplayStore } from '../../src/store/store.ts'
import { ask, edit, fixtures, openReplay, toRows } from '../replay-kit.ts'

verifies('replay:frame', async (t) => {
  const client = await ask(t, 'drop')
  const frame = await client.call('get_frame', { frame_id: 150 })
  t.match(frame, {
    frame_id: 150,
    simulation_time: 0.6,
    states: [{ body_id: 2 }],
    collisions: [{ body_a_id: 2, body_b_id: 2147483649, normal: { z: -1 }, contacts: { length: 4 } }],
    friction_constraints: { length: 4 },
    solver: { converged: true, num_contacts: 1, num_constraints: 8 },
    counts: { states: 1, friction_constraints: 4 },
    truncated: false,
  })
})

t.test('with details, get_frame adds constraints, forces, body energies and accelerations', async (t) => {
  const client = await ask(t, 'stack')
  const short = await client.call('get_frame', { frame_id: 60 })
  const whole = await client.call('get_frame', { frame_id: 60, details: true })
  const { contact_constraints, external_forces, body_energies, states, counts, ...rest } = whole
  const { states: shortStates, counts: shortCounts, ...shortRest } = short
  t.same(shortRest, rest)
  t.same(
    toRows(states).map(({ acceleration, ...state }) => state),
    shortStates,
  )
  t.ok(toRows(states).every(({ acceleration }) => acceleration !== undefined))
  t.equal(toRows(contact_constraints).length, 12)
  t.equal(toRows(body_energies).length, 3)
  t.same(counts, {
    ...(shortCounts as object),
    contact_constraints: 12,
    external_forces: 0,
    body_energies: 3,
  })
  t.ok(JSON.stringify(short).length < 0.7 * JSON.stringify(whole).length)
})

t.test('get_frame truncates long lists and returns their full lengths', async (t) => {
  const client = await ask(t, 'stack')
  const frame = await client.call('get_frame', { frame_id: 60, max_points: 2 })
  t.match(frame, { truncated: true, counts: { states: 3, friction_constraints: 12 } })
  t.equal(toRows(frame.states).length, 2)
  t.match(frame.summary, /max_points/)
})

verifies('replay:body:state', async (t) => {
  const client = await ask(t, 'drop')
  const [start, dt, g] = [0.8, 0.004, 9.81]
  const state = await client.call('get_body_state', { frame_id: 10, body_id: 2 })
  const { position, velocity } = state as Record<string, { z: number }>
  t.ok(Math.abs((velocity?.z ?? 0) + g * 10 * dt) < 1e-9, 'free fall from rest')
  t.ok(
    Math.abs((position?.z ?? 0) - (start - g * dt * dt * 55)) < 1e-9,
    'symplectic Euler: the sum of 1..10 steps',
  )
  t.match(state, { orientation: { w: 1 }, angular_velocity: { x: 0, y: 0, z: 0 }, angular_speed: 0 })
})

t.test('get_body_state reports the frame in which a missing body appears', async (t) => {
  const client = await ask(t, 'late_spawn')
  await t.rejects(client.call('get_body_state', { frame_id: 39, body_id: 3 }), {
    code: 'BODY_NOT_FOUND',
    data: { body_id: 3, bodies: [2], first_frame: 40 },
  })
  t.match(await client.call('get_body_state', { frame_id: 40, body_id: 3 }), { body_id: 3 })
})

t.test('get_body_state does not return a state for the floor', async (t) => {
  const client = await ask(t, 'drop')
  await t.rejects(client.call('get_body_state', { frame_id: 100, body_id: 1 }), {
    code: 'BODY_NOT_FOUND',
    data: { bodies: [2] },
  })
})

verifies('replay:compare', async (t) => {
  const client = await ask(t, 'drop')
  const [a, b, dt, g] = [10, 30, 0.004, 9.81]
  const answer = await client.call('compare_body_across_frames', { body_id: 2, frame_a: a, frame_b: b })
  const { velocity_delta } = answer as { velocity_delta: { z: number } }
  t.ok(Math.abs(velocity_delta.z + g * dt * (b - a)) < 1e-9)
  t.ok(Math.abs(Number(answer.elapsed_time) - dt * (b - a)) < 1e-12)
  t.match(answer, { orientation_angle: 0, angular_velocity_delta: { x: 0, y: 0, z: 0 } })
  t.match(answer.summary, /^Body 2 moved .* in Z.*faster/)
  const landing = await client.call('compare_body_across_frames', { body_id: 2, frame_a: 1, frame_b: 150 })
  t.match(landing.contact_delta, { contacts_a: 0, contacts_b: 4, gained: [2147483649], lost: [] })
})

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
  t.equal(Object.keys(calls).length, 13, 'every tool except list_recordings and load_recording')
  t.ok(app.changes.includes('resources'), 'the opened recording is announced')
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

t.test('an explicit recording overrides the loaded one without replacing it', async (t) => {
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
    toRows(answer.bodies).map(({ body_id, mass }) => [body_id, mass]),
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

t.test('load_recording returns the numbers of bodies and frames, and the missing parts', async (t) => {
  const { client } = await openReplay(t, ['era_no_tangents'])
  const answer = await client().call('load_recording', { path: 'era_no_tangents' })
  t.match(answer, { loaded: true, bodies: 2, total_frames: 45, missing: ['tangent_lambdas', 'geometry'] })
  t.match(answer.summary, /2 bodies, 45 frames.*tangent_lambdas/)
})

t.test('list_recordings returns pages', async (t) => {
  const { client } = await openReplay(t, ['drop', 'nan', 'stack'])
  const first = await client().call('list_recordings', { max_points: 2 })
  t.match(first, { count: 3, truncated: true, recordings: { length: 2 } })
  t.match(first.recordings, [{ recording: 'drop', modified: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ }])
  const rest = await client().call('list_recordings', { max_points: 2, cursor: first.next_cursor })
  t.match(rest, { recordings: [{ recording: 'stack' }], next_cursor: null })
})

t.test('a recording of 0 frames has empty series and null frame ids', async (t) => {
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

verifies('replay:tail', 'tail_recording returns each new frame of a growing run once', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as ReplayStore
  const one = client()
  await recorder.write('run', streamLines([runLine, ...frameLines(1, 8)]))
  const first = await one.call('tail_recording', { recording: 'run', limit: 5 })
  t.match(first, { status: 'live', last_frame: 8, next_frame: 8, more: false })
  t.same(
    toRows(first.frames).map(({ frame_id }) => frame_id),
    [4, 5, 6, 7, 8],
  )
  t.match(toRows(first.frames)[2], { frame_id: 6, pairs_in_contact: 1, converged: true, fastest_body: 1 })
  const none = await one.call('tail_recording', { recording: 'run', after_frame: 8 })
  t.match(none, { frames: [], next_frame: 8, more: false })
  await recorder.write('run', streamLines([...frameLines(9, 10), frameLine(20)]))
  await recorder.finish('run')
  const next = await one.call('tail_recording', { recording: 'run', after_frame: 8, limit: 2 })
  t.match(next, { status: 'finished', last_frame: 20, next_frame: 10, more: true })
  const rest = await one.call('tail_recording', { recording: 'run', after_frame: next.next_frame })
  t.same(
    toRows(rest.frames).map(({ frame_id }) => frame_id),
    [20],
    'across a gap in the ids',
  )
})

verifies('replay:tail', 'tail_recording returns frames without energies and with gaps', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as ReplayStore
  const one = client()
  const bare = (id: number): string =>
    JSON.stringify({ frame_id: id, bodies: [{ id: 1, position: [0, 0, id], velocity: [0, 0, 1] }] })
  const seen: unknown[] = []
  let after: unknown = 0
  /** Reads pages of two frames. */
  const follow = async (pages: number): Promise<void> => {
    for (let i = 0; i < pages; i++) {
      const asked = { recording: 'run', after_frame: after, limit: 2 }
      const { frames, next_frame, more } = await one.call('tail_recording', asked)
      seen.push(...toRows(frames).map(({ frame_id }) => frame_id))
      after = next_frame
      t.equal(more, i < pages - 1)
    }
  }
  await recorder.write('run', streamLines([2, 4, 6, 8, 10].map(bare)))
  await follow(3)
  // The frames after this have energies.
  await recorder.write(
    'run',
    streamLines([bare(12), '{"run": {"bodies": [{"id": 1, "mass": 1}]}}', bare(14)]),
  )
  await follow(1)
  t.same(seen, [2, 4, 6, 8, 10, 12, 14])
})

verifies('replay:tail', 'tail_recording copies a changed file of another recorder again', async (t) => {
  const { folder, client } = await openReplay(t, ['drop'])
  const one = client()
  t.match(await one.call('tail_recording', { recording: 'drop' }), { status: 'file', more: false })
  copyFileSync(join(fixtures, 'stack.db'), join(folder, 'drop.db'))
  t.match(await one.call('tail_recording', { recording: 'drop' }), { reloaded: true })
})

verifies('replay:tail', 'tail_recording returns incomplete frames only in the next call', async (t) => {
  const { client } = await openReplay(t, ['drop'], {
    change: (db) => {
      const last = db.prepare('SELECT max(id) FROM SimulationFrameRecord').pluck().get()
      db.prepare('DELETE FROM SystemEnergyRecord WHERE frame_id > ?').run(Number(last) - 3)
    },
  })
  const one = client()
  const { total_frames } = await one.call('get_metadata', { recording: 'drop' })
  t.match(await one.call('tail_recording', { recording: 'drop' }), { last_frame: Number(total_frames) - 3 })
})

verifies(
  'replay:tail:announced',
  'clients are notified of frames/latest several times, but not for every flush',
  async (t) => {
    const { app } = await openReplay(t, [])
    const { recorder } = app.store as ReplayStore
    for (let id = 1; id <= 20; id++)
      await recorder.write('run', streamLines([frameLine(id, { contacts: [] })]))
    const uri = 'replay://recordings/run/frames/latest'
    const announced = () => app.changes.filter((change) => change === uri).length
    const deadline = Date.now() + 10_000
    while (announced() < 2 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
    t.ok(announced() >= 2, 'the last flush is announced')
    t.ok(announced() < 20, `${announced()} announcements of 20 flushes`)
  },
)

t.test('list_recordings lists live and finished runs of the recorder as recordings', async (t) => {
  const { app, client } = await openReplay(t, ['drop'])
  const { recorder } = app.store as ReplayStore
  const one = client()
  await recorder.write('run', streamLines([runLine, ...frameLines(1, 3)]))
  const list = async () => {
    const { count, recordings, others } = await one.call('list_recordings')
    const found = toRows(recordings).map(({ recording, total_frames, status }) => [
      recording,
      total_frames,
      status,
    ])
    t.equal(count, found.length)
    t.same(others, [])
    return found.toSorted()
  }
  t.same(await list(), [
    ['drop', 150, undefined],
    ['run', 3, 'live'],
  ])
  await recorder.write('run', streamLines(frameLines(4, 5)))
  await recorder.finish('run')
  t.same(await list(), [
    ['drop', 150, undefined],
    ['run', 5, 'finished'],
  ])
})

verifies('replay:list:sizes', async (t) => {
  const { app, client, folder } = await openReplay(t, ['drop', 'stack'])
  const { recorder, runs } = app.store as ReplayStore
  const one = client()
  const list = async () => {
    const { recordings } = await one.call('list_recordings')
    return toRows(recordings).map(({ recording, era, bodies, duration_s }) => [
      ...[recording, era, bodies, duration_s],
    ])
  }
  const unknown = [undefined, undefined, undefined]
  t.same((await list()).toSorted(), [
    ['drop', ...unknown],
    ['stack', ...unknown],
  ])
  const { era, bodies, first_time_s, last_time_s } = await one.call('get_metadata', { recording: 'drop' })
  const drop = ['drop', era, toRows(bodies).length, Number(last_time_s) - Number(first_time_s)]
  t.same((await list()).toSorted(), [drop, ['stack', ...unknown]])
  await recorder.write('run', streamLines([runLine, ...frameLines(1, 3)]))
  t.same((await list())[0], ['run', 'run', undefined, undefined], 'a live run')
  await recorder.finish('run')
  await runs.waitUntilSettled()
  const run = await one.call('get_metadata', { recording: 'run' })
  const seconds = Number(run.last_time_s) - Number(run.first_time_s)
  t.same((await list())[0], ['run', 'run', toRows(run.bodies).length, seconds], 'a finished run')
  edit(join(folder, 'drop.db'), (db) => db.exec('DELETE FROM SimulationFrameRecord WHERE id > 100'))
  t.same(
    (await list()).find(([id]) => id === 'drop'),
    ['drop', ...unknown],
    'a file that changed',
  )
})

t.test('for a run with gaps, only the first and last frame ids are offered as completions', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as ReplayStore
  await recorder.write('gaps', streamLines([runLine, ...frameLines(2, 3), frameLine(7)]))
  await recorder.write('whole', streamLines([runLine, ...frameLines(2, 4)]))
  const context = { store: app.store, session: {}, signal: new AbortController().signal, progress: () => {} }
  const frames = replay.resources.find(({ template }) => template.text.endsWith('{frame_id}'))
  const complete = (recording: string) => frames?.complete('frame_id', { recording }, context as never)
  t.same(await complete('gaps'), ['latest', '2', '7'])
  t.same(await complete('whole'), ['latest', '2', '3', '4'])
  t.same((await frames?.complete('recording', {}, context as never))?.toSorted(), ['gaps', 'whole'])
  const one = client()
  t.match(await one.call('get_metadata', { recording: 'gaps' }), {
    total_frames: 3,
    first_frame: 2,
    last_frame: 7,
    contiguous: false,
  })
  t.match(await one.call('get_metadata', { recording: 'whole' }), { total_frames: 3, contiguous: true })
})

t.test('timeline returns 50 events and a cursor for the rest', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as ReplayStore
  // The ball touches the floor in every third frame.
  await recorder.write('run', streamLines([runLine, ...frameLines(1, 240)]))
  await recorder.finish('run')
  const one = client()
  const asked = { recording: 'run', kinds: ['contact_begin'] }
  const first = await one.call('timeline', asked)
  t.equal(toRows(first.events).length, 50)
  const rest = await one.call('timeline', { ...asked, cursor: first.next_cursor })
  t.equal(toRows(rest.events).length, 30)
  t.equal(rest.next_cursor, null)
})

t.test('close waits until the files of live runs are closed', async (t) => {
  const { app, folder } = await openReplay(t, [])
  const files = () => globSync('data/**/run.db*', { cwd: join(folder, '..') }).map((file) => basename(file))
  await (app.store as ReplayStore).recorder.write('run', streamLines([runLine, ...frameLines(1, 3)]))
  t.ok(files().includes('run.db-wal'))
  await app.close()
  t.same(files().sort(), ['run.db', 'run.db.initialized'], 'the last connection removes the write-ahead log')
})
