import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { processIdentity } from '@causeway/store'
import t from 'tap'
import { agingNow, openDatabase } from '../src/index.ts'

const minute = 60_000

t.test('agingNow: a row is as old as it was, however the clock is set', async (t) => {
  const clock = { now: 1_000 * minute, steady: 0 }
  const up = 'CREATE TABLE request (id TEXT PRIMARY KEY, made_ms INTEGER NOT NULL) STRICT'
  const db = openDatabase(join(t.testdir(), 'a.db'), { migrations: [{ name: 'request', up }] })
  t.teardown(() => db.close())
  const now = agingNow(db, {
    columns: ['request.made_ms'],
    keepMs: 10 * minute,
    now: () => clock.now,
    steady: () => clock.steady,
  })
  const put = (id: string) => db.prepare('INSERT INTO request VALUES (?, ?)').run(id, now())
  const ages = () => {
    const at = now()
    const rows = db.prepare<[], { id: string; made_ms: number }>('SELECT * FROM request ORDER BY id').all()
    return Object.fromEntries(rows.map(({ id, made_ms }) => [id, (at - made_ms) / minute]))
  }
  const pass = (minutes: number): void => {
    clock.now += minutes * minute
    clock.steady += minutes * minute
  }

  put('of before')
  pass(30)
  put('recent')
  pass(3)
  t.same(ages(), { 'of before': 33, recent: 3 })
  clock.now += 60 * minute
  t.same(ages(), { 'of before': 93, recent: 3 }, 'forward; what is too old stays too old')
  pass(2)
  clock.now -= 500 * minute
  t.same(ages().recent, 5, 'and back')
})

t.test('agingNow: a jump that was met in a transaction that fails is not lost', async (t) => {
  const clock = { now: 1_000 * minute, steady: 0 }
  const up = 'CREATE TABLE request (id TEXT PRIMARY KEY, made_ms INTEGER NOT NULL) STRICT'
  const db = openDatabase(join(t.testdir(), 'a.db'), { migrations: [{ name: 'request', up }] })
  t.teardown(() => db.close())
  const options = { columns: ['request.made_ms'], keepMs: 10 * minute }
  const now = agingNow(db, { ...options, now: () => clock.now, steady: () => clock.steady })
  db.prepare('INSERT INTO request VALUES (?, ?)').run('a', now())
  const age = () => now() - Number(db.prepare('SELECT made_ms FROM request').pluck().get())

  clock.now += 60 * minute
  t.throws(
    db.transaction(() => {
      t.equal(age(), 0)
      throw new Error('no')
    }),
  )
  t.equal(age(), 0, 'shifted once more')
  clock.now -= 60 * minute
  t.equal(age(), 0, 'and back to where the clock was')
})

t.test('agingNow: without a second clock, the time of day is trusted', async (t) => {
  const clock = { now: 1_000 * minute }
  const up = 'CREATE TABLE request (id TEXT PRIMARY KEY, made_ms INTEGER NOT NULL) STRICT'
  const db = openDatabase(join(t.testdir(), 'a.db'), { migrations: [{ name: 'request', up }] })
  t.teardown(() => db.close())
  const now = agingNow(db, { columns: ['request.made_ms'], keepMs: 10 * minute, now: () => clock.now })
  db.prepare('INSERT INTO request VALUES (?, ?)').run('a', now())
  clock.now += 60 * minute
  t.equal(now() - Number(db.prepare('SELECT made_ms FROM request').pluck().get()), 60 * minute)
})

t.test(
  'processIdentity: the same for one process, another for the next, none for one that has ended',
  async (t) => {
    const own = processIdentity(process.pid)
    t.type(own, 'string')
    t.equal(processIdentity(process.pid), own)
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 9e9)'], { stdio: 'ignore' })
    t.teardown(() => void child.kill('SIGKILL'))
    const pid = child.pid as number
    // Elsewhere the time of a start is told to the second.
    if (process.platform === 'linux') t.not(processIdentity(pid), own)
    child.kill('SIGKILL')
    await once(child, 'exit')
    t.equal(processIdentity(pid), undefined)
  },
)

t.test('processIdentity: one that has ended and is only still listed is gone', async (t) => {
  // What the shell becomes never asks how its child ended.
  const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => void parent.kill('SIGKILL'))
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(String(line))
  while (processIdentity(pid) !== undefined) await turn()
  t.equal(process.kill(pid, 0), true, 'its number is still taken')
})
