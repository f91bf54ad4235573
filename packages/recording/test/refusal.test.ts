import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { change, folders, libraryOver, until, whole } from './library-kit.ts'
import { writeRecording } from './write-recording.ts'

verifies('recording:file:missing', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  await t.rejects(library.open('nothing'), { code: 'RECORDING_NOT_FOUND', data: { searched: [files] } })
  writeRecording(join(files, 'gone.db'), { frames: 2 })
  await library.open('gone')
  rmSync(join(files, 'gone.db'))
  await t.rejects(library.open('gone'), { code: 'RECORDING_NOT_FOUND' })
  await library.list()
  t.match(library.health(), { snapshots: 0, snapshot_bytes: 0, loaded: 0 }, 'its copy goes with it')
})

verifies('recording:file:not-a-database', async (t) => {
  const { files, data } = folders(t)
  writeFileSync(
    join(files, 'text.db'),
    'SQLite format 3, says this text, but the zero byte is absent. '.repeat(4),
  )
  const library = await libraryOver(t, files, { dir: data })
  await t.rejects(library.open('text'), { code: 'NOT_A_DATABASE' })
})

verifies('recording:file:not-a-recording', async (t) => {
  const { files, data } = folders(t)
  writeFileSync(join(files, 'empty.db'), '')
  change(join(files, 'assets.db'), 'CREATE TABLE ObjectRecord (id INTEGER PRIMARY KEY, name TEXT)')
  const library = await libraryOver(t, files, { dir: data })
  await t.rejects(library.open('empty'), { code: 'NOT_A_RECORDING' })
  await t.rejects(library.open('assets'), {
    code: 'NOT_A_RECORDING',
    data: { absent: /SimulationFrameRecord/ },
  })
  t.same(readdirSync(join(data, 'snapshots')), [])
})

verifies('recording:file:damaged', async (t) => {
  const { files, data } = folders(t)
  const file = join(files, 'torn.db')
  writeRecording(file, { frames: 200 })
  truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096)
  const library = await libraryOver(t, files, { dir: data })
  await t.rejects(library.open('torn'), { code: 'RECORDING_DAMAGED' })
  t.match((await library.list()).listings, [{ is_recording: false, reason: 'RECORDING_DAMAGED' }])
  t.same(readdirSync(join(data, 'snapshots')), [])
})

t.test('open: a recording of 0 frames is one', async (t) => {
  const { files, data } = folders(t)
  writeRecording(join(files, 'none.db'), { frames: 0 })
  const { recording } = await (await libraryOver(t, files, { dir: data })).open('none')
  t.match(recording.summary, {
    frames: null,
    first_time_s: null,
    dt_s: null,
    gravity_m_s2: null,
    ignored_rows: 0,
  })
  t.equal((await recording.systemEnergy(whole)).length, 0)
  await t.rejects(recording.frame(1), { code: 'FRAME_NOT_FOUND' })
})

t.test('open: a private copy that was harmed is made again', async (t) => {
  const { files, data } = folders(t)
  writeRecording(join(files, 'run.db'), { frames: 5 })
  const first = await libraryOver(t, files, { dir: data })
  await first.open('run')
  await first.close()
  const [copy] = readdirSync(join(data, 'snapshots'))
  writeFileSync(join(data, 'snapshots', copy ?? ''), 'no database')
  const second = await libraryOver(t, files, { dir: data })
  t.equal((await second.open('run')).recording.summary.frames?.total_frames, 5)
})

t.test('open: damage that shows only behind is told from then on', async (t) => {
  const { files, data } = folders(t)
  const file = join(files, 'run.db')
  writeRecording(file, { frames: 200 })
  truncateSync(file, Math.floor((statSync(file).size * 0.9) / 4096) * 4096)
  const library = await libraryOver(t, files, { dir: data, limits: { indexAtOnceBytes: 0 } })
  await t.rejects(
    async () => {
      const { recording } = await library.open('run')
      await until(() => library.health().snapshots === 0)
      await recording.frame(1)
    },
    { code: 'RECORDING_DAMAGED' },
  )
})
