/** Files of other tools, generated from known physics, and hostile ones. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import type { Frame, Recording, RecordingLibrary } from '../src/index.ts'
import { folders, libraryOver } from './library-kit.ts'

t.setTimeout(120_000)

type Quaternion = readonly [number, number, number, number]

/** A row of a free body that tumbles about a moving axis: w first, angular velocity in the body frame. */
interface TumbleRow {
  readonly time: number
  readonly position: readonly number[]
  readonly velocity: readonly number[]
  readonly orientation: Quaternion
  readonly spin: readonly [number, number, number]
}

const [mass, g] = [2, 9.81]

/** Torque-free rotation of a symmetric top in closed form: inertia (1, 1, 2), spin s about its axis, transverse rate p. */
export function tumble(frames: number, dt = 0.01): readonly TumbleRow[] {
  const [p, s] = [1.5, 2]
  // Body rates precess with (I3 - I1) / I1 * s = s; space precession has the rate |L| / I1 about L.
  const momentum = Math.hypot(p, 2 * s)
  const tilt = Math.acos((2 * s) / momentum)
  return Array.from({ length: frames }, (_, i) => {
    const time = (i + 1) * dt
    // Euler angles z-x-z about L: precession, constant tilt, own rotation.
    const orientation = multiply(
      multiply(about(2, momentum * time), about(0, tilt)),
      about(2, (s - momentum * Math.cos(tilt)) * time),
    )
    const phase = (s - momentum * Math.cos(tilt)) * time
    return {
      time,
      position: [0.3 * time, 0, 10 - (g * time ** 2) / 2],
      velocity: [0.3, 0, -g * time],
      orientation,
      spin: [p * Math.sin(phase), p * Math.cos(phase), s],
    }
  })
}

const about = (axis: number, angle: number): Quaternion => {
  const part = (k: number) => (k === axis ? Math.sin(angle / 2) : 0)
  return [Math.cos(angle / 2), part(0), part(1), part(2)]
}

const multiply = ([a, b, c, d]: Quaternion, [e, f, h, k]: Quaternion): Quaternion => [
  a * e - b * f - c * h - d * k,
  a * f + b * e + c * k - d * h,
  a * h - b * k + c * e + d * f,
  a * k + b * h - c * f + d * e,
]

/** The same run as lines, the reference for every format. */
export async function recordLines(library: RecordingLibrary, rows: readonly TumbleRow[]): Promise<Recording> {
  const run = { run: { gravity: [0, 0, -g], bodies: [{ id: 1, name: 'top', mass, inertia: [1, 1, 2] }] } }
  const frames = rows.map(({ time, position, velocity, orientation, spin }, i) => ({
    frame_id: i + 1,
    time,
    bodies: [{ id: 1, position, velocity, orientation, angular_velocity: spin }],
  }))
  const bytes = Buffer.from([run, ...frames].map((line) => `${JSON.stringify(line)}\n`).join(''))
  await library.recorder.write(
    'reference',
    (async function* () {
      yield bytes
    })(),
  )
  return (await library.open('reference')).recording
}

export async function readFrames(recording: Recording): Promise<readonly Frame[]> {
  const total = recording.summary.frames?.total_frames ?? 0
  return Promise.all(Array.from({ length: total }, (_, i) => recording.frame(i + 1)))
}

export const tumbleRun = { gravity: [0, 0, -g] }
export const tumbleConstants = { mass, inertia: [1, 1, 2] }

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
