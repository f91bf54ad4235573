import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { change, folders, libraryOver, until, whole } from './library-kit.ts'
import { bodyId, floorId, writeRecording } from './write-recording.ts'

verifies('recording:file:rewritten', async (t) => {
  const { files, data } = folders(t)
  const file = join(files, 'run.db')
  writeRecording(file, { frames: 3 })
  let clock = 1_000_000
  const library = await libraryOver(t, files, { dir: data, now: () => clock })
  const first = await library.open('run')
  t.equal(first.reloaded, false)
  t.equal((await library.open('run')).recording, first.recording)
  const { atime, mtime } = statSync(file)
  change(file, 'UPDATE CoordinateRecord SET z = 9')
  utimesSync(file, atime, mtime)
  const second = await library.open('run')
  t.equal(second.reloaded, true, 'same size and same time, but another change counter')
  t.equal((await second.recording.frame(2)).states[0]?.position.z, 9)
  rmSync(file)
  writeRecording(file, { frames: 7, height: 2 })
  const third = await library.open('run')
  t.equal(third.reloaded, true)
  t.equal(third.recording.identity.id, 'run')
  t.equal(third.recording.summary.frames?.total_frames, 7)
  t.equal((await first.recording.frame(2)).states[0]?.position.z, 0.5, 'who asks the first state still can')
  clock += 60_000
  await library.list()
  t.equal(library.health().snapshots, 1, 'copies of earlier states are gone')
})

verifies('recording:file:untouched', async (t) => {
  const { files, data } = folders(t)
  writeRecording(join(files, 'run.db'), { frames: 30 })
  const before = statSync(join(files, 'run.db'), { bigint: true })
  const library = await libraryOver(t, files, { dir: data })
  await library.list()
  const { recording } = await library.open('run')
  await recording.frame(3)
  const after = statSync(join(files, 'run.db'), { bigint: true })
  t.same([after.mtimeNs, after.ctimeNs, after.ino], [before.mtimeNs, before.ctimeNs, before.ino])
  t.same(readdirSync(files), ['run.db'])
  t.equal(statSync(join(data, 'snapshots')).mode & 0o777, 0o700)
  for (const name of readdirSync(join(data, 'snapshots'))) {
    t.equal(statSync(join(data, 'snapshots', name)).mode & 0o777, 0o600)
  }
})

verifies('recording:copy:cache', async (t) => {
  const { files, data } = folders(t)
  for (const name of ['a', 'b', 'c']) writeRecording(join(files, `${name}.db`), { frames: 20 })
  let clock = 1_000_000
  const now = () => (clock += 120_000)
  const first = await libraryOver(t, files, { dir: data, now })
  await first.open('a')
  const bytes = first.health().snapshot_bytes
  await first.close()

  const limits = { snapshotBytes: Math.floor(2.5 * bytes) }
  const second = await libraryOver(t, files, { dir: data, now, limits })
  const copied: string[] = []
  const open = (name: string) => second.open(name, { progress: () => copied.push(name) })
  await open('a')
  t.same(copied, [], 'a copy outlives the process')
  await open('b')
  await open('a')
  await open('c')
  t.ok(second.health().snapshot_bytes <= limits.snapshotBytes)
  t.equal(second.health().snapshots, 2)
  copied.length = 0
  await open('a')
  t.same(copied, [], 'used last but one')
  await open('b')
  t.ok(copied.includes('b'), 'least recently used, so it had to go')
})

verifies('recording:copy:interrupted', async (t) => {
  const { files, data } = folders(t)
  writeRecording(join(files, 'run.db'), { frames: 400 })
  const library = await libraryOver(t, files, { dir: data })
  const controller = new AbortController()
  const opening = library.open('run', { signal: controller.signal, progress: () => controller.abort() })
  await t.rejects(opening, { code: 'CANCELLED' })
  await t.rejects(library.open('run', { signal: AbortSignal.abort() }), { code: 'CANCELLED' })
  t.equal((await library.open('run')).recording.summary.frames?.total_frames, 400)
  await library.close()
  // What a process that was killed in a copy leaves behind.
  writeFileSync(join(data, 'snapshots', 'half.part'), 'SQLite format 3')
  writeFileSync(join(data, 'snapshots', 'unknown.db'), 'SQLite format 3')
  const next = await libraryOver(t, files, { dir: data })
  t.match(readdirSync(join(data, 'snapshots')), [/^[0-9a-f]{32}\.db$/])
  t.equal(next.health().snapshots, 1)
})

t.test(
  'open: callers at the same time share one copy, and one that gives up takes nothing from the other',
  async (t) => {
    const { files, data } = folders(t)
    writeRecording(join(files, 'run.db'), { frames: 100 })
    const library = await libraryOver(t, files, { dir: data })
    const controller = new AbortController()
    const impatient = library.open('run', { signal: controller.signal, progress: () => controller.abort() })
    const [gone, stayed] = await Promise.allSettled([impatient, library.open('run')])
    t.match(gone, { status: 'rejected', reason: { code: 'CANCELLED' } })
    t.match(stayed, { status: 'fulfilled' })
    t.equal(library.health().snapshots, 1)
  },
)

verifies(
  'recording:read:index-equals-scan',
  'a large recording is answered at once and indexed behind',
  async (t) => {
    const { files, data, more } = folders(t)
    writeRecording(join(files, 'run.db'), { frames: 60 })
    const small = await libraryOver(t, files, { dir: more })
    const large = await libraryOver(t, files, { dir: data, limits: { indexAtOnceBytes: 0 } })
    const { recording: indexed } = await small.open('run')
    const { recording: searched } = await large.open('run')
    const before = large.health().snapshot_bytes
    const same = async () => {
      t.same(await searched.frame(40), await indexed.frame(40))
      t.same(await searched.systemEnergy(whole), await indexed.systemEnergy(whole))
      t.same(await searched.bodyEnergy(bodyId, whole), await indexed.bodyEnergy(bodyId, whole))
      const pair = [bodyId, floorId] as const
      t.same(await searched.pairHistory(pair, whole, 9), await indexed.pairHistory(pair, whole, 9))
      t.same(searched.summary, indexed.summary)
    }
    await same()
    await until(() => large.health().snapshot_bytes > before)
    await same()
    await large.close()
    const again = await libraryOver(t, files, { dir: data, limits: { indexAtOnceBytes: 0 } })
    t.same(await (await again.open('run')).recording.frame(7), await indexed.frame(7))
  },
)

t.test('open: no more workers stay than allowed, and an earlier recording still answers', async (t) => {
  const { files, data } = folders(t)
  for (const name of ['a', 'b', 'c']) writeRecording(join(files, `${name}.db`), { frames: 3 })
  const library = await libraryOver(t, files, { dir: data, limits: { loaded: 2 } })
  const { recording } = await library.open('a')
  await library.open('b')
  await library.open('c')
  t.equal(library.health().loaded, 2)
  t.equal((await recording.frame(2)).frame_id, 2)
})

t.test('open: a recording that is asked while its worker ends answers by the next one', async (t) => {
  const { files, data } = folders(t)
  const names = ['a', 'b', 'c']
  for (const name of names) writeRecording(join(files, `${name}.db`), { frames: 3 })
  const library = await libraryOver(t, files, { dir: data, limits: { loaded: 1 } })
  const ask = async (name: string): Promise<void> => {
    const { recording } = await library.open(name)
    t.equal((await recording.frame(2)).frame_id, 2)
  }
  for (let round = 0; round < 6; round += 1) await Promise.all([...names, ...names].map(ask))
})

verifies('recording:worker:event-loop', async (t) => {
  const { files, data } = folders(t)
  const file = join(files, 'run.db')
  writeRecording(file, { frames: 2000 })
  const library = await libraryOver(t, files, { dir: data })
  const before = performance.eventLoopUtilization()
  const { recording } = await library.open('run')
  const { utilization } = performance.eventLoopUtilization(before)
  t.ok(utilization < 0.5, `the event loop was busy for ${Math.round(utilization * 100)} % of the time`)
  // Questions that are asked together are answered while timers go on.
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  await Promise.all(Array.from({ length: 300 }, (_, i) => recording.frame(i + 1)))
  clearInterval(timer)
  t.ok(ticks > 0)
})
