/** Files of other tools, generated from known physics, and hostile ones. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import type { RecordingLibrary } from '../src/index.ts'
import { folders, libraryOver } from './library-kit.ts'
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
  t.equal((await library.open('run.csv')).recording, recording, 'the mapping is remembered')
  writeFileSync(join(files, 'spaced.csv'), `${toCsv(rows).replaceAll('\n', '\n\n')}\n`)
  const spaced = await library.importFile('spaced.csv', csvMapping)
  t.same(await readFrames(spaced.recording), await readFrames(reference), 'empty lines are ignored')
  await library.importRecording('copy', 'run.csv')
  t.same(await readFrames((await library.open('copy')).recording), await readFrames(reference), 'as a run')
})

/** Returns the error of an import without a mapping. */
const proposal = (library: RecordingLibrary, path: string) =>
  library.importFile(path, undefined).then(
    () => Promise.reject(new Error(`${path} was imported without a mapping`)),
    (error) =>
      error as {
        code: string
        data: { columns: unknown[]; proposed_mapping: typeof csvMapping; notes: string[] }
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
  // Names of components define the order, whatever the order of the columns.
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
