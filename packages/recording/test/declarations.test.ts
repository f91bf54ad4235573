/** Tests of declarations in run lines: axes, handedness and orders, groups, joints, substeps and provenance. */
import { randomUUID } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Recorder } from '../../../recorders/js/recorder.js'
import { randomFrom } from '../../../test/random.ts'
import { verifies } from '../../../test/verifies.ts'
import type { Recording, RecordingLibrary } from '../src/index.ts'
import { folders, libraryOver, whole } from './library-kit.ts'
import { streamLines } from './run-lines.ts'

t.setTimeout(120_000)

type Vector = readonly [number, number, number]
type Quaternion = readonly [w: number, x: number, y: number, z: number]

/** Converts values of a recording (z up, right-handed, w first) to the convention of an engine. */
interface View {
  readonly convention: object | undefined
  readonly vector: (v: Vector) => Vector
  readonly pseudovector: (v: Vector) => Vector
  /** Converts values along the axes of a body. */
  readonly extents: (v: Vector) => Vector
  readonly quaternion: (q: Quaternion) => readonly number[]
  readonly normal: (v: Vector) => Vector
}

const negate = ([x, y, z]: Vector): Vector => [-x, -y, -z]

function createView(
  convention: { up?: string; handedness?: string; quaternion?: string; normal?: string } | undefined,
): View {
  const isLeft = convention?.handedness === 'left'
  const vector = ([x, y, z]: Vector): Vector => {
    if (convention?.up === 'y') return isLeft ? [x, z, y] : [x, z, -y]
    return isLeft ? [x, -y, z] : [x, y, z]
  }
  const pseudovector = (v: Vector): Vector => (isLeft ? negate(vector(v)) : vector(v))
  return {
    convention,
    vector,
    pseudovector,
    extents: ([x, y, z]) => (convention?.up === 'y' ? [x, z, y] : [x, y, z]),
    quaternion([w, x, y, z]) {
      const axis = pseudovector([x, y, z])
      return convention?.quaternion === 'xyzw' ? [...axis, w] : [w, ...axis]
    },
    normal: (v) => (convention?.normal === 'b_to_a' ? negate(vector(v)) : vector(v)),
  }
}

/** Returns the lines of the same run, a box and a floor, in the convention of an engine. */
function createLines({ convention, vector, pseudovector, extents, quaternion, normal }: View): string[] {
  const random = randomFrom(7)
  const number = (): number => random.below(4000) / 1000 - 1.9995
  const numbers = (): Vector => [number(), number(), number()]
  const run = {
    ...(convention === undefined ? {} : { convention }),
    dt: 0.01,
    gravity: vector([0.1, 0.2, -9.81]),
    lambda_unit: 'N·s',
    bodies: [
      {
        id: 1,
        mass: 2,
        inertia: extents([0.1, 0.2, 0.3]),
        half_extents: extents([1, 2, 3]),
        shape: { kind: 'box' },
      },
      {
        ...{ id: 2, is_environment: true, shape: { kind: 'plane' }, position: vector([1, 2, 3]) },
        orientation: quaternion([0.8, 0.6, 0, 0]),
        surface_velocity: vector([1.5, 0, 0.5]),
      },
    ],
  }
  const frames = Array.from({ length: 6 }, (_, i) => ({
    frame_id: i + 1,
    time: (i + 1) * 0.01,
    bodies: [
      {
        ...{
          id: 1,
          position: vector(numbers()),
          velocity: vector(numbers()),
          acceleration: vector(numbers()),
        },
        orientation: quaternion([0.5, 0.5, -0.1, Math.sqrt(0.49)]),
        [i % 2 === 0 ? 'angular_velocity' : 'angular_velocity_world']: pseudovector(numbers()),
        angular_acceleration: pseudovector(numbers()),
        forces: [{ force: vector(numbers()), torque: pseudovector(numbers()), at: vector(numbers()) }],
      },
    ],
    contacts: [
      {
        ...{ a: 1, b: 2, normal: normal([0, 0.6, -0.8]) },
        points: [
          {
            ...{ point_a: vector(numbers()), point_b: vector(numbers()), depth: 0.1, normal_lambda: 0.5 },
            ...{ tangent1: vector([1, 0, 0]), tangent2: vector([0, 0.8, 0.6]), tangent1_lambda: 0.1 },
            ...{ lever_arm_a: vector(numbers()), lever_arm_b: vector(numbers()), friction_coefficient: 0.5 },
          },
        ],
      },
    ],
  }))
  return [{ run }, ...frames].map((line) => JSON.stringify(line))
}

async function record(library: RecordingLibrary, lines: readonly string[]): Promise<Recording> {
  const name = `run-${randomUUID()}`
  await library.recorder.write(name, streamLines(lines))
  await library.recorder.finish(name)
  return (await library.open(name)).recording
}

const conventions = [
  { up: 'y' },
  { up: 'y', handedness: 'left', quaternion: 'xyzw' },
  { handedness: 'left' },
  { quaternion: 'xyzw', normal: 'b_to_a' },
  { up: 'z', handedness: 'right', quaternion: 'wxyz', normal: 'a_to_b' },
] as const

verifies('recording:files:convention', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const expected = await record(library, createLines(createView(undefined)))
  for (const convention of conventions) {
    const found = await record(library, createLines(createView(convention)))
    const title = JSON.stringify(convention)
    t.same(found.summary, expected.summary, title)
    for (let id = 1; id <= 6; id++) t.same(await found.frame(id), await expected.frame(id), `${title} ${id}`)
    t.same(await found.systemEnergy(whole), await expected.systemEnergy(whole), title)
  }
})

t.test('the convention is stored with the run, so that later requests may omit it', async (t) => {
  const { files, data } = folders(t)
  const lines = createLines(createView({ up: 'y', handedness: 'left' }))
  const first = await libraryOver(t, files, { dir: data })
  const expected = await record(first, lines)
  await first.recorder.write('run', streamLines(lines.slice(0, 3)))
  await first.close()
  const second = await libraryOver(t, files, { dir: data })
  await second.recorder.write('run', streamLines(lines.slice(3)))
  const { recording } = await second.open('run')
  const same = (await second.open(expected.identity.id)).recording
  for (let id = 1; id <= 6; id++) t.same(await recording.frame(id), await same.frame(id))
})

t.test('an invalid convention, or a different one from earlier lines, is rejected', async (t) => {
  const { files, data } = folders(t)
  const { recorder } = await libraryOver(t, files, { dir: data })
  const write = (line: object) => recorder.write('run', streamLines([JSON.stringify(line)]))
  await t.rejects(write({ run: { convention: { up: 'x' } } }), {
    code: 'INVALID_FRAME',
    data: { path: 'run.convention.up', expected: 'z or y' },
  })
  await t.rejects(write({ run: { convention: { upwards: 'y' } } }), { code: 'INVALID_FRAME' })
  await write({ run: { convention: { up: 'y' } } })
  await write({ run: { bodies: [{ id: 1 }] } })
  await t.rejects(write({ run: { convention: { up: 'z' } } }), { code: 'FRAME_CONFLICT' })
  await write({ run: { convention: { up: 'y' } } })
})

t.test('importing an export of a converted run does not convert it again', async (t) => {
  const { files, data, more } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  await library.recorder.write('run', streamLines(createLines(createView({ up: 'y', quaternion: 'xyzw' }))))
  await library.recorder.finish('run')
  const { file } = await library.recorder.export('run')
  renameSync(file, `${files}/export.db`)
  const other = await libraryOver(t, files, { dir: more })
  await other.importRecording('copy', 'export.db')
  const [a, b] = [(await library.open('run')).recording, (await other.open('copy')).recording]
  for (let id = 1; id <= 6; id++) t.same(await b.frame(id), await a.frame(id))
  t.same(b.summary.geometry, a.summary.geometry)
  t.same(b.summary.gravity_m_s2, a.summary.gravity_m_s2)
})

const provenance = {
  commit: '0123abc',
  branch: 'main',
  scenario: 'drop',
  seed: 7,
  tags: ['nightly', 'ci'],
  host: 'rig-1',
  engine_version: '1.2.3',
}

const run = {
  engine: 'hand',
  dt: 0.01,
  gravity: [0, 0, -9.81],
  lambda_unit: 'N·s' as const,
  substeps: 4,
  ...provenance,
  bodies: [
    { id: 1, mass: 2, group: 5 },
    { id: 2, mass: 1, group: 5, ignores: [3] },
    { id: 3, is_environment: true, surface_velocity: [1.5, 0, 0.5] },
  ],
}

const joint = { a: 1, b: 2, kind: 'hinge', point: [1, 2, 3], impulse: [4, 5, 6], torque: [7, 8, 9] }
const anchor = { a: 3, b: 1, kind: 'ball', point: [0, 0, 1], impulse: [1, 0, 0], position_error: 0.002 }

const state = { position: [0, 0, 1], velocity: [0, 0, 0], orientation: [1, 0, 0, 0] }

const frame = (joints: readonly object[] | undefined): object => ({
  time: 0.01,
  contacts: [],
  ...(joints && { joints }),
})

const toLine = (id: number, joints: readonly object[] | undefined): string =>
  JSON.stringify({
    frame_id: id,
    ...frame(joints),
    bodies: [
      { id: 1, ...state },
      { id: 2, ...state },
    ],
  })

const frames = [[joint, anchor], undefined] as const

const expected = [
  {
    body_a_id: 1,
    body_b_id: 2,
    kind: 'hinge',
    point: { x: 1, y: 2, z: 3 },
    impulse: { x: 4, y: 5, z: 6 },
    torque: { x: 7, y: 8, z: 9 },
    position_error: null,
  },
  // The environment becomes body b, so the impulse changes its sign.
  {
    body_a_id: 1,
    body_b_id: 0x8000_0003,
    kind: 'ball',
    point: { x: 0, y: 0, z: 1 },
    impulse: { x: -1, y: 0, z: 0 },
    torque: { x: null, y: null, z: null },
    position_error: 0.002,
  },
]

verifies('recording:articulation', 'joints are the same in lines, MCAP, exports and imports', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const lines = [JSON.stringify({ run }), ...frames.map((joints, i) => toLine(i + 1, joints))]
  await library.recorder.write('lines', streamLines(lines))
  const { file } = await library.recorder.export('lines')
  renameSync(file, join(files, 'out.db'))
  await library.importRecording('back', 'out.db')
  const parts: Uint8Array[] = []
  const recorder = new Recorder((bytes: Uint8Array) => parts.push(bytes), run)
  for (const joints of frames) {
    const columns = { position: [state.position, state.position], velocity: [state.velocity, state.velocity] }
    recorder.frame({ ...frame(joints), ...columns, orientation: [state.orientation, state.orientation] })
  }
  recorder.close()
  writeFileSync(join(files, 'js.mcap'), Buffer.concat(parts))
  for (const name of ['lines', 'out.db', 'back', 'js.mcap']) {
    const { recording } = await library.open(name)
    t.same((await recording.frame(1)).joints, expected, name)
    t.same((await recording.frame(2)).joints, [], name)
    t.match(recording.summary, { substeps: 4, provenance }, name)
    t.same(
      recording.summary.geometry.map(({ body_id, group, ignores, surface_velocity }) => [
        ...[body_id, group, ignores, surface_velocity],
      ]),
      [
        [1, 5, undefined, undefined],
        [2, 5, [3], undefined],
        [0x8000_0003, undefined, undefined, [1.5, 0, 0.5]],
      ],
      name,
    )
  }
  t.match(await library.recorder.write('lines', streamLines(lines)), { ignored: 2 }, 'ignores repeated lines')
  await t.rejects(library.recorder.write('lines', streamLines([toLine(1, [joint])])), {
    code: 'FRAME_CONFLICT',
  })
  await t.rejects(
    library.recorder.write('lines', streamLines([JSON.stringify({ run: { ...run, seed: 8 } })])),
    {
      code: 'FRAME_CONFLICT',
      data: { what: 'provenance' },
    },
  )
})

verifies('recording:articulation', 'joints of a left-handed run with y up are converted', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const convention = { up: 'y', handedness: 'left' }
  await library.recorder.write(
    'left',
    streamLines([JSON.stringify({ run: { ...run, convention } }), toLine(1, [joint])]),
  )
  const recording: Recording = (await library.open('left')).recording
  t.match((await recording.frame(1)).joints, [
    // Order of axes: x, z, y. A torque is a pseudovector.
    { point: { x: 1, y: 3, z: 2 }, impulse: { x: 4, y: 6, z: 5 }, torque: { x: -7, y: -9, z: -8 } },
  ])
})

t.test('errors for invalid joints and provenance contain the path of the member', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const invalid: readonly (readonly [object, string])[] = [
    [{ run: { ...run, tags: ['a', 7] } }, 'run.tags[1]'],
    [{ run: { ...run, seed: -1 } }, 'run.seed'],
    [{ run: { ...run, commit: 7 } }, 'run.commit'],
    [{ run: { ...run, substeps: 0 } }, 'run.substeps'],
    [{ run: { ...run, bodies: [{ id: 1, group: 'a' }] } }, 'run.bodies[0].group'],
    [{ run: { ...run, bodies: [{ id: 1, ignores: [2, -1] }] } }, 'run.bodies[0].ignores[1]'],
  ]
  for (const [line, path] of invalid)
    await t.rejects(library.recorder.write('bad', streamLines([JSON.stringify(line)])), {
      code: 'INVALID_FRAME',
      data: { path },
    })
  const joints: readonly (readonly [object, string])[] = [
    [{ ...joint, kind: 'rope' }, 'joints[0].kind'],
    [{ ...joint, b: 77 }, 'joints[0].b'],
    [{ ...joint, impulse: [1, 2] }, 'joints[0].impulse'],
    [{ ...joint, force: [1, 2, 3] }, 'joints[0].force'],
  ]
  for (const [one, path] of joints)
    await t.rejects(library.recorder.write('bad', streamLines([JSON.stringify({ run }), toLine(1, [one])])), {
      code: 'INVALID_FRAME',
      data: { path },
    })
})
