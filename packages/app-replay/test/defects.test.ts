/** Regression tests for defects of an earlier program that read the same recordings. */
import { join } from 'node:path'
import { isCausewayError, toErrorObject } from '@causeway/protocol'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { describeMovingSurfaces } from '../src/domain/coverage/coarse-data.ts'
import { budgetLaw } from '../src/domain/laws/motion/budget-law.ts'
import { getError, RoundingMeter } from '../src/domain/steps/rounding.ts'
import type { ReplayStore } from '../src/store/store.ts'
import { createFrames, dt, floor, g, runLaw, type SceneSpec } from './domain/law-kit.ts'
import { ask, edit, fixtures, openReplay, recordLines, recordRun, toRows } from './replay-kit.ts'

/** Records the names of the recording methods that are called, and the ranges of analyses. */
function watched(store: ReplayStore, asked: string[]): ReplayStore {
  const open = store.open.bind(store)
  return Object.assign(store, {
    async open(...args: Parameters<ReplayStore['open']>) {
      const { recording, reloaded } = await open(...args)
      const handler: ProxyHandler<typeof recording> = {
        get(target, name) {
          const member = Reflect.get(target, name)
          if (typeof member !== 'function') return member
          return (...args: unknown[]) => {
            const range = name === 'analyse' ? JSON.stringify((args[1] as { range: object }).range) : ''
            asked.push(`${String(name)}${range}`)
            return member.apply(target, args)
          }
        },
      }
      return { recording: new Proxy(recording, handler), reloaded }
    },
  })
}

verifies('replay:defect:speed', async (t) => {
  const asked: string[] = []
  const client = await ask(t, 'drop', { wrap: (store) => watched(store, asked) })
  const questions = async (tool: string, args: object): Promise<string[]> => {
    asked.length = 0
    await client.call(tool, args)
    return [...asked]
  }
  t.same(await questions('get_frame', { frame_id: 100 }), ['frame'])
  t.same(
    await questions('check_penetration', { frame_id: 100 }),
    ['frame', 'analyse{"start":100,"end":100}'],
    'the coverage is that of the frame',
  )
  t.same(await questions('get_solver_diagnostics', {}), ['solver'], 'one query for all frames')
  const history = { body_a_id: 2, body_b_id: 1, start_frame: 1, end_frame: 150 }
  t.same(
    await questions('get_contact_history', history),
    ['resolveBody', 'resolveBody', 'pairHistory', 'pairHistory', 'analyse{"start":null,"end":null}'],
    'for 67 frames of contact: what happened, the rows to show, and the name of the floor',
  )
})

t.test('get_solver_diagnostics includes the last frame, but not frame 0, by default', async (t) => {
  const client = await ask(t, 'drop')
  const { diagnostics, start_frame, end_frame } = await client.call('get_solver_diagnostics')
  t.same([start_frame, end_frame], [1, 150])
  t.same([toRows(diagnostics)[0]?.frame_id, toRows(diagnostics).at(-1)?.frame_id], [1, 150])
  t.equal(toRows(diagnostics).length, 150)
  await t.rejects(client.call('get_frame', { frame_id: 0 }), {
    code: 'FRAME_NOT_FOUND',
    data: { first_frame: 1, last_frame: 150 },
  })
})

t.test(
  'find_energy_anomalies does not count the first frame, and classifies losses in contact as impacts',
  async (t) => {
    const client = await ask(t, 'drop')
    const answer = await client.call('find_energy_anomalies', { threshold: 1 })
    t.match(answer, { count: 1, counts: { baseline: 1, injection: 0, impact_loss: 1 } })
    const kinds = toRows(answer.anomalies).map(({ frame_id, kind }) => [frame_id, kind])
    t.same(kinds, [
      [1, 'baseline'],
      [63, 'impact_loss'],
    ])
  },
)

t.test('find_energy_anomalies returns pages in frame order, with the counts of all anomalies', async (t) => {
  const client = await ask(t, 'drop')
  const all = await client.call('find_energy_anomalies', { threshold: 0 })
  const frames = toRows(all.anomalies).map(({ frame_id }) => Number(frame_id))
  t.same(
    frames,
    [...frames].sort((a, b) => a - b),
  )
  const first = await client.call('find_energy_anomalies', { threshold: 0, max_points: 10 })
  t.equal(toRows(first.anomalies).length, 10)
  t.match(first, { truncated: true, counts: all.counts, count: all.count })
  const next = { threshold: 0, max_points: 10, cursor: first.next_cursor }
  const second = await client.call('find_energy_anomalies', next)
  t.same(
    toRows(second.anomalies).map(({ frame_id }) => frame_id),
    frames.slice(10, 20),
  )
})

t.test('get_contact_history finds reversed normals and chatter', async (t) => {
  const flipped = `(SELECT normal_id FROM CollisionResultRecord WHERE frame_id = 100
    UNION SELECT normal_id FROM FrictionConstraintRecord WHERE frame_id = 100)`
  const client = await ask(t, 'drop', {
    change: (db) => {
      db.exec(`UPDATE Vector3DRecord SET x = -x, y = -y, z = -z WHERE id IN ${flipped}`)
      for (const table of ['CollisionResultRecord', 'FrictionConstraintRecord', 'ContactConstraintRecord'])
        db.exec(`DELETE FROM ${table} WHERE frame_id IN (120, 122, 124)`)
    },
  })
  const range = { start_frame: 95, end_frame: 150 }
  const answer = await client.call('get_contact_history', { body_a_id: 2, body_b_id: 1, ...range })
  t.match(answer, { chatter: true, peak_transitions: 6, normal_flips: [100, 101], frames_with_contact: 53 })
  t.same(answer.runs, [
    { first_frame: 95, last_frame: 119 },
    { first_frame: 121, last_frame: 121 },
    { first_frame: 123, last_frame: 123 },
    { first_frame: 125, last_frame: 150 },
  ])
  t.match(answer.summary, /Chatter.*flips/)
})

verifies('replay:defect:ids', async (t) => {
  const client = await ask(t, 'drop')
  const [plain, flagged] = [1, 2147483649]
  const contacts = (body_id: number) => client.call('get_contacts_for_body', { body_id, frame_id: 150 })
  t.same(await contacts(plain), await contacts(flagged))
  t.equal(toRows((await contacts(plain)).contacts).length, 4)
  const resting = await client.call('check_resting_contact', { frame_id: 150 })
  t.match(resting, { bodies_in_contact: 1, environment_in_contact: 1 }, 'the floor does not move')
})

t.test('check_resting_contact needs no friction rows and distinguishes sliding from spinning', async (t) => {
  const client = await ask(t, 'frictionless')
  const answer = await client.call('check_resting_contact', { frame_id: 100 })
  t.match(answer, { source: 'collisions', bodies_in_contact: 1, environment_in_contact: 1 })
  const [slab] = toRows(answer.moving_bodies)
  t.ok(Math.abs(Number(slab?.sliding_speed) - 1) < 1e-6, 'it glides at 1 m/s along the floor')
  t.ok(Number(slab?.normal_speed) < 0.01, 'and does not leave it')
  const limits = { velocity_threshold: 2, angular_velocity_threshold: 0 }
  const spin = await client.call('check_resting_contact', { frame_id: 100, ...limits })
  t.equal(toRows(spin.moving_bodies).length, 1, 'the spin has its own threshold')
})

verifies('replay:solver:free-flight', async (t) => {
  const client = await ask(t, 'drop')
  const flight = await client.call('get_solver_diagnostics', { start_frame: 1, end_frame: 60 })
  t.match(flight, { converged_judged: 0, not_converged: [], not_converged_count: 0 })
  t.ok(
    toRows(flight.diagnostics).every(({ converged }) => converged === false),
    'the recorded value is unchanged',
  )
})

verifies('replay:list:default-folder', async (t) => {
  const { client, folder } = await openReplay(t, ['build/Debug/debug/recordings/drop', 'other/stack'])
  const { recordings, searched } = await client().call('list_recordings')
  t.ok((searched as string[]).includes(join(folder, 'build/Debug/debug/recordings')))
  t.same(
    toRows(recordings)
      .map(({ name }) => name)
      .sort(),
    ['drop.db', 'stack.db'],
  )
  const absent = await client().call('list_recordings', { directory: 'no/such/folder' })
  t.match(absent, { recordings: [], count: 0 }, 'a missing folder is not an error')
})

verifies('replay:list:only-recordings', async (t) => {
  const names = ['stack', 'drop', 'deep/down/nan', 'asset_database', 'not_a_database']
  const { client } = await openReplay(t, names)
  const { recordings, others } = await client().call('list_recordings')
  const paths = toRows(recordings).map(({ path }) => String(path))
  t.same(paths, [...paths].sort())
  t.same(
    toRows(recordings)
      .map(({ recording }) => recording)
      .sort(),
    ['drop', 'nan', 'stack'],
  )
  t.match(toRows(others), [
    { name: 'asset_database.db', reason: 'NOT_A_RECORDING' },
    { name: 'not_a_database.db', reason: 'NOT_A_DATABASE' },
  ])
})

t.test('failures have codes, arguments are validated, and undefined numbers are null', async (t) => {
  const client = (await openReplay(t, ['nan'])).client()
  const error = await client.call('get_frame', { frame_id: 1 }).catch((thrown: unknown) => thrown)
  t.ok(isCausewayError(error))
  if (isCausewayError(error)) t.match(toErrorObject(error), { code: 'NO_RECORDING', legacy_code: -32000 })
  await t.rejects(client.call('get_body_state', { recording: 'nan', frame_id: 1 }), {
    code: 'INVALID_ARGUMENTS',
    data: { problems: [{ argument: 'body_id', problem: /missing/ }] },
  })
  const { content } = await client.answer('get_body_state', { recording: 'nan', frame_id: 60, body_id: 3 })
  const text = content[0]?.type === 'text' ? content[0].text : ''
  t.match(JSON.parse(text), { position: { x: null, y: null, z: null }, speed: null })
})

t.test('long energy series are reduced to their extreme values, with exact totals', async (t) => {
  const frames = 5000
  const grow = `WITH RECURSIVE n(i) AS (SELECT 151 UNION ALL SELECT i + 1 FROM n WHERE i < ${frames})`
  const client = await ask(t, 'drop', {
    change: (db) => {
      db.exec(`INSERT INTO SimulationFrameRecord (id, simulation_time, wall_clock_time)
        ${grow} SELECT i, i * 0.004, 0 FROM n`)
      db.exec(`INSERT INTO SystemEnergyRecord (id, total_linear_ke, total_rotational_ke, total_potential_e,
        total_system_e, delta_e, energy_injection, collision_active, frame_id)
        ${grow} SELECT i, 0, 0, 50, iif(i = 3333, 99, 50), 0, 0, 1, i FROM n`)
    },
  })
  const answer = await client.call('get_system_energy')
  const points = toRows(answer.energy_points)
  t.ok(points.length <= 200)
  t.ok(JSON.stringify(answer).length < 80_000)
  t.match(answer, { bucketed: true, truncated: true, totals: { count: frames, max: 99, max_frame: 3333 } })
  t.ok(
    points.some(({ frame_id }) => frame_id === 3333),
    'the only peak in 5000 frames is shown',
  )
  const exact = await client.call('get_system_energy', { start_frame: 3300, end_frame: 3399 })
  t.equal(toRows(exact.energy_points).length, 100)
  t.match(exact, { bucketed: false, truncated: false, next_cursor: null })
})

t.test('two clients have separate default recordings', async (t) => {
  const { client } = await openReplay(t, ['drop', 'stack'])
  const [one, two] = [client(), client()]
  await one.call('load_recording', { path: 'drop' })
  await two.call('load_recording', { path: 'stack' })
  t.match(await one.call('get_metadata'), { recording: 'drop' })
  t.match(await two.call('get_metadata'), { recording: 'stack' })
})

t.test('get_body_energy reports unknown bodies, and the frame in which a body appears', async (t) => {
  const client = await ask(t, 'late_spawn')
  await t.rejects(client.call('get_body_energy', { body_id: 999 }), {
    code: 'BODY_NOT_FOUND',
    data: { body_id: 999 },
  })
  await t.rejects(client.call('get_body_energy', { body_id: 3, start_frame: 1, end_frame: 39 }), {
    code: 'BODY_NOT_FOUND',
    data: { body_id: 3, first_frame: 40 },
  })
  await t.rejects(client.call('get_body_energy', { body_id: 2147483649 }), { code: 'BODY_NOT_FOUND' })
})

t.test('load_recording does not open a path outside the roots', async (t) => {
  const client = (await openReplay(t, ['drop'])).client()
  await t.rejects(client.call('load_recording', { path: join(fixtures, 'stack.db') }), {
    code: 'OUTSIDE_ROOTS',
    data: { setting: 'CAUSEWAY_RECORDING_ROOTS' },
  })
})

t.test('a rewritten recording is reloaded, and the answer reports it', async (t) => {
  const { app, client, folder } = await openReplay(t, ['drop'])
  const one = client()
  await one.call('load_recording', { path: 'drop' })
  edit(join(folder, 'drop.db'), (db) => db.exec('DELETE FROM SimulationFrameRecord WHERE id > 100'))
  t.match(await one.call('get_metadata'), { reloaded: true, total_frames: 100 })
  t.notOk('reloaded' in (await one.call('get_metadata')), 'once')
  t.ok(app.changes.includes('replay://recordings/drop/metadata'))
})

t.test('duplicate states of a body are reported once, with their frames', async (t) => {
  const { client } = await openReplay(t, ['drop'], {
    change: (db) =>
      db.exec(`INSERT INTO AssetDynamicStateRecord (body_id, kinematicState_id, frame_id)
        SELECT body_id, kinematicState_id, frame_id FROM AssetDynamicStateRecord WHERE frame_id BETWEEN 70 AND 72`),
  })
  const { findings } = await client().call('diagnose', { recording: 'drop' })
  t.match(findings, [
    {
      kind: 'duplicate_state',
      bodies: [2],
      frames: { first: 70, last: 72 },
      confidence: 1,
      sentence: /has 2 states in one frame; the last is used/,
    },
  ])
  t.equal((findings as unknown[]).length, 1)
})

t.test('the reaction of bodies with other contacts is not checked without tangential impulses', async (t) => {
  const mass = 1
  const contact = { normal: [0, 0, -1], depth: 0, points: [{ point: [0, 0, 0], normal_lambda: 0.0981 }] }
  const frames = Array.from({ length: 20 }, (_, row) => ({
    frame_id: row + 1,
    time: 0.01 * (row + 1),
    bodies: [1, 2].map((id) => ({ id, position: [0, 0, 3 - id], velocity: [0, 0, 0] })),
    contacts: [
      { a: 1, b: 2, ...contact },
      { a: 2, b: 3, ...contact },
    ],
  }))
  const bodies = [
    { id: 1, mass },
    { id: 2, mass },
    { id: 3, is_environment: true },
  ]
  const run = { run: { dt: 0.01, gravity: [0, 0, -9.81], lambda_unit: 'N·s', bodies } }
  const client = await recordRun(await openReplay(t, []), 'pair', [run, ...frames])
  const { checked, not_checked } = await client.call('diagnose')
  t.notOk((checked as string[]).includes('reaction'))
  t.match(
    toRows(not_checked).find(({ law }) => law === 'reaction'),
    { missing: ['tangential impulses'] },
  )
})

t.test('clocks and positions that are exact binary fractions are not mistaken for float16', async (t) => {
  const step = 1 / 128
  const flight = (late: number) => [
    { run: { gravity: [0, 0, 0], dt: step, bodies: [{ id: 1, mass: 1 }] } },
    ...Array.from({ length: 1300 }, (_, i) => ({
      ...{ frame_id: i + 1, time: step * (i < 1200 ? i : i + late), contacts: [] },
      bodies: [{ id: 1, position: [i * step, 0, 0], velocity: [1, 0, 0], orientation: [1, 0, 0, 0] }],
    })),
  ]
  const judge = async (late: number) => {
    const { findings } = await (await recordLines(t, flight(late))).call('diagnose', {})
    return toRows(findings).map(({ kind, frames }) => [kind, (frames as { first: number }).first])
  }
  t.same(await judge(0), [])
  t.same(await judge(1), [['nonuniform_dt', 1201]])
  const turned: SceneSpec = {
    ...{ frames: 40, masses: [1] },
    state: (frame) => ({
      position: [10 + frame / 128, 0, 0],
      orientation: [Math.cos(frame / 50), Math.sin(frame / 50), 0, 0],
    }),
    time: (frame) => frame / 1024,
  }
  const meter = new RoundingMeter()
  meter.add(createFrames(turned))
  const { position, time } = meter.measure(1 / 1024)
  t.ok(getError(position, 10) < 1e-6 && getError(time, 8) < 1e-6)
})

t.test(
  'energy budgets are not checked if surfaces move or forces act; advice adds surface velocities',
  async (t) => {
    const shape = {
      name: null,
      shape: null,
      half_extents: null,
      inertia: null,
      position: null,
      orientation: null,
    }
    const gaining = (x: number): SceneSpec => ({
      ...{ frames: 20, masses: [2], gravity: [0, 0, 0], state: (frame) => ({ velocity: [frame, 0, 0] }) },
      geometry: [{ ...shape, body_id: floor, surface_velocity: [x, 0, 0] }],
    })
    t.match(runLaw(budgetLaw(), gaining(0)), [{ kind: 'energy_injection' }])
    t.same(runLaw(budgetLaw(), gaining(1)), [])
    const state = {
      position: [0, 0, 0],
      velocity: [0, 0, 0],
      orientation: [1, 0, 0, 0],
      angular_velocity: [0, 0, 0],
    }
    const resting = (surface_velocity: readonly number[], forces: readonly object[]) => [
      {
        run: {
          ...{ gravity: [0, 0, -g], dt },
          bodies: [
            { id: 1, mass: 1, inertia: [1, 1, 1] },
            { id: 2, is_environment: true, surface_velocity },
          ],
        },
      },
      ...Array.from({ length: 20 }, (_, i) => ({
        ...{ frame_id: i + 1, time: dt * i, bodies: [{ id: 1, ...state, forces }] },
        contacts: [{ a: 1, b: 2, normal: [0, 0, -1], depth: 0 }],
      })),
    ]
    const listMissing = async (x: number, forces: readonly object[] = []) => {
      const { not_checked } = await (await recordLines(t, resting([x, 0, 0], forces))).call('diagnose', {})
      return toRows(not_checked).flatMap(({ law, missing }) => (law === 'energy_budget' ? [missing] : []))
    }
    t.same(await listMissing(0), [])
    t.same(await listMissing(1), [['energy of moving surfaces']])
    t.same(await listMissing(0, [{ force: [1, 0, 0] }]), [['work of external forces']])
    const found = { body: floor, first: 2, last: 20, velocity: [0.5, 0, 0] as const, speed: 0.5 }
    t.match(describeMovingSurfaces('sliding', [found], new Map([[floor, [1, 0, 0]]])), [
      { how_to_record: /\(1\.5, 0, 0\) m\/s/ },
    ])
  },
)
