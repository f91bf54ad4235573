import { copyFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { answersFile, revisionOf } from '../src/answers-file.ts'
import { columnsFileOf, openColumns } from '../src/columns-file.ts'
import { type FrameWindow, openLibrary, type RecordingLibrary } from '../src/index.ts'
import { prepareCopy } from '../src/prepare.ts'
import { openReader } from '../src/reader.ts'
import type { Counted } from './counting-worker.ts'
import { folders, rootsOf, until } from './library-kit.ts'
import { writeRecording } from './write-recording.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/recordings')
const call = { signal: new AbortController().signal, progress() {} }
const whole = { start: null, end: null }

async function all(windows: AsyncGenerator<FrameWindow>): Promise<FrameWindow[]> {
  const found: FrameWindow[] = []
  for await (const window of windows) found.push(window)
  return found
}

/** A prepared copy of a fixture. */
function copyOf(t: Test, name: string): string {
  const file = join(t.testdir(), `${name}.db`)
  copyFileSync(join(fixtures, `${name}.db`), file)
  prepareCopy(file, false)
  return file
}

for (const name of ['drop', 'late_spawn', 'era_flat_contacts', 'era_states_only', 'stack'])
  verifies('recording:columns:file', `${name}: the file holds what the tables hold`, async (t) => {
    const file = copyOf(t, name)
    const reader = openReader(file)
    t.teardown(() => reader.close())
    const fromTables = await all(reader.windows(reader.summary()).over(whole, call))
    await reader.writeColumns(columnsFileOf(file), call)
    const columns = openColumns(columnsFileOf(file), fromTables[0]?.bodies ?? [])
    t.teardown(() => columns?.close())
    for (const window of fromTables) t.same(columns?.read([...window.frames], window.from), window)
    t.equal(columns?.read([-1], 0), undefined, 'a window that it has not')
  })

t.test('openColumns: a file that is absent, cut off, or of other bodies is none', async (t) => {
  const file = copyOf(t, 'drop')
  const reader = openReader(file)
  t.teardown(() => reader.close())
  const columns = columnsFileOf(file)
  t.equal(openColumns(columns, [2]), undefined)
  await reader.writeColumns(columns, call)
  t.same(
    readdirSync(join(file, '..')).filter((name) => name.endsWith('.part')),
    [],
    'it is put in place whole',
  )
  t.equal(openColumns(columns, [77]), undefined)
  truncateSync(columns, 100)
  t.equal(openColumns(columns, [2]), undefined)
  truncateSync(columns, 10)
  t.equal(openColumns(columns, [2]), undefined)
})

/** A library that prepares every recording and foresees one question. */
async function libraryOf(t: Test, dir: string): Promise<RecordingLibrary> {
  const library = await openLibrary({
    dir,
    roots: rootsOf(fixtures),
    now: Date.now,
    worker: new URL('./counting-worker.ts', import.meta.url),
    foreseen: () => [count],
    limits: { worthPreparing: 1 },
  })
  t.teardown(() => library.close())
  return library
}

const count = { name: 'count', args: {} }

/** Every private copy has its columns beside it. */
const isPrepared = (dir: string): boolean =>
  readdirSync(join(dir, 'snapshots')).some((name) => name.endsWith('-columns'))

verifies('recording:columns:behind', async (t) => {
  const { data } = folders(t)
  const library = await libraryOf(t, data)
  const { recording } = await library.open('drop.db')
  await until(() => library.health().preparing === 0)
  t.ok(isPrepared(data))
  const ask = (isKept: boolean) => recording.analyse<Counted>('count', {}, { isKept })
  const [foreseen, again, anew] = [await ask(true), await ask(true), await ask(false)]
  t.equal(foreseen.frames, recording.summary.frames?.total_frames)
  t.same(again, foreseen, 'the answer is kept')
  t.not(anew.run, foreseen.run)
  t.not(anew.thread, foreseen.thread, 'it was found by a worker of its own')
  t.equal(anew.fromTables, 0, 'the reading worker takes the columns from their file')
  const before = library.health().snapshot_bytes
  await library.close()

  const next = await libraryOf(t, data)
  t.equal(next.health().snapshot_bytes, before, 'the columns count as bytes of the copy')
  const { recording: reopened } = await next.open('drop.db')
  const after = await reopened.analyse<Counted>('count', {})
  t.equal(after.fromTables, 0, 'after a restart too')
  t.same(await reopened.analyse('count', {}, { isKept: true }), foreseen, 'the answer outlives the server')
})

t.test('analyse: a damaged page that an analysis reads is RECORDING_DAMAGED', async (t) => {
  const library = await libraryOf(t, folders(t).data)
  const { recording } = await library.open('drop.db')
  const path = recording.identity.path
  await t.rejects(recording.analyse('fail', {}), { code: 'RECORDING_DAMAGED', data: { path } })
  t.match(await recording.analyse('count', {}), { frames: 150 }, 'the worker goes on')
})

t.test('columns: they go with their copy', async (t) => {
  const { files, data } = folders(t)
  const path = join(files, 'a.db')
  writeRecording(path, { frames: 30 })
  const library = await openLibrary({
    dir: data,
    roots: rootsOf(files),
    now: Date.now,
    limits: { worthPreparing: 1 },
  })
  t.teardown(() => library.close())
  await library.open(path)
  await until(() => isPrepared(data))
  rmSync(path)
  await library.list()
  t.same(readdirSync(join(data, 'snapshots')), [])
})

t.test('answersFile: answers of other code, and a file that is damaged, are none', async (t) => {
  const file = join(t.testdir(), 'a.db-answers')
  const question = { name: 'count', args: { a: 1 } }
  const now = answersFile(file, 'now')
  t.same(now.find(question), [])
  now.keep(question, { frames: Number.POSITIVE_INFINITY })
  t.same(answersFile(file, 'now').find(question), [{ frames: Number.POSITIVE_INFINITY }])
  t.same(answersFile(file, 'now').find({ name: 'count', args: { a: 2 } }), [])
  t.same(answersFile(file, 'later').find(question), [])
  truncateSync(file, 20)
  t.same(answersFile(file, 'now').find(question), [])
})

t.test('revisionOf: a source that changes makes it another one', async (t) => {
  const folder = pathToFileURL(`${t.testdir({ deep: { 'a.ts': 'one', 'note.txt': 'x' } })}/`)
  const before = revisionOf([folder])
  writeFileSync(new URL('deep/note.txt', folder), 'y')
  writeFileSync(new URL('deep/a.d.ts', folder), 'of the build')
  t.equal(revisionOf([folder]), before)
  writeFileSync(new URL('deep/a.ts', folder), 'two')
  t.not(revisionOf([folder]), before)
})
