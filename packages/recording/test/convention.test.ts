/** Runs of engines with other axes, handedness and orders. */
import { randomUUID } from 'node:crypto'
import { renameSync } from 'node:fs'
import t from 'tap'
import { randomFrom } from '../../../test/random.ts'
import { verifies } from '../../../test/verifies.ts'
import type { Recording, RecordingLibrary } from '../src/index.ts'
import { folders, libraryOver, whole } from './library-kit.ts'
import { streamLines } from './run-lines.ts'

type Vector = readonly [number, number, number]
type Quaternion = readonly [w: number, x: number, y: number, z: number]

/** How an engine writes what a recording with z up, right-handed, w first has. */
interface View {
  readonly convention: object | undefined
  readonly vector: (v: Vector) => Vector
  readonly pseudovector: (v: Vector) => Vector
  /** Values along the axes of a body. */
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

/** The same run of a box and a floor as each engine writes it. */
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

t.test('the convention is stored with the run, so that a later request may omit it', async (t) => {
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

t.test('a convention that differs from earlier lines or is not known is rejected', async (t) => {
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

t.test('an export of a converted run is not converted again', async (t) => {
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
