/** Tests of files of the Python recorder, read by Causeway and by the MCAP library. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { McapIndexedReader, McapStreamReader } from '@mcap/core'
import t, { type Test } from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { bodyMessage, frameMessage, runMessage } from '../../src/formats/mcap/messages.ts'
import type { Frame, Recording } from '../../src/index.ts'
import { folders, libraryOver, whole } from '../library-kit.ts'

t.setTimeout(120_000)

/** Number of truncated files; `CAUSEWAY_LONG` increases it. */
const cuts = process.env.CAUSEWAY_LONG === undefined ? 5 : 40

const recorders = fileURLToPath(new URL('../../../../recorders/', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0

/** Runs a Python program that can import the recorder. */
function runPython(program: string, args: readonly string[] = []) {
  const env = { ...process.env, PYTHONPATH: join(recorders, 'python'), PYTHONDONTWRITEBYTECODE: '1' }
  return spawnSync('python3', ['-c', program, ...args], { env, encoding: 'utf8' })
}

const bodies = [
  {
    id: 1,
    mass: 2,
    restitution: 0.5,
    inertia: [0.1, 0.2, 0.3],
    name: 'crate',
    half_extents: [0.5, 0.5, 0.5],
  },
  { id: 4, mass: 1, shape: { kind: 'capsule', radius: 0.1, half_length: 0.4 } },
  {
    ...{ id: 9, is_environment: true, name: 'floor', shape: { kind: 'plane' }, position: [0, 0, 0] },
    surface_velocity: [1.5, 0, 0],
  },
]
const constants = { dt: 0.01, gravity: [0, 0, -9.81], lambda_unit: 'N·s', engine: 'test' }

/** Returns the state of a frame as arguments of the Python recorder. */
function stateAt(i: number) {
  const touches = i % 3 === 0
  return {
    time: i * 0.01,
    position: [
      [i / 7, 0, 5 - i],
      [1, 2, 3],
    ],
    velocity: [
      [1, 0, -9.81 * i],
      [0, null, 0],
    ],
    orientation: [
      [0.8, 0.6, 0, 0],
      [1, 0, 0, 0],
    ],
    angular_velocity: [
      [0.1, 0.2, 0.3 * i],
      [0, 0, 0],
    ],
    contacts: touches
      ? [0.1, 0.2].map((x) => ({
          ...{ a: 1, b: 9, point: [x, 0, 0], normal: [0, 0, -1], depth: 0.001 * x, tangent1: [1, 0, 0] },
          ...{ tangent2: [0, 1, 0], friction: 0.6, restitution: 0.5, normal_impulse: 0.2 },
          ...{ tangent1_impulse: 0.01, tangent2_impulse: -0.02 },
        }))
      : [],
    solver_iterations: i % 7,
    solver_residual: 1e-9,
    solver_converged: true,
  }
}

/** Returns the same frame as a line. */
function lineAt(i: number): object {
  const { time, position, velocity, orientation, angular_velocity, contacts } = stateAt(i)
  const [first] = contacts
  return {
    frame_id: i,
    time,
    bodies: [1, 4].map((id, k) => ({
      ...{ id, position: position[k], velocity: velocity[k], orientation: orientation[k] },
      angular_velocity: angular_velocity[k],
    })),
    contacts:
      first === undefined
        ? []
        : [
            {
              ...{ a: first.a, b: first.b, normal: first.normal },
              points: contacts.map((contact) => ({
                ...{ point: contact.point, depth: contact.depth, restitution: contact.restitution },
                ...{ tangent1: contact.tangent1, tangent2: contact.tangent2 },
                friction_coefficient: contact.friction,
                normal_lambda: contact.normal_impulse,
                tangent1_lambda: contact.tangent1_impulse,
                tangent2_lambda: contact.tangent2_impulse,
              })),
            },
          ],
    solver: { iterations: i % 7, residual: 1e-9, converged: true },
  }
}

const record = `
import json, sys
from causeway_recorder import Recorder
given = json.load(open(sys.argv[1]))
with Recorder(sys.argv[2], given["bodies"], **given["constants"], **given["options"]) as recorder:
    for state in given["frames"]:
        recorder.frame(**state)
`

/** Records frames with the Python recorder. Returns the file. */
function recordByPython(t: Test, files: string, { frames = 30, options = {} } = {}): string {
  const given = {
    bodies,
    constants,
    options,
    frames: Array.from({ length: frames }, (_, i) => stateAt(i + 1)),
  }
  const [input, file] = [join(files, 'given.txt'), join(files, 'run.mcap')]
  writeFileSync(input, JSON.stringify(given))
  const { status, stderr } = runPython(record, [input, file])
  t.same({ status, stderr }, { status: 0, stderr: '' })
  return file
}

const readFrames = async (recording: Recording, count: number): Promise<readonly Frame[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => recording.frame(i + 1)))

/** Counts the frames of a file with the MCAP library. */
function countFrames(bytes: Uint8Array): number {
  const reader = new McapStreamReader()
  reader.append(bytes)
  let count = 0
  for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord())
    if (record.type === 'Message' && record.channelId === 2) count += 1
  return count
}

if (!hasPython) t.test('the Python recorder', { skip: 'python3 is not installed' }, async () => {})
else {
  verifies('recording:files:mcap', async (t) => {
    const { files, data } = folders(t)
    recordByPython(t, files)
    const lines = [{ run: { ...constants, bodies } }, ...Array.from({ length: 30 }, (_, i) => lineAt(i + 1))]
    writeFileSync(join(files, 'lines.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))
    const library = await libraryOver(t, files, { dir: data })
    const { recording: mcap } = await library.open('run.mcap')
    const { recording: jsonl } = await library.open('lines.jsonl')
    const { provenance, ...summary } = mcap.summary
    t.same(summary, jsonl.summary)
    t.match(provenance, { host: /./ }, 'the recorder determines the provenance')
    t.same(await readFrames(mcap, 30), await readFrames(jsonl, 30))
    t.same(await mcap.systemEnergy(whole), await jsonl.systemEnergy(whole))
    t.notMatch(mcap.summary, { interrupted: true })
    t.match(await library.importRecording('imported', 'run.mcap'), { status: 'finished', total_frames: 30 })
    t.same(await readFrames((await library.open('imported')).recording, 30), await readFrames(mcap, 30))
  })

  verifies('recording:files:provenance', async (t) => {
    const dir = t.testdir({})
    const find = (env: Record<string, string>): unknown => {
      const { PATH = '' } = process.env
      const program =
        'import json, causeway_recorder._provenance as p; print(json.dumps(p.find_provenance()))'
      const { stdout } = spawnSync('python3', ['-c', program], {
        cwd: dir,
        env: { PATH, PYTHONPATH: join(recorders, 'python'), PYTHONDONTWRITEBYTECODE: '1', ...env },
        encoding: 'utf8',
      })
      return JSON.parse(stdout)
    }
    t.match(
      find({ GITHUB_SHA: 'abc', GITHUB_REF_NAME: 'main', CAUSEWAY_SEED: '7', CAUSEWAY_TAGS: 'a, b,,' }),
      {
        commit: 'abc',
        branch: 'main',
        seed: 7,
        tags: ['a', 'b'],
      },
    )
    t.notOk('seed' in (find({ CAUSEWAY_SEED: 'seven', CAUSEWAY_COMMIT: 'x' }) as object))
    for (const args of [
      ['init', '-q', '-b', 'trunk'],
      ['commit', '-q', '--allow-empty', '-m', 'first'],
    ])
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: dir })
    const head = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: dir, encoding: 'utf8' }).stdout.trim()
    t.match(find({ CAUSEWAY_HOST: 'ci-7' }), { commit: head, branch: 'trunk', host: 'ci-7' })
    t.match(
      find({ CAUSEWAY_BRANCH: 'topic' }),
      { commit: head, branch: 'topic' },
      'a variable takes precedence',
    )
  })

  t.test('the list contains MCAP and line files of recordings, but no other .jsonl files', async (t) => {
    const { files, data } = folders(t)
    recordByPython(t, files, { frames: 2 })
    writeFileSync(join(files, 'lines.jsonl'), `${JSON.stringify(lineAt(1))}\n`)
    writeFileSync(join(files, 'log.jsonl'), '{"level": 30}\n')
    writeFileSync(join(files, 'empty.mcap'), '')
    const library = await libraryOver(t, files, { dir: data })
    const { listings } = await library.list()
    t.same(
      listings.map(({ name, is_recording }) => [name, is_recording]),
      [
        ['lines.jsonl', true],
        ['run.mcap', true],
      ],
    )
    await t.rejects(library.open('log.jsonl'), { code: 'INVALID_FRAME', data: { line: 1 } })
    await t.rejects(library.open('empty.mcap'), { code: 'NOT_A_RECORDING' })
  })

  t.test('the indexed reader of the MCAP library reads a file of the Python recorder', async (t) => {
    const { files } = folders(t)
    const bytes = readFileSync(recordByPython(t, files, { frames: 3 }))
    const reader = await McapIndexedReader.Initialize({
      readable: {
        size: async () => BigInt(bytes.length),
        read: async (at, length) => new Uint8Array(bytes.subarray(Number(at), Number(at + length))),
      },
    })
    const times: bigint[] = []
    for await (const { logTime } of reader.readMessages({ topics: ['/causeway/frame'] })) times.push(logTime)
    t.same(times, [10_000_000n, 20_000_000n, 30_000_000n])
    t.match(reader.statistics, { messageCount: 4n, chunkCount: 1 })
    const [schema] = [...reader.schemasById.values()]
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, schema?.data ?? new Uint8Array()))
    const proto = readFileSync(join(recorders, 'causeway.proto'), 'utf8')
    for (const [name, table] of Object.entries({ Run: runMessage, Body: bodyMessage, Frame: frameMessage })) {
      const described = registry
        .getMessage(`causeway.v1.${name}`)
        ?.fields.map((field) => [field.number, field.name])
      const [, text = ''] = new RegExp(`message ${name} \\{([^}]*)\\}`).exec(proto) ?? []
      const declared = [...text.matchAll(/(\w+) = (\d+)(?=[ ;])/g)].filter(([, field]) => field !== 'packed')
      const expected = Object.entries(table).map(([number, [field]]) => [Number(number), field])
      t.same(described, expected, `the descriptor of ${name}`)
      t.same(
        declared.map(([, field, number]) => [Number(number), field]),
        expected,
        `${name} in causeway.proto`,
      )
    }
  })

  verifies('recording:files:cut', async (t) => {
    const { files, data } = folders(t)
    const program = record.replace(
      '        recorder.frame(**state)',
      '        recorder.frame(**state); recorder._flush()',
    )
    const given = {
      bodies,
      constants,
      options: {},
      frames: Array.from({ length: 20 }, (_, i) => stateAt(i + 1)),
    }
    writeFileSync(join(files, 'given.txt'), JSON.stringify(given))
    t.equal(runPython(program, [join(files, 'given.txt'), join(files, 'whole.mcap')]).status, 0)
    const bytes = readFileSync(join(files, 'whole.mcap'))
    const library = await libraryOver(t, files, { dir: data })
    const complete = await readFrames((await library.open('whole.mcap')).recording, 20)
    for (let i = 1; i <= cuts; i++) {
      const name = `cut${i}.mcap`
      copyFileSync(join(files, 'whole.mcap'), join(files, name))
      const length = Math.floor(bytes.length * (0.2 + (0.75 * i) / (cuts + 1)))
      truncateSync(join(files, name), length)
      const expected = countFrames(bytes.subarray(0, length))
      const { recording } = await library.open(name)
      t.match(recording.summary, { interrupted: true, frames: { total_frames: expected } })
      t.same(await readFrames(recording, expected), complete.slice(0, expected))
    }
    t.match(await library.importRecording('cut', 'cut3.mcap'), { status: 'interrupted' })
  })

  verifies('recording:files:flight', async (t) => {
    const { files, data } = folders(t)
    const program = `
import sys
from causeway_recorder import Recorder
recorder = Recorder(sys.argv[1], [{"id": 1, "mass": 1}], dt=0.01, last=50)
z = 1.0
for frame in range(1, 200):
    z = z * 1.5 if frame < 150 else float("nan")
    recorder.frame(position=[0, 0, z])
`
    t.match(runPython(program, [join(files, 'nan.mcap')]), { status: 0, stderr: '' })
    const library = await libraryOver(t, files, { dir: data })
    const { recording } = await library.open('nan.mcap')
    t.match(recording.summary.frames, { first_frame: 101, last_frame: 150 })
    t.match((await recording.frame(150)).states, [{ position: { z: null } }])
  })

  t.test('the flight recorder writes only after a cause, such as an exception', async (t) => {
    const { files, data } = folders(t)
    const program = (end: string) => `
import sys
from causeway_recorder import Recorder
recorder = Recorder(sys.argv[1], [{"id": 1}], dt=0.01, last=5)
for frame in range(1, 20): recorder.frame(position=[0, 0, 1])
${end}
`
    t.match(runPython(program('1 / 0'), [join(files, 'error.mcap')]), {
      status: 1,
      stderr: /ZeroDivisionError/,
    })
    t.match(runPython(program('recorder.close()'), [join(files, 'good.mcap')]), { status: 0, stderr: '' })
    const library = await libraryOver(t, files, { dir: data })
    t.match((await library.open('error.mcap')).recording.summary.frames, { first_frame: 15, last_frame: 19 })
    await t.rejects(library.open('good.mcap'), { code: 'RECORDING_NOT_FOUND' })
  })

  t.test('the Python recorder does not stop a simulation if its disk fails', async (t) => {
    const program = `
from causeway_recorder import Recorder
with Recorder("/dev/full", [{"id": 1}], dt=0.01) as recorder:
    for frame in range(1, 5): recorder.frame(position=[0, 0, 1]); recorder._flush()
with Recorder("/nonexistent/run.mcap", [{"id": 1}]) as recorder: recorder.frame(position=[0, 0, 1])
print("finished")
`
    const { status, stdout, stderr } = runPython(program)
    t.same({ status, stdout }, { status: 0, stdout: 'finished\n' })
    t.match(stderr, /UserWarning: \/dev\/full cannot be written/)
    const wrong = `
from causeway_recorder import Recorder
recorder = Recorder("/dev/null", [{"id": 1}])
for call in (dict(positions=[1]), dict(contacts=[{"a": 1, "b": 2, "norm": 1}])):
    try: recorder.frame(**call)
    except ValueError as error: print(error)
`
    t.match(runPython(wrong).stdout, /no field 'positions'.*\n.*no member 'norm'/)
  })
}
