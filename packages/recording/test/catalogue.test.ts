import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { openLibrary } from '../src/index.ts'
import { change, folders, libraryOver, rootsOf } from './library-kit.ts'
import { writeRecording } from './write-recording.ts'

verifies('recording:catalogue:id', async (t) => {
  const { files, data } = folders(t)
  mkdirSync(join(files, 'other'))
  writeRecording(join(files, 'my run, 2.db'), { frames: 2 })
  writeRecording(join(files, 'twin.db'), { frames: 3 })
  writeRecording(join(files, 'other', 'twin.db'), { frames: 4 })
  const first = await libraryOver(t, files, { dir: data })
  const ids = (await first.list()).listings.map(({ id }) => id)
  t.equal(new Set(ids).size, 3)
  for (const id of ids) t.match(id, /^[A-Za-z0-9._~-]+$/)
  t.ok(ids.includes('my-run-2') && ids.includes('twin'))
  for (const { id, path } of (await first.list()).listings) {
    const { recording } = await first.open(id)
    t.match(recording.identity, { id, path })
    t.equal((await first.open(path)).recording, recording)
  }
  await first.close()
  const second = await libraryOver(t, files, { dir: data })
  t.same(
    (await second.list()).listings.map(({ id }) => id),
    ids,
  )
})

t.test(
  'open: a library that has never listed finds a recording by id, by name and by relative path',
  async (t) => {
    const { files, data } = folders(t)
    mkdirSync(join(files, 'deep'))
    writeRecording(join(files, 'deep', 'run.db'), { frames: 2 })
    const library = await libraryOver(t, files, { dir: data })
    const { recording } = await library.open('run')
    t.equal((await library.open('run.db')).recording, recording)
    t.equal((await library.open('deep/run.db')).recording, recording)
  },
)

verifies('recording:catalogue:reasons', async (t) => {
  const { files, data } = folders(t)
  const usual = join(files, 'build', 'Debug', 'debug', 'recordings')
  mkdirSync(usual, { recursive: true })
  mkdirSync(join(files, '.hidden'))
  writeRecording(join(usual, 'suite.db'), { frames: 5 })
  writeRecording(join(files, '.hidden', 'hidden.db'), { frames: 5 })
  writeRecording(join(files, 'none.db'), { frames: 0 })
  writeRecording(join(files, 'torn.db'), { frames: 50 })
  truncateSync(join(files, 'torn.db'), 8192)
  writeFileSync(join(files, 'text.db'), 'this is not a database, and it is longer than a header: '.repeat(4))
  writeFileSync(join(files, 'empty.sqlite'), '')
  writeFileSync(join(files, 'notes.txt'), '')
  change(join(files, 'assets.db'), 'CREATE TABLE MeshRecord (id INTEGER PRIMARY KEY, vertex_data BLOB)')
  const library = await libraryOver(t, files, { dir: data })
  const expected = [
    { name: 'assets.db', is_recording: false, reason: 'NOT_A_RECORDING' },
    { name: 'suite.db', is_recording: true, total_frames: 5 },
    { name: 'empty.sqlite', is_recording: false, reason: 'NOT_A_RECORDING' },
    { name: 'none.db', is_recording: true, total_frames: 0 },
    { name: 'text.db', is_recording: false, reason: 'NOT_A_DATABASE' },
    { name: 'torn.db', is_recording: false, reason: 'RECORDING_DAMAGED' },
  ]
  const found = await library.list()
  t.match(found.listings, expected)
  t.equal(found.listings.length, expected.length)
  t.same((await library.list()).listings, found.listings, 'the verdicts are remembered')
  t.match(await library.list(usual), { searched: [usual], listings: [{ name: 'suite.db' }] })
  t.same(await library.list(join(files, 'nowhere')), { searched: [join(files, 'nowhere')], listings: [] })
})

t.test('open: our own data folder is refused and never listed', async (t) => {
  const { files } = folders(t)
  const dir = join(files, 'data')
  const library = await libraryOver(t, files, { dir })
  t.same((await library.list()).listings, [])
  await t.rejects(library.open('data/recordings.db'), { code: 'OUTSIDE_ROOTS' })
})

verifies('recording:roots:symlink', async (t) => {
  const { files, data, elsewhere } = folders(t)
  writeRecording(join(elsewhere, 'secret.db'), { frames: 2 })
  writeRecording(join(files, 'run.db'), { frames: 2 })
  symlinkSync(join(elsewhere, 'secret.db'), join(files, 'out.db'))
  symlinkSync(elsewhere, join(files, 'folder'))
  symlinkSync(join(files, 'run.db'), join(files, 'alias.db'))
  const library = await libraryOver(t, files, { dir: data })
  t.match((await library.list()).listings, [{ name: 'run.db' }])
  t.equal((await library.list()).listings.length, 1, 'a link within the roots is the file that it leads to')
  await t.rejects(library.open('out.db'), { code: 'OUTSIDE_ROOTS' })
  await t.rejects(library.open('folder/secret.db'), { code: 'OUTSIDE_ROOTS' })
  await t.rejects(library.list(join(files, 'folder')), { code: 'OUTSIDE_ROOTS' })
})

t.test('openLibrary: a catalogue of a newer version is refused', async (t) => {
  const { files, data } = folders(t)
  await (await libraryOver(t, files, { dir: data })).close()
  change(join(data, 'recordings.db'), `INSERT INTO causeway_migration VALUES (3, 'from the future', '', 0)`)
  await t.rejects(openLibrary({ dir: data, roots: rootsOf(files), now: Date.now }), { code: 'NEWER_DATA' })
})
