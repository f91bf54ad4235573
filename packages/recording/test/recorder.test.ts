import { renameSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { computeSystemEnergy, writeEnergies } from '../src/formats/lines/frame-energy.ts'
import { createLineReader } from '../src/formats/lines/line-reader.ts'
import { noDetails, type RunBody } from '../src/formats/lines/run-line.ts'
import { bodyAt, bodyWidth, hasEnergy, hasState, type PackedFrame } from '../src/formats/packed-frame.ts'
import { openReader } from '../src/reader/open-reader.ts'
import { createRunViews } from '../src/reader/run/run-views.ts'
import { openRunWriter, type RunWriter } from '../src/recorder/run-writer.ts'
import { folders, libraryOver, whole } from './library-kit.ts'
import { frameLine, frameLines, runLine, streamLines } from './run-lines.ts'

t.test('a run returns the sent data through the Recording interface', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const answer = await library.recorder.write('first', streamLines([runLine, ...frameLines(1, 30)]))
  t.same(answer, { recording: 'first', accepted: 30, ignored: 0, last_frame_id: 30 })
  const { recording } = await library.open('first')
  t.match(recording.summary, {
    era: 'run',
    missing: [],
    frames: { first_frame: 1, last_frame: 30, total_frames: 30, contiguous: true },
    gravity_m_s2: { x: 0, y: 0, z: -9.81 },
    lambda_unit: 'N·s',
    bodies: [
      { body_id: 1, mass: 2, friction: 0.6 },
      { body_id: 2, mass: 1, friction: null },
    ],
    environment_bodies: [{ body_id: 0x8000_0003, instance_id: 3 }],
    geometry: [
      { body_id: 1, name: null, shape: null, half_extents: [0.5, 0.5, 0.5], inertia: [0.1, 0.2, 0.3] },
      {
        body_id: 2,
        name: 'rod',
        shape: { kind: 'capsule', radius: 0.1, half_length: 0.4 },
        half_extents: [0.1, 0.1, 0.5],
        inertia: null,
      },
      {
        body_id: 0x8000_0003,
        name: 'floor',
        shape: { kind: 'plane' },
        half_extents: null,
        position: [0, 0, 0],
        orientation: [1, 0, 0, 0],
      },
    ],
    appearances: [
      { body_id: 1, first_frame: 1 },
      { body_id: 2, first_frame: 1 },
    ],
  })
  const frame = await recording.frame(3)
  t.match(frame, {
    frame_id: 3,
    simulation_time: 0.03,
    states: [
      { body_id: 1, position: { x: 0.03, y: 0, z: 4.97 }, orientation: { w: 0.8, x: 0.6, y: 0, z: 0 } },
      { body_id: 2, angular_velocity: null },
    ],
    collisions: [
      { body_a_id: 1, body_b_id: 0x8000_0003, penetration_depth: 0.001, contacts: [{ depth: 0.001 }] },
    ],
    contact_constraints: [{ restitution: 0.5, pre_impact_rel_vel_normal: -1 }],
    friction_constraints: [{ friction_coefficient: 0.6, normal_lambda: 0.2, tangent2_lambda: -0.02 }],
    solver: { iterations: 3, converged: true, num_contacts: 1, num_constraints: 2 },
  })
  const [spin] = frame.states.map(({ angular_velocity }) => angular_velocity)
  t.ok(Math.abs((spin?.y ?? 0) - 0.2) < 1e-12, 'returns the sent angular velocity')
  const { fields, length, data: rows } = await recording.systemEnergy(whole)
  t.equal(length, 30)
  const [linear, potential] = [0.5 * 2 * (1 + (9.81 * 0.01) ** 2), 9.81 * (2 * 4.99 + 3)]
  const rotational = 0.5 * (0.1 * 0.1 ** 2 + 0.2 * 0.2 ** 2 + 0.3 * 0.003 ** 2)
  const total = rows[fields.indexOf('total_system_e')] ?? 0
  t.ok(
    Math.abs(total - (linear + rotational + potential)) < 1e-9,
    'computes energies from mass, inertia and gravity',
  )
  t.equal((await recording.bodyEnergy(2, whole)).length, 30)
  t.equal((await recording.solver({ start: 5, end: 9 })).length, 5)
  const history = await recording.pairHistory([3, 1], whole, 2)
  t.same([history.total_frames, history.frames.map(({ frame_id }) => frame_id)], [10, [3, 6]])
  await t.rejects(recording.frame(31), { code: 'FRAME_NOT_FOUND', data: { first_frame: 1, last_frame: 30 } })
})

t.test('a run is readable while it grows', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const { recorder } = library
  await recorder.write('grows', streamLines([runLine, ...frameLines(1, 5)]))
  const first = (await library.open('grows')).recording
  await recorder.write('grows', streamLines([frameLine(6)]))
  const second = (await library.open('grows')).recording
  t.equal(first.summary.frames?.last_frame, 5)
  t.equal(second.summary.frames?.last_frame, 6)
  t.equal((await first.frame(6)).frame_id, 6)
})

t.test('gravity is inferred from bodies without external forces and joints', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const { recorder } = library
  // One body falls. The others are held in the air by a force, by joints of a group, and by a joint.
  const still = { velocity: [0, 0, 0] }
  const line = (k: number): string =>
    JSON.stringify({
      frame_id: k,
      time: 0.01 * k,
      bodies: [
        { id: 1, velocity: [0, 0, -0.0981 * k] },
        { id: 2, ...still, forces: [{ force: [0, 0, 98.1] }] },
        ...[3, 4, 5].map((id) => ({ id, ...still })),
      ],
      joints: [{ a: 5, b: 6, kind: 'ball' }],
      contacts: [],
    })
  const bodies = [1, 2, 3, 4, 5].map((id) => ({
    id,
    mass: 10,
    ...(id === 3 || id === 4 ? { group: 1 } : {}),
  }))
  const run = JSON.stringify({ run: { bodies: [...bodies, { id: 6, is_environment: true }] } })
  await recorder.write('held', streamLines([run, ...[1, 2, 3, 4].map(line)]))
  const { file } = await recorder.export('held')
  renameSync(file, join(files, 'held.db'))
  for (const name of ['held', 'held.db']) {
    const { gravity_m_s2 } = (await library.open(name)).recording.summary
    t.ok(Math.abs((gravity_m_s2?.z ?? 0) + 9.81) < 1e-9, `${name}: ${gravity_m_s2?.z}`)
  }
})

t.test('gravity is inferred from potential energies of bodies with joints', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const ball = (id: number, k: number) => ({
    id,
    position: [id, 0, 1 + k],
    velocity: [0, 0, 0],
    energy: { linear_ke: 0, rotational_ke: 0, potential_e: 2 * 1.62 * (1 + k), total_e: 2 * 1.62 * (1 + k) },
  })
  const frames = [1, 2, 3].map((k) =>
    JSON.stringify({ frame_id: k, time: 0.01 * k, bodies: [ball(1, k), ball(2, k)], contacts: [] }),
  )
  const run = { bodies: [1, 2].map((id) => ({ id, mass: 2, group: 1 })) }
  await library.recorder.write('jointed', streamLines([JSON.stringify({ run }), ...frames]))
  const { gravity_m_s2 } = (await library.open('jointed')).recording.summary
  t.ok(Math.abs((gravity_m_s2?.z ?? 0) + 1.62) < 1e-9, `${gravity_m_s2?.z}`)
})

t.test('SQL queries of a run use the same views as those of other recordings', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  await library.recorder.write('run', streamLines([runLine, ...frameLines(1, 30)]))
  const { recording } = await library.open('run')
  const ask = async (sql: string) => {
    const question = { sql, params: [], limit: 10, bytes: 10_000, deadlineMs: 20_000 }
    return (await recording.query(question)).rows
  }
  t.same(await ask('SELECT count(*), max(frame_id) FROM v_frame'), [[30, 30]])
  t.same(await ask('SELECT body_id, x FROM v_state WHERE frame_id = 10 AND body_id = 1'), [[1, 0.1]])
  t.same(await ask('SELECT count(*), sum(depth) FROM v_contact'), [[10, 0.01]])
  t.same(await ask('SELECT normal_lambda, utilization > 0.18 FROM v_friction LIMIT 1'), [[0.2, 1]])
  t.same(await ask('SELECT count(*) FROM v_energy e JOIN v_solver s USING (frame_id)'), [[60]])
  t.same(await ask('SELECT mass FROM v_body'), [[2], [1]])
})

t.test('createRunViews reads only the frames that a condition on frame_id selects', async (t) => {
  const dir = t.testdir({ data: {}, files: {} })
  const library = await libraryOver(t, join(dir, 'files'), { dir: join(dir, 'data') })
  await library.recorder.write('run', streamLines([runLine, ...frameLines(1, 60)]))
  await library.recorder.finish('run')
  const file = join(dir, 'data', 'recordings', 'run.db')
  const db = new Database(file, { readonly: true })
  t.teardown(() => db.close())
  createRunViews(db, file)
  for (const view of ['v_frame', 'v_state', 'v_contact', 'v_friction', 'v_energy', 'v_solver']) {
    const ids = (where: string) =>
      db.prepare<[], number>(`SELECT DISTINCT frame_id FROM ${view} WHERE ${where}`).pluck().all()
    const plan = (where: string) =>
      db
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN SELECT * FROM ${view} WHERE ${where}`)
        .all()
        .map(({ detail }) => detail)
        .join('; ')
    t.same(ids('frame_id BETWEEN 30 AND 31 AND frame_id <> 31'), ids('frame_id = 30'), view)
    t.match(plan('frame_id = 30'), /SEARCH f USING INTEGER PRIMARY KEY \(rowid=\?\)/, view)
    t.match(plan('frame_id > 30'), /SEARCH f USING INTEGER PRIMARY KEY \(rowid>\?\)/, view)
  }
  const joined = db
    .prepare<[], number>(
      `SELECT count(*) FROM v_state a JOIN v_state b ON a.frame_id = b.frame_id WHERE a.body_id = b.body_id`,
    )
    .pluck()
    .get()
  t.equal(
    joined,
    db.prepare<[], number>('SELECT count(*) FROM v_state').pluck().get(),
    'joins a view to itself',
  )
})

const now = 1_700_000_000_000

interface Run {
  readonly writer: RunWriter
  /** Reads and adds a line. Returns its frame, and whether it was new. */
  send(text: string): { readonly frame: PackedFrame | undefined; readonly isNew: boolean }
}

/** Opens a run that is written in this thread. It is closed after the test. */
function open(t: Test): Run {
  const writer = openRunWriter(join(t.testdir(), 'run.db'), now)
  t.teardown(() => writer.close())
  const readLine = createLineReader(writer.context)
  return {
    writer,
    send(text) {
      const line = readLine(text)
      if ('run' in line) {
        writer.addRun(line.run)
        return { frame: undefined, isNew: true }
      }
      return { frame: line.frame, isNew: writer.addFrame(line.frame, now) }
    },
  }
}

t.test('RunWriter reuses the memory of repeated frames', async (t) => {
  const { writer, send } = open(t)
  send(runLine)
  const first = send(frameLine(3)).frame?.bodies.buffer
  writer.flush(now)
  const used = new Set(Array.from({ length: 3000 }, () => send(frameLine(3)).frame?.bodies.buffer))
  t.equal(used.size, 1)
  t.ok(used.has(first))
})

t.test('createLineReader accepts a frame of 90,000 bodies', async (t) => {
  const readLine = createLineReader(open(t).writer.context)
  const bodies = Array.from({ length: 90_000 }, (_, index) => ({
    id: index + 1,
    position: [1, 2, 3],
    velocity: [1, 2, 3],
    orientation: [1, 0, 0, 0],
    angular_velocity: [1, 2, 3],
    acceleration: [0, 0, 0],
  }))
  const line = readLine(JSON.stringify({ frame_id: 1, time: 0, bodies }))
  t.equal('frame' in line && line.frame.bodies.length, 90_000 * bodyWidth)
})

t.test(
  'createLineReader rejects a long line that is nested too deeply or has too many distinct names',
  async (t) => {
    const { send } = open(t)
    const blanks = ' '.repeat(2 ** 20)
    t.throws(() => send(`${'['.repeat(501)}${blanks}`), { code: 'INVALID_REQUEST' })
    const names = Array.from({ length: 60_000 }, (_, index) => `"name ${index}":1`)
    t.throws(() => send(`{${names.join(',')}}${blanks}`), { code: 'BODY_TOO_LARGE' })
  },
)

t.test('openReader reports that a run is indexed, even while it is being written', async (t) => {
  const file = join(t.testdir(), 'run.db')
  const writer = openRunWriter(file, now)
  t.teardown(() => writer.close())
  const reader = openReader(file)
  t.teardown(() => reader.close())
  t.ok(reader.isIndexed())
  reader.refresh()
  t.ok(reader.isIndexed())
})

const brick: RunBody = {
  id: 1,
  mass: 2,
  restitution: 0,
  friction: 0,
  asset: 0,
  inertia: [0.5, 0.25, 0.125],
  extents: [1, 1, 1],
  isEnvironment: false,
  details: noDetails,
}

/** Returns the row of a body at (1, 2, 3) m that moves at (1, 2, 2) m/s. */
function movingRow(): Float64Array {
  const row = new Float64Array(bodyWidth)
  row[bodyAt.parts] = hasState
  row.set([1, 2, 3], bodyAt.position)
  row.set([1, 2, 2], bodyAt.velocity)
  row.fill(Number.NaN, bodyAt.energy, bodyAt.energy + 4)
  return row
}

t.test('writeEnergies computes kinetic and potential energy from mass, inertia and gravity', async (t) => {
  const energies = (body: RunBody | undefined, gravity: [number, number, number] | null) => {
    const row = movingRow()
    writeEnergies(row, 0, body, gravity, [1, 2, 3])
    return [row[bodyAt.parts], ...row.subarray(bodyAt.energy, bodyAt.energy + 4)]
  }
  const [linear, rotational, potential] = [9, 0.5 * (0.5 + 1 + 1.125), 2 * 10 * 3]
  const parts = hasState | hasEnergy
  t.same(energies(brick, [0, 0, -10]), [
    parts,
    linear,
    rotational,
    potential,
    linear + rotational + potential,
  ])
  t.same(energies(brick, null), [parts, linear, rotational, Number.NaN, linear + rotational])
  const unknown = [hasState, Number.NaN, Number.NaN, Number.NaN, Number.NaN]
  t.same(energies(undefined, null), unknown, 'returns no energy for an unknown body')
  t.same(energies({ ...brick, mass: Number.NaN }, null), unknown, 'returns no energy for an unknown mass')
})

t.test(
  'computeSystemEnergy reports a gain above one millionth of the total and 1 nJ as an injection',
  async (t) => {
    const rows = new Float64Array()
    const isInjection = (before: number, total: number) =>
      computeSystemEnergy(rows, { total }, before, false)?.injection
    t.equal(isInjection(1000, 1000.0009), false)
    t.equal(isInjection(1000, 1000.0011), true)
    t.equal(isInjection(1000, 999), false, 'does not report a loss as an injection')
    t.equal(isInjection(-1000, -999.9991), false, 'accepts a negative total')
    t.equal(isInjection(0, 0.9e-9), false)
    t.equal(isInjection(0, 1.1e-9), true)
    t.equal(
      computeSystemEnergy(rows, { total: 5 }, Number.NaN, false)?.delta,
      5,
      'returns the total as the change of the first frame',
    )
    t.equal(computeSystemEnergy(rows, {}, 0, false), null, 'returns null if no energy is known')
  },
)

t.test("computeSystemEnergy returns the sum of the bodies' energies", async (t) => {
  const moving = movingRow()
  writeEnergies(moving, 0, brick, [0, 0, -10], [0, 0, 0])
  const rows = new Float64Array([...moving, ...movingRow(), ...moving])
  t.match(computeSystemEnergy(rows, {}, 100, true), {
    linear: 18,
    rotational: 0,
    potential: 120,
    total: 138,
    delta: 38,
    injection: true,
    active: true,
  })
  const free = movingRow()
  writeEnergies(free, 0, brick, null, [0, 0, 0])
  t.match(
    computeSystemEnergy(free, {}, 0, false),
    { total: 9, injection: false, active: false },
    'omits potential energy without gravity',
  )
})

t.test('a run from a large upload or a large import has large pages', async (t) => {
  const { files, data } = folders(t)
  const { recorder } = await libraryOver(t, files, { dir: data })
  const pageSizes = { small: 16_384, large: 65_536 }
  for (const [name, expectedBytes] of [
    ['small', 0],
    ['large', 8 * 2 ** 20],
  ] as const) {
    await recorder.write(name, streamLines([runLine, ...frameLines(1, 3)]), { expectedBytes })
    await recorder.write(name, streamLines(frameLines(4, 6)))
    t.match(await recorder.finish(name), { total_frames: 6 })
    const lines = streamLines([runLine, ...frameLines(1, 3)])
    t.match(await recorder.importStream(`${name}-import`, lines, { expectedBytes }), { total_frames: 3 })
    for (const run of [name, `${name}-import`]) {
      const db = new Database(join(data, 'recordings', `${run}.db`), { readonly: true })
      t.equal(db.pragma('page_size', { simple: true }), pageSizes[name], run)
      db.close()
    }
  }
})
