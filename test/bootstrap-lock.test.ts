import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { removeStale, withLock } from '../scripts/bootstrap/lock.mjs'
import { verifies } from './verifies.ts'

/** The process id of a process that has just ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

/** A lock file's text, as written by the process of this id. */
const heldBy = (pid: number, id = 'other') => JSON.stringify({ pid, host: hostname(), id })

verifies('workshop:lock:dead-holder', async (t) => {
  const root = t.testdir({ lock: heldBy(await deadPid()) })
  t.equal(await withLock(`${root}/lock`, async () => 'done'), 'done')
  t.notOk(existsSync(`${root}/lock`))
})

verifies('workshop:lock:dead-holder', 'many waiters take it over one after the other', async (t) => {
  const root = t.testdir({ lock: heldBy(await deadPid()) })
  const inside = new Set<number>()
  const counts: number[] = []
  const wait = (id: number) =>
    withLock(
      `${root}/lock`,
      async () => {
        inside.add(id)
        counts.push(inside.size)
        await pause(2)
        inside.delete(id)
      },
      { pollMs: 1 },
    )
  await Promise.all(Array.from({ length: 8 }, (_, id) => wait(id)))
  t.same(counts, [1, 1, 1, 1, 1, 1, 1, 1])
})

verifies('workshop:lock:dead-holder', 'on another host, after 20 s without a heartbeat', async (t) => {
  const foreign = JSON.stringify({ pid: 1, host: 'another-host', id: 'other' })
  const root = t.testdir({ lock: foreign })
  const times: number[] = []
  const now = () => {
    times.push(times.length * 4000)
    // A heartbeat restarts the 20 s.
    if (times.length === 4) utimesSync(`${root}/lock`, new Date(), new Date(Date.now() + 5000))
    return times.at(-1) ?? 0
  }
  t.equal(await withLock(`${root}/lock`, async () => 'done', { pollMs: 1, now }), 'done')
  t.ok((times.at(-1) ?? 0) > 12_000 + 20_000, `${times.at(-1)} ms`)
})

verifies('workshop:lock:live-holder', async (t) => {
  const dead = heldBy(await deadPid())
  const root = t.testdir({ lock: heldBy(process.pid, 'fresh') })
  t.equal(removeStale(`${root}/lock`, dead), false, 'another waiter was faster: its lock is put back')
  t.equal(readFileSync(`${root}/lock`, 'utf8'), heldBy(process.pid, 'fresh'))
  t.same(readdirSync(root), ['lock'])
  const stop = new AbortController()
  const waiting = withLock(`${root}/lock`, async () => 'done', {
    say: () => stop.abort(),
    signal: stop.signal,
  })
  await t.rejects(waiting, { name: 'AbortError' }, 'a waiter waits until it is stopped')
  t.equal(readFileSync(`${root}/lock`, 'utf8'), heldBy(process.pid, 'fresh'))
})
