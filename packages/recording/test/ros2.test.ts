/** Tests of ROS 2 bags: poses, odometry, contacts, several files and damage. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { readSqlitePart } from '../src/imports/ros2/bag-part.ts'
import { folders, libraryOver } from './library-kit.ts'
import { type RosMessage, toStamp, toXyz, writeMcapBag, writeMetadata, writeSqliteBag } from './ros2-bags.ts'
import {
  readFrames,
  recordLines,
  type TumbleRow,
  tumble,
  tumbleConstants,
  tumbleRun,
} from './tumbling-top.ts'

t.setTimeout(120_000)

async function openLibrary(t: Test) {
  const { files, data, elsewhere } = folders(t)
  return { files, elsewhere, library: await libraryOver(t, files, { dir: data }) }
}

const stepNs = 10_000_000n
const getStamp = (i: number): bigint => BigInt(i + 1) * stepNs

/** Returns the rows with the times that stamps can represent. */
const stamped = (rows: readonly TumbleRow[]): readonly TumbleRow[] =>
  rows.map((row, i) => ({ ...row, time: Number(getStamp(i)) / 1e9 }))

const toQuaternion = ([w, x, y, z]: TumbleRow['orientation']) => ({ w, x, y, z })

/** Rotates a world vector into the body frame. */
function toBody(
  [w, x, y, z]: TumbleRow['orientation'],
  [a = 0, b = 0, c = 0]: readonly number[],
): readonly number[] {
  const [p, q, r] = [y * c - z * b - w * a, z * a - x * c - w * b, x * b - y * a - w * c]
  return [a + 2 * (y * r - z * q), b + 2 * (z * p - x * r), c + 2 * (x * q - y * p)]
}

const header = (i: number, frame_id: string) => ({ stamp: toStamp(getStamp(i)), frame_id })

const transform = (row: TumbleRow, i: number, [parent, child]: readonly [string, string]): RosMessage => ({
  topic: '/tf',
  type: 'tf2_msgs/msg/TFMessage',
  // The log time is later than the stamp.
  logTime: getStamp(i) + 5_000_000n,
  value: {
    transforms: [
      {
        header: header(i, parent),
        child_frame_id: child,
        transform: { translation: toXyz(row.position), rotation: toQuaternion(row.orientation) },
      },
    ],
  },
})

const odometry = (row: TumbleRow, i: number): RosMessage => ({
  topic: '/odom',
  type: 'nav_msgs/msg/Odometry',
  logTime: getStamp(i) + 6_000_000n,
  value: {
    header: header(i, 'world'),
    child_frame_id: 'top',
    pose: {
      pose: { position: toXyz(row.position), orientation: toQuaternion(row.orientation) },
      covariance: new Float64Array(36),
    },
    twist: {
      twist: { linear: toXyz(toBody(row.orientation, row.velocity)), angular: toXyz(row.spin) },
      covariance: new Float64Array(36),
    },
  },
})

const mapping = { bodies: { top: tumbleConstants }, run: tumbleRun }

verifies('recording:import:ros2', 'odometry yields the same poses and twists as lines', async (t) => {
  const { files, library } = await openLibrary(t)
  const rows = stamped(tumble(200))
  const messages = rows.flatMap((row, i) => [transform(row, i, ['world', 'top']), odometry(row, i)])
  await writeMcapBag(join(files, 'top.mcap'), messages)
  await writeMcapBag(join(files, 'bare.mcap'), messages, { hasSchemas: false })
  writeSqliteBag(join(files, 'top.db3'), messages)
  const reference = await readFrames(await recordLines(library, rows))
  for (const name of ['top.mcap', 'bare.mcap', 'top.db3']) {
    const { recording } = await library.importFile(name, mapping)
    const frames = await readFrames(recording)
    t.equal(frames.length, 200, name)
    for (const [i, frame] of frames.entries()) {
      const expected = reference[i]
      const [state, other] = [frame.states[0], expected?.states[0]]
      if (state === undefined || other === undefined) throw new Error('a frame has no state')
      t.equal(frame.simulation_time, expected?.simulation_time)
      t.same(state.position, other.position)
      t.same(state.orientation, other.orientation)
      t.same(state.angular_velocity, other.angular_velocity)
      const speed = (v: typeof state.velocity) => Object.values(v ?? {}) as number[]
      const error = Math.hypot(
        ...speed(state.velocity).map((one, k) => one - (speed(other.velocity)[k] ?? 0)),
      )
      t.ok(error < 1e-13, `velocity differs by ${error}`)
    }
    t.ok(recording.summary.missing.includes('collisions'))
  }
})

verifies(
  'recording:import:ros2',
  'a bag of three files with metadata is opened as one run without a mapping',
  async (t) => {
    const { files, library } = await openLibrary(t)
    const rows = stamped(tumble(90))
    const messages = rows.map((row, i) => transform(row, i, ['world', 'top']))
    for (const storage of ['mcap', 'sqlite3'] as const) {
      const folder = join(files, storage)
      mkdirSync(folder)
      const names: string[] = []
      for (let part = 0; part < 3; part++) {
        const name = `bag_${part}.${storage === 'mcap' ? 'mcap' : 'db3'}`
        const own = messages.slice(30 * part, 30 * (part + 1))
        if (storage === 'mcap') await writeMcapBag(join(folder, name), own)
        else writeSqliteBag(join(folder, name), own)
        names.push(name)
      }
      writeMetadata(folder, names, storage)
      const { recording } = await library.open(folder)
      const frames = await readFrames(recording)
      t.equal(frames.length, 90)
      t.same(
        frames.map(({ simulation_time }) => simulation_time),
        rows.map(({ time }) => time),
      )
      t.same(
        (await library.open(join(folder, 'metadata.yaml'))).recording.identity,
        recording.identity,
        'the metadata file names the same recording',
      )
      t.match(recording.identity, { id: storage, name: storage })
      t.strictNotSame(frames[0]?.states[0]?.velocity?.x, 0, 'velocities that are not recorded are not 0')
    }
  },
)

verifies('recording:import:ros2', 'transforms are composed only if their stamps are equal', async (t) => {
  const { files, library } = await openLibrary(t)
  const identity = [1, 0, 0, 0] as const
  const at = (x: number): TumbleRow => ({
    time: 0,
    position: [x, 0, 0],
    velocity: [],
    orientation: identity,
    spin: [0, 0, 0],
  })
  const messages = [0, 1, 2, 3].flatMap((i) => [
    transform(at(i), i, ['map', 'base']),
    // The arm has no transform with the stamp of frame 3.
    ...(i === 2 ? [] : [transform(at(10), i, ['base', 'arm'])]),
  ])
  const mount = { ...transform(at(100), 0, ['world', 'map']), topic: '/tf_static' }
  // The order of the log is reversed.
  const shuffled = [mount, ...messages.toReversed()]
  await writeMcapBag(join(files, 'arm.mcap'), shuffled)
  const { recording, notes } = await library.importFile('arm.mcap', undefined)
  const frames = await readFrames(recording)
  t.same(
    frames.map(({ states }) => states.map(({ position }) => position.x).sort()),
    [[100, 110], [101, 111], [102], [103, 113]],
  )
  t.match(notes.join('\n'), /1 of 4 frames lack bodies.*nothing was resampled/)
  t.match(notes.join('\n'), /positions are in the frame world/)
})

verifies('recording:import:ros2', 'contacts of Gazebo get the impulses of their wrenches', async (t) => {
  const { files, library } = await openLibrary(t)
  const still: TumbleRow = {
    time: 0,
    position: [0, 0, 0.5],
    velocity: [],
    orientation: [1, 0, 0, 0],
    spin: [0, 0, 0],
  }
  const up = { x: 0, y: 0, z: 1 }
  const wrench = (force: object) => ({ force, torque: toXyz([]) })
  const contact = (i: number, normal: object): RosMessage => ({
    topic: '/contacts',
    type: 'ros_gz_interfaces/msg/Contacts',
    logTime: getStamp(i),
    value: {
      header: header(i, ''),
      contacts: [
        {
          collision1: { id: 1n, name: 'box::link::collision', type: 3 },
          collision2: { id: 2n, name: 'ground_plane::link::collision', type: 3 },
          positions: [toXyz([0.1, 0, 0])],
          normals: [normal],
          depths: [0.001],
          wrenches: [
            {
              header: header(i, ''),
              body_1_name: { data: 'box' },
              body_1_id: { data: 1 },
              body_2_name: { data: 'ground_plane' },
              body_2_id: { data: 2 },
              body_1_wrench: wrench({ x: -3, y: 0, z: 19.62 }),
              body_2_wrench: wrench({ x: 3, y: 0, z: -19.62 }),
            },
          ],
        },
      ],
    },
  })
  const poses = [0, 1, 2].map((i) => transform(still, i, ['world', 'box']))
  // Engines write the normal in either direction.
  await writeMcapBag(join(files, 'box.mcap'), [...poses, contact(0, up), contact(1, { ...up, z: -1 })])
  const without = await library.importFile('box.mcap', undefined)
  t.ok(without.recording.summary.missing.includes('collisions'))
  t.match(without.notes.join('\n'), /2 messages of \/contacts were left out/)
  const { recording } = await library.importFile('box.mcap', {
    contacts: ['/contacts'],
    bodies: { box: { mass: 2 } },
  })
  const frames = await readFrames(recording)
  for (const frame of frames.slice(0, 2))
    t.match(frame, {
      collisions: [{ body_a_id: 1, normal: { x: 0, y: 0, z: -1 }, penetration_depth: 0.001 }],
      friction_constraints: [
        { normal_lambda: 19.62, tangent1: { x: -1 }, tangent1_lambda: 3, tangent2_lambda: 0 },
      ],
    })
  t.same(frames[2]?.collisions, [])
  t.equal(recording.summary.lambda_unit, 'N')
  t.match(recording.summary.environment_bodies, [{ body_id: 2 ** 31 + 2 }])
})

verifies(
  'recording:import:hostile',
  'a damaged bag is rejected with a code, and a truncated one is read up to its end',
  inCI(async (t) => {
    const { files, elsewhere, library } = await openLibrary(t)
    const rows = stamped(tumble(90))
    const messages = rows.map((row, i) => transform(row, i, ['world', 'top']))
    await writeMcapBag(join(files, 'good.mcap'), messages)
    const good = readFileSync(join(files, 'good.mcap'))
    writeFileSync(join(files, 'cut.mcap'), good.subarray(0, Math.floor(good.length * 0.6)))
    const flipped = Buffer.from(good)
    flipped.fill(0xff, 2000, 2040)
    writeFileSync(join(files, 'flipped.mcap'), flipped)
    const cycle = [
      transform(rows[0] as TumbleRow, 0, ['a', 'b']),
      transform(rows[0] as TumbleRow, 0, ['b', 'a']),
    ]
    await writeMcapBag(join(files, 'cycle.mcap'), cycle)
    const text = { topic: '/chatter', type: 'std_msgs/msg/String', logTime: 1n, value: { data: 'hello' } }
    await writeMcapBag(join(files, 'text.mcap'), [text])
    writeFileSync(join(files, 'text.db3'), 'not a database, but longer than the header of one'.repeat(9))
    const endless = new Database(join(files, 'endless.db3'))
    endless.exec(`CREATE TABLE topics(id, name, type, serialization_format);
    CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT i AS topic_id, i AS timestamp, x'00' AS data FROM n`)
    endless.close()
    writeSqliteBag(join(files, 'whole.db3'), messages)
    const damaged = readFileSync(join(files, 'whole.db3')).fill(0xff, 8192, 8400)
    writeFileSync(join(files, 'damaged.db3'), damaged)
    for (const [name, bytes] of Object.entries({
      'zipped.db3': gzipSync(good),
      'zipped.mcap': gzipSync(good),
    }))
      writeFileSync(join(files, name), bytes)
    for (const [name, lines] of Object.entries({
      outside: '../../elsewhere/secret.mcap',
      linked: 'link.mcap',
      lost: 'lost.mcap',
    })) {
      mkdirSync(join(files, name))
      writeMetadata(join(files, name), [lines], 'mcap')
    }
    writeFileSync(join(elsewhere, 'secret.mcap'), good)
    symlinkSync(join(elsewhere, 'secret.mcap'), join(files, 'linked', 'link.mcap'))
    const expected: Record<string, { code: string; message?: RegExp; remedy?: RegExp }> = {
      'flipped.mcap': { code: 'RECORDING_DAMAGED' },
      'cycle.mcap': { code: 'RECORDING_DAMAGED', message: /cycle/ },
      'text.mcap': { code: 'NOT_A_RECORDING', message: /no poses/ },
      'text.db3': { code: 'NOT_A_DATABASE' },
      'damaged.db3': { code: 'RECORDING_DAMAGED', remedy: /record again/ },
      'zipped.db3': { code: 'NOT_A_DATABASE', remedy: /decompress .*gzip/ },
      'zipped.mcap': { code: 'NOT_A_RECORDING', remedy: /decompress .*gzip/ },
      'endless.db3': { code: 'RECORDING_DAMAGED', message: /no tables of a bag/ },
      outside: { code: 'RECORDING_DAMAGED', message: /not a bag file in its folder/ },
      linked: { code: 'RECORDING_DAMAGED', message: /not a bag file in its folder/ },
      lost: { code: 'RECORDING_DAMAGED', message: /does not exist/ },
    }
    for (const [name, error] of Object.entries(expected)) await t.rejects(library.open(name), error, name)
    const { recording } = await library.open('cut.mcap')
    t.ok(recording.summary.interrupted)
    t.ok((recording.summary.frames?.total_frames ?? 0) > 20)
  }),
)

verifies('recording:import:ros2', 'reading an SQLite bag can be cancelled between messages', async (t) => {
  const dir = t.testdir({})
  const [row] = stamped(tumble(1))
  if (row === undefined) throw new Error('no row')
  const messages = Array.from({ length: 2000 }, (_, i) => transform(row, i, ['world', 'top']))
  writeSqliteBag(join(dir, 'top.db3'), messages)
  const controller = new AbortController()
  const call = { signal: controller.signal, progress: () => {} }
  const reason = new Error('cancelled')
  let read = 0
  const readAll = async () => {
    for await (const _ of readSqlitePart(join(dir, 'top.db3'), dir, call)) {
      if (read === 0) setImmediate(() => controller.abort(reason))
      read += 1
    }
  }
  await t.rejects(readAll(), reason)
  t.ok(read < 2000, `${read} messages were read`)
})

verifies('recording:import:hostile', 'a bag with too many topics is rejected', async (t) => {
  const { files, library } = await openLibrary(t)
  const [row] = stamped(tumble(1))
  if (row === undefined) throw new Error('no row')
  writeSqliteBag(join(files, 'topics.db3'), [transform(row, 0, ['world', 'top'])])
  const db = new Database(join(files, 'topics.db3'))
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO topics (name, type, serialization_format, offered_qos_profiles)
    SELECT '/t' || i, 'std_msgs/msg/String', 'cdr', '' FROM n`)
  db.close()
  await t.rejects(library.open('topics.db3'), {
    code: 'IMPORT_LIMIT',
    message: /too many topics, more than 10000/,
  })
})

const samples = process.env.CAUSEWAY_REAL_BAGS ?? ''
const skip = samples === '' ? 'CAUSEWAY_REAL_BAGS does not name the folder of real bags' : false

/** Test bags of rosbag2. They do not contain poses, so the numbers of messages show that they are read completely. */
t.test('every message of real rosbag2 bags is read', { skip }, async (t) => {
  const { data } = folders(t)
  const library = await libraryOver(t, samples, { dir: data })
  const counts = { HHH: 726, GGG: 731, FFF: 772, EEE: 804, CCC: 742, DDD: 753, BBB: 742, AAA: 804 }
  const expected = {
    'mcap-wbag': counts,
    'sqlite3-wbag': counts,
    'mcap-cdr_test': { '/array_topic': 4, '/test_topic': 3 },
  }
  for (const [name, topics] of Object.entries(expected)) {
    const error = await library.open(name).then(
      () => null,
      (reason: { code: string; data: { topics: { name: string; messages: number }[] } }) => reason,
    )
    t.equal(error?.code, 'NOT_A_RECORDING', name)
    t.same(Object.fromEntries(error?.data.topics.map((topic) => [topic.name, topic.messages]) ?? []), topics)
  }
})
