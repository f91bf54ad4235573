/** Groups, joints, substeps and provenance in every format. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Recorder } from '../../../recorders/js/recorder.js'
import { verifies } from '../../../test/verifies.ts'
import type { Recording } from '../src/index.ts'
import { folders, libraryOver } from './library-kit.ts'
import { streamLines } from './run-lines.ts'

t.setTimeout(120_000)

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
    { id: 3, is_environment: true },
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
  // The environment is b, so that the impulse on the other body changes sign.
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

verifies('recording:articulation', 'joints are equal as lines, MCAP, export and import', async (t) => {
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
      recording.summary.geometry.map(({ body_id, group, ignores }) => [body_id, group, ignores]),
      [
        [1, 5, undefined],
        [2, 5, [3]],
      ],
      name,
    )
  }
  t.match(await library.recorder.write('lines', streamLines(lines)), { ignored: 2 }, 'sent again')
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
    // x, z, y; a torque is a pseudovector.
    { point: { x: 1, y: 3, z: 2 }, impulse: { x: 4, y: 6, z: 5 }, torque: { x: -7, y: -9, z: -8 } },
  ])
})

t.test('invalid joints and provenance name the member', async (t) => {
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
