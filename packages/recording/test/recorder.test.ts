import t from 'tap'
import { folders, libraryOver, whole } from './library-kit.ts'
import { bodyOf, frameLine, frameLines, runLine } from './run-lines.ts'

t.test('recorder: what was sent is answered by the same contract as every recording', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const answer = await library.recorder.write('first', bodyOf([runLine, ...frameLines(1, 30)]))
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
  t.ok(Math.abs((spin?.y ?? 0) - 0.2) < 1e-12, 'the angular velocity is the one that was sent')
  const { fields, length, data: rows } = await recording.systemEnergy(whole)
  t.equal(length, 30)
  const [linear, potential] = [0.5 * 2 * (1 + (9.81 * 0.01) ** 2), 9.81 * (2 * 4.99 + 3)]
  const rotational = 0.5 * (0.1 * 0.1 ** 2 + 0.2 * 0.2 ** 2 + 0.3 * 0.003 ** 2)
  const total = rows[fields.indexOf('total_system_e')] ?? 0
  t.ok(
    Math.abs(total - (linear + rotational + potential)) < 1e-9,
    'energies follow from mass, inertia and gravity',
  )
  t.equal((await recording.bodyEnergy(2, whole)).length, 30)
  t.equal((await recording.solver({ start: 5, end: 9 })).length, 5)
  const history = await recording.pairHistory([3, 1], whole, 2)
  t.same([history.total_frames, history.frames.map(({ frame_id }) => frame_id)], [10, [3, 6]])
  await t.rejects(recording.frame(31), { code: 'FRAME_NOT_FOUND', data: { first_frame: 1, last_frame: 30 } })
})

t.test('recorder: a run is read while it grows', async (t) => {
  const { files, data } = folders(t)
  const { recorder, open } = await libraryOver(t, files, { dir: data })
  await recorder.write('grows', bodyOf([runLine, ...frameLines(1, 5)]))
  const first = (await open('grows')).recording
  await recorder.write('grows', bodyOf([frameLine(6)]))
  const second = (await open('grows')).recording
  t.equal(first.summary.frames?.last_frame, 5)
  t.equal(second.summary.frames?.last_frame, 6)
  t.equal((await first.frame(6)).frame_id, 6)
})

t.test('recorder: gravity is found from bodies that nothing pushes', async (t) => {
  const { files, data } = folders(t)
  const { recorder, open } = await libraryOver(t, files, { dir: data })
  // One of them falls, the other is held in the air.
  const line = (k: number): string =>
    JSON.stringify({
      frame_id: k,
      time: 0.01 * k,
      bodies: [
        { id: 1, velocity: [0, 0, -0.0981 * k] },
        { id: 2, velocity: [0, 0, 0], forces: [{ force: [0, 0, 98.1] }] },
      ],
      contacts: [],
    })
  await recorder.write(
    'held',
    bodyOf([
      '{"run": {"bodies": [{"id": 1, "mass": 10}, {"id": 2, "mass": 10}]}}',
      ...[1, 2, 3, 4].map(line),
    ]),
  )
  const { gravity_m_s2 } = (await open('held')).recording.summary
  t.ok(Math.abs((gravity_m_s2?.z ?? 0) + 9.81) < 1e-9)
})

t.test('recorder: SQL asks a run through the same views as every recording', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  await library.recorder.write('run', bodyOf([runLine, ...frameLines(1, 30)]))
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
