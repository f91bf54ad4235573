import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  AgingClock,
  ClockJumpDetector,
  canRenameOpenFolder,
  identifyProcess,
  openDatabase,
  syncFolder,
} from '../src/index.ts'
import { syncFolderSync } from '../src/platform-files.ts'

const minute = 60_000

function openRequests(t: Test) {
  const up = 'CREATE TABLE request (id TEXT PRIMARY KEY, made_ms INTEGER NOT NULL) STRICT'
  const db = openDatabase(join(t.testdir(), 'a.db'), { migrations: [{ name: 'request', up }] })
  t.teardown(() => db.close())
  const clocks = { now: 1_000 * minute, monotonicNow: 0 }
  const options = { columns: ['request.made_ms'], keepMs: 10 * minute, now: () => clocks.now }
  const insert = (id: string, now: number) => db.prepare('INSERT INTO request VALUES (?, ?)').run(id, now)
  return { db, clocks, options, insert }
}

t.test('ClockJumpDetector reports each large jump of the clock once', async (t) => {
  const clocks = { now: 1_000 * minute, monotonicNow: 0.5 }
  const jumps = new ClockJumpDetector({ now: () => clocks.now, monotonicNow: () => clocks.monotonicNow })
  clocks.now += 60 * minute
  clocks.monotonicNow += 60 * minute
  t.equal(jumps.detect(), 0)
  clocks.now += 10 * minute
  t.equal(jumps.detect(), 10 * minute)
  t.equal(jumps.detect(), 0)
  clocks.now -= 20 * minute
  t.equal(jumps.detect(), -20 * minute)
  clocks.now += 500
  t.equal(jumps.detect(), 0, 'a gradual correction is not a jump')
})

t.test('AgingClock preserves the age of rows when the clock is set', async (t) => {
  const { db, clocks, options, insert } = openRequests(t)
  const clock = new AgingClock(db, { ...options, monotonicNow: () => clocks.monotonicNow })
  const readAges = () => {
    const now = clock.now()
    const rows = db.prepare<[], { id: string; made_ms: number }>('SELECT * FROM request ORDER BY id').all()
    return Object.fromEntries(rows.map(({ id, made_ms }) => [id, (now - made_ms) / minute]))
  }
  const advance = (minutes: number): void => {
    clocks.now += minutes * minute
    clocks.monotonicNow += minutes * minute
  }

  insert('expired', clock.now())
  advance(30)
  insert('recent', clock.now())
  advance(3)
  t.same(readAges(), { expired: 33, recent: 3 })
  clocks.now += 60 * minute
  t.same(readAges(), { expired: 93, recent: 3 }, 'an expired row is not shifted')
  advance(2)
  clocks.now -= 500 * minute
  t.same(readAges().recent, 5, 'the clock was set back')
})

t.test('AgingClock shifts rows again after a rollback', async (t) => {
  const { db, clocks, options, insert } = openRequests(t)
  const clock = new AgingClock(db, { ...options, monotonicNow: () => clocks.monotonicNow })
  insert('a', clock.now())
  const readAge = () => clock.now() - Number(db.prepare('SELECT made_ms FROM request').pluck().get())

  clocks.now += 60 * minute
  t.throws(
    db.transaction(() => {
      t.equal(readAge(), 0)
      throw new Error('rolled back')
    }),
  )
  t.equal(readAge(), 0)
  clocks.now -= 60 * minute
  t.equal(readAge(), 0, 'the clock was set back')
})

t.test('AgingClock does not detect jumps without a monotonic clock', async (t) => {
  const { db, clocks, options, insert } = openRequests(t)
  const clock = new AgingClock(db, options)
  insert('a', clock.now())
  clocks.now += 60 * minute
  t.equal(clock.now() - Number(db.prepare('SELECT made_ms FROM request').pluck().get()), 60 * minute)
})

t.test('identifyProcess distinguishes processes and returns undefined for an ended process', async (t) => {
  const own = identifyProcess(process.pid)
  t.type(own, 'string')
  t.equal(identifyProcess(process.pid), own)
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 9e9)'], { stdio: 'ignore' })
  t.teardown(() => void child.kill('SIGKILL'))
  const pid = child.pid as number
  // On other systems, start times have a resolution of one second.
  if (process.platform === 'linux') t.not(identifyProcess(pid), own)
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.equal(identifyProcess(pid), undefined)
})

t.test('identifyProcess returns undefined for a zombie', async (t) => {
  // `exec` replaces the shell with a process that does not wait for its child, which becomes a zombie.
  const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => void parent.kill('SIGKILL'))
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(String(line))
  while (identifyProcess(pid) !== undefined) await turn()
  t.equal(process.kill(pid, 0), true, 'the pid is still in use')
})

const platforms: readonly NodeJS.Platform[] = ['linux', 'darwin', 'win32']

t.test('a folder with an open file can be renamed, except on Windows', async (t) => {
  t.same(platforms.map(canRenameOpenFolder), [true, true, false])
})

t.test('folders are flushed, except on Windows', async (t) => {
  const folder = join(t.testdir(), 'data')
  mkdirSync(folder)
  await syncFolder(folder)
  syncFolderSync(folder)
  const missing = join(folder, 'missing')
  for (const platform of ['linux', 'darwin'] as const) {
    await t.rejects(syncFolder(missing, platform), { code: 'ENOENT' })
    t.throws(() => syncFolderSync(missing, platform), { code: 'ENOENT' })
  }
  await syncFolder(missing, 'win32')
  syncFolderSync(missing, 'win32')
})
