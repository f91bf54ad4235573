/** Tests of Parquet, npz and HDF5 files: written by other libraries, generated, and hostile. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isCausewayError } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { requirePackages } from '../../../test/downloads/optional.ts'
import { randomFrom } from '../../../test/random.ts'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { importFile } from '../src/imports/import-file.ts'
import type { RecordingLibrary } from '../src/index.ts'
import { writeH5, writeTop } from './h5-files.ts'
import { folders, libraryOver } from './library-kit.ts'
import { toBytes, writeNpy, writeZip } from './npz-files.ts'
import { sampleFrames } from './samples/write-samples.ts'
import { readFrames, recordLines, tumble, tumbleConstants, tumbleRun } from './tumbling-top.ts'

t.setTimeout(120_000)

const skip = requirePackages('h5wasm')

const samples = join(import.meta.dirname, 'samples')

const flat = {
  time: 't',
  bodies: {
    top: {
      position: ['x', 'y', 'z'],
      quaternion: { columns: ['qx', 'qy', 'qz', 'qw'], order: 'xyzw' },
      velocity: ['vx', 'vy', 'vz'],
      angular_velocity: { columns: ['wx', 'wy', 'wz'], frame: 'body' },
      ...tumbleConstants,
    },
  },
  run: tumbleRun,
}

const wide = (names: readonly [position: string, quaternion: string, velocity: string, spin: string]) => ({
  time: 't',
  bodies: {
    top: {
      position: [names[0]],
      quaternion: { columns: [names[1]], order: 'xyzw' },
      velocity: [names[2]],
      angular_velocity: { columns: [names[3]], frame: 'body' },
      ...tumbleConstants,
    },
  },
  run: tumbleRun,
})

async function openLibrary(t: Test) {
  const { files, data } = folders(t)
  return { files, data, library: await libraryOver(t, files, { dir: data }) }
}

interface Proposed {
  readonly code: string
  readonly data: {
    readonly columns: readonly object[]
    readonly rows: number
    readonly notes: readonly string[]
    readonly proposed_mapping: {
      readonly time: unknown
      readonly bodies: Record<string, typeof flat.bodies.top>
    }
  }
}

const proposal = (library: RecordingLibrary, path: string): Promise<Proposed> =>
  library.importFile(path, undefined).then(
    () => Promise.reject(new Error(`${path} was imported without a mapping`)),
    (error) => error,
  )

verifies('recording:import:arrays', async (t) => {
  const { files, library } = await openLibrary(t)
  const reference = await recordLines(library, tumble(sampleFrames))
  const expected = await readFrames(reference)
  const mappings = {
    'duckdb-zstd.parquet': flat,
    'hyparquet-snappy.parquet': flat,
    'numpy.npz': wide(['top_pos', 'top_quat', 'top_vel', 'top_angvel']),
  }
  for (const [name, mapping] of Object.entries(mappings)) {
    copyFileSync(join(samples, name), join(files, name))
    const { recording, notes } = await library.importFile(name, mapping)
    t.same(notes, [], name)
    t.same(await readFrames(recording), expected, name)
    t.same(recording.summary.missing, reference.summary.missing, name)
  }
  const name = 'duckdb-lists.parquet'
  copyFileSync(join(samples, name), join(files, name))
  const { code, data } = await proposal(library, name)
  t.equal(code, 'MAPPING_NEEDED')
  t.equal(data.rows, sampleFrames)
  t.match(data.columns, [
    { name: 'stamp', type: 'number' },
    { name: 'top_position', width: 3 },
    { name: 'top_quaternion', width: 4 },
  ])
  t.match(data.proposed_mapping, {
    time: 'stamp',
    time_unit: 'ns',
    bodies: { top: { quaternion: { columns: ['top_quaternion[0:4]'], order: 'xyzw' } } },
  })
  t.match(data.notes.join(), /agrees with the poses only in this order/)
  const { recording } = await library.importFile(name, { ...data.proposed_mapping, run: tumbleRun })
  const frames = await readFrames(recording)
  t.same(
    frames.map(({ states }) => states),
    expected.map(({ states }) => states),
  )
  t.ok(
    Math.abs((frames[99]?.simulation_time ?? 0) - 0.99) < 1e-9,
    'converts times in ns exactly, relative to the first',
  )
})

verifies('recording:import:mapping', 'arrays without a row per time are listed and mappable', async (t) => {
  const { files, library } = await openLibrary(t)
  copyFileSync(join(samples, 'numpy.npz'), join(files, 'numpy.npz'))
  const { data } = await proposal(library, 'numpy.npz')
  t.match(data.notes.join(), /leaves out arrays without 120 rows: dt \(one value\), other \(7 x 3\)/)
  t.match(data.columns, [{ name: 't' }, { name: 'top_pos', width: 3 }, { name: 'top_quat' }])
  t.equal(data.proposed_mapping.bodies.top?.quaternion.order, 'xyzw')
  const other = { time: { step: 0.5 }, bodies: { other: { position: ['other'] } } }
  t.equal((await library.importFile('numpy.npz', other)).recording.summary.frames?.total_frames, 7)
  const mixed = { time: 't', bodies: { other: { position: ['other'] } } }
  await t.rejects(library.importFile('numpy.npz', mixed), {
    code: 'INVALID_MAPPING',
    message: /one number of rows: t has 120, other 7/,
  })
  copyFileSync(join(samples, 'numpy-pickled.npz'), join(files, 'pickled.npz'))
  const pickled = await proposal(library, 'pickled.npz')
  t.match(pickled.data.notes.join(), /notes holds pickled Python objects, which are never read/)
  await t.rejects(library.importFile('pickled.npz', { time: 't', bodies: { a: { position: ['notes'] } } }), {
    code: 'INVALID_MAPPING',
  })
})

/** Imports in this process. Resolves to the error, or to `undefined`. */
async function importHere(
  path: string,
  mapping: object,
  progress: (done: number) => void = () => {},
): Promise<unknown> {
  const target = `${path}.${crypto.randomUUID()}.db`
  try {
    const call = { signal: AbortSignal.timeout(60_000), progress }
    await importFile(path, target, { mapping: JSON.stringify(mapping), scratch: dirname(path) }, call)
    return undefined
  } catch (error) {
    return error
  } finally {
    rmSync(target, { force: true })
  }
}

verifies(
  'recording:import:hostile',
  'a corrupted array file is imported, or rejected with an error code',
  inCI(async (t) => {
    const mappings = {
      'duckdb-zstd.parquet': flat,
      'hyparquet-snappy.parquet': flat,
      'duckdb-lists.parquet': {
        time: 'stamp',
        time_unit: 'ns',
        bodies: { top: { position: ['top_position'] } },
      },
      'numpy.npz': wide(['top_pos', 'top_quat', 'top_vel', 'top_angvel']),
    }
    const random = randomFrom(20_261)
    for (const [name, mapping] of Object.entries(mappings)) {
      const good = readFileSync(join(samples, name))
      const path = join(t.testdir({}), name)
      for (const share of [0, 0.3, 0.9, 0.999]) {
        writeFileSync(path, good.subarray(0, Math.floor(good.length * share)))
        t.match(await importHere(path, mapping), { code: /RECORDING_DAMAGED|NOT_A_RECORDING/ }, `${name} cut`)
      }
      // Most changes affect the metadata at the end. Changed Snappy files are excluded, because the reader can loop.
      for (let i = 0; i < (name.includes('snappy') ? 0 : 100); i++) {
        const changed = Buffer.from(good)
        const count = 1 + random.below(3)
        const from = i % 3 === 0 ? 0 : good.length - Math.min(good.length, 3000)
        for (let k = 0; k < count; k++) changed[from + random.below(good.length - from)] = random.below(256)
        writeFileSync(path, changed)
        const error = await importHere(path, mapping)
        if (error !== undefined && !isCausewayError(error)) t.error(error, `${name}, change ${i}`)
      }
    }
  }),
)

verifies(
  'recording:import:hostile',
  'an import that makes no progress is stopped with IMPORT_LIMIT',
  inCI(async (t) => {
    const { files, data } = folders(t)
    const library = await libraryOver(t, files, { dir: data, limits: { importStallMs: 3000 } })
    const endless = readFileSync(join(samples, 'hyparquet-snappy.parquet'))
    endless[4358] = 211
    endless[4544] = 17
    writeFileSync(join(files, 'endless.parquet'), endless)
    await t.rejects(library.importFile('endless.parquet', flat), {
      code: 'IMPORT_LIMIT',
      message: /no progress for 3 s/,
    })
    copyFileSync(join(samples, 'duckdb-zstd.parquet'), join(files, 'good.parquet'))
    t.equal(
      (await library.importFile('good.parquet', flat)).recording.summary.frames?.total_frames,
      sampleFrames,
    )
  }),
)

verifies('recording:import:hostile', 'batches of wide rows have few rows', async (t) => {
  const dir = t.testdir({})
  const [rows, width] = [1200, 16_384]
  const mapping = { time: { step: 1 }, bodies: { a: { position: ['pos[0:3]'] } } }
  const wide = writeNpy(new Uint8Array(rows * width), { descr: "'|u1'", shape: `(${rows}, ${width})` })
  writeFileSync(join(dir, 'wide.npz'), writeZip([{ name: 'pos.npy', data: wide, isDeflated: true }]))
  const names = ['wide.npz']
  if (skip === false) {
    await writeH5(join(dir, 'wide.h5'), (file) =>
      file.create_dataset({
        ...{ name: 'pos', data: new Uint8Array(rows * width), shape: [rows, width] },
        ...{ chunks: [100, width], compression: 6 },
      }),
    )
    names.push('wide.h5')
  }
  for (const name of names) {
    const done: number[] = []
    t.equal(await importHere(join(dir, name), mapping, (share) => done.push(share)), undefined)
    // 512 rows of 128 kB are 64 MB.
    t.same(done, [427, 853, 1000], name)
  }
})

verifies(
  'recording:import:arrays',
  '64-bit integers are exact, even unsigned ones and those in text',
  async (t) => {
    const { files, library } = await openLibrary(t)
    const stamps = BigUint64Array.from([1n, 2n, 5n], (ns) => 1_700_000_000_000_000_000n + ns)
    const positions = Float64Array.from({ length: 9 }, (_, i) => i)
    writeFileSync(
      join(files, 'run.npz'),
      writeZip([
        { name: 't.npy', data: writeNpy(new Uint8Array(stamps.buffer), { descr: "'<u8'", shape: '(3,)' }) },
        { name: 'pos.npy', data: writeNpy(new Uint8Array(positions.buffer), { shape: '(3, 3)' }) },
      ]),
    )
    const names = ['run.npz']
    if (skip === false) {
      await writeH5(join(files, 'run.h5'), (file) => {
        file.create_dataset({ name: 't', data: stamps, shape: [3], dtype: '<Q' })
        file.create_dataset({ name: 'pos', data: positions, shape: [3, 3] })
      })
      names.push('run.h5')
    }
    const mapping = { time: 't', time_unit: 'ns', bodies: { a: { position: ['pos'] } } }
    for (const name of names) {
      const { recording } = await library.importFile(name, mapping)
      const times = (await readFrames(recording)).map(({ simulation_time }) => simulation_time)
      t.same(times, [0, 1e-9, 4e-9], name)
    }
    const text = ['t,x,y,z', ...Array.from(stamps, (stamp) => `${stamp},0,0,0`)].join('\n')
    writeFileSync(join(files, 'run.csv'), text)
    const named = { ...mapping, bodies: { a: { position: ['x', 'y', 'z'] } } }
    const { recording } = await library.importFile('run.csv', named)
    t.same((await recording.frame(3)).simulation_time, 4e-9)
  },
)

verifies('recording:import:hostile', 'declared sizes are checked before memory is allocated', async (t) => {
  const dir = t.testdir({})
  const times = toBytes([1, 2, 3])
  const member = (name: string, data: Buffer) => ({ name, data })
  const good = [
    member('t.npy', writeNpy(times, { shape: '(3,)' })),
    member('pos.npy', writeNpy(toBytes(Array.from({ length: 9 }, (_, i) => i)), { shape: '(3, 3)' })),
  ]
  const [first = member('', Buffer.alloc(0)), second = first] = good
  const zeros = Buffer.concat([
    writeNpy(new Uint8Array(), { shape: '(20000000, 3)' }),
    Buffer.alloc(480_000_000),
  ])
  const expected: Record<string, readonly [file: Buffer, code: string, message: RegExp]> = {
    terabytes: [
      writeZip([first, member('pos.npy', writeNpy(times, { shape: '(1000000000000, 3)' }))]),
      'RECORDING_DAMAGED',
      /claims 1000000000000 x 3 values/,
    ],
    bomb: [
      writeZip([first, { ...member('pos.npy', zeros), isDeflated: true }]),
      'IMPORT_LIMIT',
      /pos.npy expands/,
    ],
    size: [writeZip([first, { ...second, size: 4_000_000_000 }]), 'IMPORT_LIMIT', /expands/],
    longer: [
      writeZip([first, { ...second, size: second.data.length - 24, isDeflated: true }]),
      'RECORDING_DAMAGED',
      /claims 3 x 3|more than/,
    ],
    checksum: [writeZip([first, { ...second, crc: 1 }]), 'RECORDING_DAMAGED', /checksum of pos.npy/],
    twice: [writeZip([first, second, second]), 'RECORDING_DAMAGED', /two entries of one name/],
  }
  const mapping = { time: 't', bodies: { a: { position: ['pos'] } } }
  for (const [name, [file, code, message]] of Object.entries(expected)) {
    const path = join(dir, `${name}.npz`)
    writeFileSync(path, file)
    t.match(await importHere(path, mapping), { code, message }, name)
  }
  writeFileSync(join(dir, 'good.npz'), writeZip(good))
  t.equal(await importHere(join(dir, 'good.npz'), mapping), undefined)
})

verifies('recording:import:arrays', 'HDF5 files are read with h5wasm', async (t) => {
  if (skip !== false) return void t.pass('h5wasm', { skip })
  const { files, library } = await openLibrary(t)
  const reference = await recordLines(library, tumble(sampleFrames))
  await writeH5(join(files, 'run.h5'), (file) => writeTop(file.create_group('top')))
  const { recording } = await library.importFile('run.h5', {
    ...wide(['top/position', 'top/quat', 'top/velocity', 'top/omega']),
    time: 'top/t',
  })
  t.same(await readFrames(recording), await readFrames(reference))
  await writeH5(join(files, 'isaac.hdf5'), (file) => {
    const data = file.create_group('data')
    data.create_attribute('env_args', '{}')
    file.create_attribute('format_version', 1)
    const demo = data.create_group('demo_0')
    demo.create_dataset({ name: 'root_pose', data: new Float64Array(70), shape: [10, 7] })
    file.create_external_link('/etc/passwd', '/x', 'outside')
  })
  const { data } = await proposal(library, 'isaac.hdf5')
  t.equal(data.proposed_mapping.bodies.demo_0?.quaternion.order, 'xyzw')
  t.match(data.notes.join(), /format_version 1 of Isaac Lab/)
})

verifies(
  'recording:import:hostile',
  'cycles and excessive declared sizes in HDF5 files are rejected',
  inCI(async (t) => {
    if (skip !== false) return void t.pass('h5wasm', { skip })
    const dir = t.testdir({})
    const mapping = { time: { step: 1 }, bodies: { a: { position: ['pos'] } } }
    await writeH5(join(dir, 'cycle.h5'), (file) => {
      const group = file.create_group('g')
      group.create_hard_link('/', 'loop')
      group.create_hard_link('/', 'again')
      file.create_dataset({ name: 'pos', data: new Float64Array(9), shape: [3, 3] })
    })
    t.match(await importHere(join(dir, 'cycle.h5'), mapping), { code: 'IMPORT_LIMIT' })
    await writeH5(join(dir, 'huge.h5'), (file) =>
      file.create_dataset({
        name: 'pos',
        data: new Float64Array(3),
        shape: [1, 3],
        maxshape: [null, 3],
        chunks: [1, 3],
      }),
    )
    const good = readFileSync(join(dir, 'huge.h5'))
    const huge = Buffer.from(good)
    const at = huge.indexOf(Buffer.from('0100000000000000030000000000000', 'hex'))
    huge.writeBigUInt64LE(10n ** 12n, at)
    writeFileSync(join(dir, 'huge.h5'), huge)
    t.match(await importHere(join(dir, 'huge.h5'), mapping), { code: /IMPORT_LIMIT|RECORDING_DAMAGED/ })
    const random = randomFrom(20_262)
    for (let i = 0; i < 100; i++) {
      const changed = Buffer.from(good)
      for (let k = 0; k < 3; k++) changed[random.below(good.length)] = random.below(256)
      writeFileSync(
        join(dir, 'changed.h5'),
        i % 10 === 0 ? good.subarray(0, random.below(good.length)) : changed,
      )
      const error = await importHere(join(dir, 'changed.h5'), mapping)
      if (error !== undefined && !isCausewayError(error)) t.error(error, `change ${i}`)
    }
  }),
)

t.test('if an optional package is missing, the error contains the command that installs it', async (t) => {
  const { importOptional } = await import('../src/formats/optional-package.ts')
  await t.rejects(importOptional('h5wasm', ''), {
    code: 'PACKAGE_NOT_INSTALLED',
    data: { command: 'npm i h5wasm@0.10.3' },
  })
})
