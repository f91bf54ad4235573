/** Tests of files of other tools: generated from known physics, and hostile. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { proposeMapping } from '../src/domain/imports/propose-mapping.ts'
import { selectRowArrays } from '../src/imports/tables/row-arrays.ts'
import type { RecordingLibrary } from '../src/index.ts'
import { folders, libraryOver } from './library-kit.ts'
import { writeParquet } from './parquet-files.ts'
import {
  readFrames,
  recordLines,
  type TumbleRow,
  tumble,
  tumbleConstants,
  tumbleRun,
} from './tumbling-top.ts'

t.setTimeout(120_000)

const csvHeader = 't,top_x,top_y,top_z,top_qx,top_qy,top_qz,top_qw,top_vx,top_vy,top_vz,top_wx,top_wy,top_wz'

const toCsv = (rows: readonly TumbleRow[], header = csvHeader): string => {
  const lines = rows.map(({ time, position, velocity, orientation: [w, ...axis], spin }) =>
    [time, ...position, ...axis, w, ...velocity, ...spin].join(','),
  )
  return `${[header, ...lines].join('\n')}\n`
}

const csvMapping = {
  time: 't',
  bodies: {
    top: {
      position: ['top_x', 'top_y', 'top_z'],
      quaternion: { columns: ['top_qx', 'top_qy', 'top_qz', 'top_qw'], order: 'xyzw' },
      velocity: ['top_vx', 'top_vy', 'top_vz'],
      angular_velocity: { columns: ['top_wx', 'top_wy', 'top_wz'], frame: 'body' },
      ...tumbleConstants,
    },
  },
  run: tumbleRun,
}

async function openLibrary(t: Test) {
  const { files, data } = folders(t)
  return { files, data, library: await libraryOver(t, files, { dir: data }) }
}

verifies('recording:import:tables', async (t) => {
  const { files, library } = await openLibrary(t)
  const rows = tumble(300)
  writeFileSync(join(files, 'run.csv'), toCsv(rows))
  const { recording, notes } = await library.importFile('run.csv', csvMapping)
  t.same(notes, [])
  const reference = await recordLines(library, rows)
  t.same(await readFrames(recording), await readFrames(reference))
  t.same(recording.summary.bodies, reference.summary.bodies)
  t.same(recording.summary.missing, reference.summary.missing)
  t.equal((await library.open('run.csv')).recording, recording, 'stores the mapping')
  writeFileSync(join(files, 'spaced.csv'), `${toCsv(rows).replaceAll('\n', '\n\n')}\n`)
  const spaced = await library.importFile('spaced.csv', csvMapping)
  t.same(await readFrames(spaced.recording), await readFrames(reference), 'ignores empty lines')
  await library.importRecording('copy', 'run.csv')
  t.same(
    await readFrames((await library.open('copy')).recording),
    await readFrames(reference),
    'imports the file as a run',
  )
})

/** Returns the error of an import without a mapping. */
const proposal = (library: RecordingLibrary, path: string) =>
  library.importFile(path, undefined).then(
    () => Promise.reject(new Error(`${path} was imported without a mapping`)),
    (error) =>
      error as {
        code: string
        data: { columns: unknown[]; rows: number; proposed_mapping: typeof csvMapping; notes: string[] }
      },
  )

verifies('recording:import:mapping', async (t) => {
  const { files, library } = await openLibrary(t)
  writeFileSync(join(files, 'run.csv'), toCsv(tumble(300)))
  await t.rejects(library.open('run.csv'), { code: 'MAPPING_NEEDED' })
  const { code, data } = await proposal(library, 'run.csv')
  t.equal(code, 'MAPPING_NEEDED')
  t.match(data.columns[0], { name: 't', type: 'number', first: 0.01 })
  const { top } = data.proposed_mapping.bodies
  // The names of the components define the order, regardless of the order of the columns.
  t.same(top.quaternion, { columns: ['top_qw', 'top_qx', 'top_qy', 'top_qz'], order: 'wxyz' })
  t.same(top.position, csvMapping.bodies.top.position)
  t.same(top.angular_velocity, csvMapping.bodies.top.angular_velocity)
  const imported = await library.importFile('run.csv', { ...data.proposed_mapping, run: tumbleRun })
  const reference = await recordLines(library, tumble(300))
  t.same(
    (await readFrames(imported.recording)).map(({ states }) => states),
    (await readFrames(reference)).map(({ states }) => states),
  )
})

verifies('recording:import:order', async (t) => {
  const { files, library } = await openLibrary(t)
  const anonymous = (order: string) => {
    const names = order === 'xyzw' ? 'q0,q1,q2,q3' : 'quat_0,quat_1,quat_2,quat_3'
    return csvHeader.replace('top_qx,top_qy,top_qz,top_qw', names).replaceAll('top_', '')
  }
  writeFileSync(join(files, 'xyzw.csv'), toCsv(tumble(300), anonymous('xyzw')))
  const moved = tumble(300).map((row) => {
    const [w, x, y, z] = row.orientation
    return { ...row, orientation: [z, w, x, y] as const }
  })
  writeFileSync(join(files, 'wxyz.csv'), toCsv(moved, anonymous('wxyz')))
  const still = tumble(300).map((row) => ({
    ...row,
    orientation: [1, 0, 0, 0] as const,
    spin: [0, 0, 0] as const,
  }))
  writeFileSync(join(files, 'still.csv'), toCsv(still, anonymous('xyzw')))
  writeFileSync(
    join(files, 'poses.csv'),
    toCsv(tumble(300), anonymous('xyzw').replace('wx,wy,wz', 'u1,u2,u3')),
  )
  for (const order of ['xyzw', 'wxyz'] as const) {
    const { data } = await proposal(library, `${order}.csv`)
    const { body } = data.proposed_mapping.bodies as unknown as Record<string, typeof csvMapping.bodies.top>
    t.equal(body?.quaternion.order, order)
    t.equal(body?.angular_velocity.frame, 'body')
    t.match(data.notes.join(), /agrees with the poses only in this order/)
  }
  for (const name of ['still', 'poses']) {
    const { data } = await proposal(library, `${name}.csv`)
    const { body } = data.proposed_mapping.bodies as unknown as Record<string, typeof csvMapping.bodies.top>
    t.equal(body?.quaternion.order, null, name)
    t.match(data.notes.join(), /set it to "wxyz" or "xyzw"/)
    await t.rejects(library.importFile(`${name}.csv`, data.proposed_mapping), {
      code: 'INVALID_MAPPING',
      data: { path: 'bodies.body.quaternion.order' },
    })
  }
})

verifies(
  'recording:import:mapping',
  'proposeMapping recognizes units and leading quantities in column names',
  async (t) => {
    // Names of EuRoC's ground truth. b_w and b_a are biases of sensors.
    const components = (name: string, axes: string, unit: string) =>
      [...axes].map((axis) => `${name}_${axis} [${unit}]`)
    const named = [
      ...['#timestamp', ...components('p_RS_R', 'xyz', 'm'), ...components('q_RS', 'wxyz', '')],
      ...[...components('v_RS_R', 'xyz', 'm s^-1'), ...components('b_w_RS_S', 'xyz', 'rad s^-1')],
      ...components('b_a_RS_S', 'xyz', 'm s^-2'),
    ]
    const columns = named.map((name) => ({ name, type: 'number' as const, width: 1 }))
    const { mapping } = proposeMapping(columns, { rows: 1, numbers: () => [1.4e18] })
    t.same(mapping, {
      ...{ time: '#timestamp', time_unit: 'ns' },
      bodies: {
        rs_r: {
          position: named.slice(1, 4),
          quaternion: { columns: named.slice(4, 8), order: 'wxyz' },
          velocity: named.slice(8, 11),
        },
      },
    })
  },
)

verifies('recording:import:mapping', "the arrays of Isaac Lab's first run are proposed", async (t) => {
  const list = (run: string, rows: number) =>
    Object.entries({
      'initial_state/rigid_object/cube_1/root_pose': [1, 7],
      'initial_state/rigid_object/cube_1/root_velocity': [1, 6],
      'initial_state/articulation/robot/root_pose': [1, 7],
      'initial_state/articulation/robot/joint_position': [1, 9],
      actions: [rows, 7],
      'obs/cube_positions': [rows, 6],
      'obs/joint_pos': [rows, 9],
      'states/rigid_object/cube_1/root_pose': [rows, 7],
      'states/rigid_object/cube_1/root_velocity': [rows, 6],
      'states/rigid_object/cube_2/root_pose': [rows, 7],
    }).map(([name, shape]) => ({ name: `data/${run}/${name}`, type: 'number' as const, shape }))
  const { proposedColumns, columns, rowCount, notes } = selectRowArrays([
    ...['demo_1', 'demo_10'].flatMap((run) => list(run, 30)),
    ...list('demo_0', 20),
  ])
  t.same([rowCount, columns.length], [20, 30])
  t.match(notes, [
    'the file has 3 runs, and the proposal is for data/demo_0: the others need mappings of their own',
  ])
  const { mapping } = proposeMapping(proposedColumns, { rows: 0, numbers: () => null })
  const states = 'data/demo_0/states/rigid_object'
  const cube = `${states}/cube_1`
  t.same((mapping as { bodies: unknown }).bodies, {
    cube_1: {
      position: [`${cube}/root_pose[0:3]`],
      quaternion: { columns: [`${cube}/root_pose[3:7]`], order: null },
      velocity: [`${cube}/root_velocity[0:3]`],
      angular_velocity: { columns: [`${cube}/root_velocity[3:6]`], frame: null },
    },
    cube_2: {
      position: [`${states}/cube_2/root_pose[0:3]`],
      quaternion: { columns: [`${states}/cube_2/root_pose[3:7]`], order: null },
    },
  })
})

verifies(
  'recording:import:mapping',
  'arrays of all bodies are proposed, with or without the frame of reference in their names',
  async (t) => {
    const bodies = (columns: readonly (readonly [string, number])[]) => {
      const named = columns.map(([name, width]) => ({ name, width, type: 'number' as const }))
      return (proposeMapping(named, { rows: 0, numbers: () => null }).mapping as { bodies: unknown }).bodies
    }
    const expected = (position: string, quaternion: string, velocity: string, spin: string) => ({
      position: [`${position}[3:6]`],
      quaternion: { columns: [`${quaternion}[4:8]`], order: null },
      velocity: [`${velocity}[3:6]`],
      angular_velocity: { columns: [`${spin}[3:6]`], frame: null },
    })
    for (const names of [
      ['body_positions', 'body_rotations', 'body_linear_velocities', 'body_angular_velocities'],
      ['body_pos_w', 'body_quat_w', 'body_lin_vel_w', 'body_ang_vel_w'],
    ] as const) {
      const [position, quaternion, velocity, spin] = names
      const found = bodies([
        ...([
          ['dof_positions', 6],
          [position, 6],
          [quaternion, 8],
          [velocity, 6],
        ] as const),
        [spin, 6],
      ]) as Record<string, unknown>
      t.same(Object.keys(found), ['body_1', 'body_2'])
      t.same(found.body_2, expected(position, quaternion, velocity, spin))
    }
  },
)

verifies('recording:import:tables', '`where` selects the rows of one run', async (t) => {
  const { files, library } = await openLibrary(t)
  const rows = [0, 1].flatMap((run) => [0, 1, 2].map((i) => `${run},lift,${i / 10},${run},0,${i}`))
  writeFileSync(join(files, 'runs.csv'), ['run,task,t,x,y,z', ...rows, '1,turn,0,9,9,9'].join('\n'))
  const mapping = { time: 't', bodies: { body: { position: ['x', 'y', 'z'] } } }
  await t.rejects(library.importFile('runs.csv', mapping), {
    code: 'RECORDING_DAMAGED',
    message: /row 4: the time 0 is not after 0\.2; .* select its rows with where/,
  })
  const { recording, notes } = await library.importFile('runs.csv', {
    ...mapping,
    where: { run: 1, task: 'lift' },
  })
  t.match(notes, ['4 of 7 rows were left out, as where says'])
  t.match(recording.summary.frames, { total_frames: 3 })
  t.match((await recording.frame(3)).states, [{ position: { x: 1, y: 0, z: 2 } }])
  for (const where of [{ lap: 1 }, { run: null }, 1])
    await t.rejects(library.importFile('runs.csv', { ...mapping, where }), { code: 'INVALID_MAPPING' })
})

verifies('recording:import:mapping', 'a proposal reads only the first pages of a Parquet file', async (t) => {
  const { files, library } = await openLibrary(t)
  const rows = Array.from({ length: 60_000 }, (_, i) => i)
  const columns = ['t', 'x', 'y', 'z'].map((name) => ({ name, values: rows }))
  const { file, pages } = writeParquet(columns, 2000)
  writeFileSync(join(files, 'good.parquet'), file)
  // The third page contains the last of the first 4,096 rows.
  for (const [, , , next = 0] of pages) file.fill(0xff, next, next + 40)
  writeFileSync(join(files, 'late.parquet'), file)
  const { code, data } = await proposal(library, 'late.parquet')
  t.match({ code, rows: data.rows }, { code: 'MAPPING_NEEDED', rows: 60_000 })
  const mapping = { time: 't', time_unit: 's', bodies: { body: { position: ['x', 'y', 'z'] } } }
  t.same(data.proposed_mapping, mapping)
  await t.rejects(library.importFile('late.parquet', mapping), { code: 'RECORDING_DAMAGED' })
  const { recording } = await library.importFile('good.parquet', mapping)
  t.match(recording.summary.frames, { total_frames: 60_000 })
  t.match((await recording.frame(60_000)).states, [{ position: { x: 59_999 } }])
})

verifies('recording:import:tables', 'errors in CSV files contain the line number', async (t) => {
  const { files, library } = await openLibrary(t)
  const mapping = { time: 't', bodies: { body: { position: ['x', 'y', 'z'] } } }
  // Line 1 is empty, and the header has two lines.
  const head = ['', 't,x,y,z,"a', 'note"']
  // The first hundred rows, which decide which columns are numeric, have two lines each: 4 to 205.
  const rows = Array.from({ length: 101 }, (_, i) => [`${i - 200},1,2,3,"two`, 'lines"']).flat()
  const expected: Record<string, readonly [lines: readonly string[], message: RegExp]> = {
    number: [[...rows, '', '1,?,2,3,'], /^line 207: x is "\?", not a number/],
    spanning: [[...rows, '1,?,2,3,"two', 'lines"'], /^line 206: x is "\?"/],
    length: [['0,1,2,3,"two', 'lines"', '', '1,1'], /^line 7: Invalid Record Length: expect 5, got 2:/],
    quote: [['0,1,2,3,"two', 'lines"', '1,1,"2', '2,1,2,3,', '3,1,2,3,'], /^line 6: Quote Not Closed: /],
  }
  for (const [name, [lines, message]] of Object.entries(expected))
    for (const end of ['\n', '\r\n']) {
      writeFileSync(join(files, `${name}.csv`), [...head, ...lines].join(end))
      await t.rejects(
        library.importFile(`${name}.csv`, mapping),
        { code: 'RECORDING_DAMAGED', message },
        name,
      )
    }
})
