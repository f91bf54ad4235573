import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Process, processOf, takeStartLock } from '../src/start-lock.ts'

const self = processOf(process.pid) as Process

/** A process that has been and is gone. */
async function deadProcess(): Promise<Process> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return { pid: child.pid as number, started: '1' }
}

t.test('takeStartLock: one holder, and the next once it is released', async (t) => {
  const file = join(t.testdir(), 'lock')
  const lock = takeStartLock(file, self)
  t.ok(lock)
  t.equal(takeStartLock(file, self), undefined)
  lock?.release()
  t.notOk(existsSync(file))
  t.ok(takeStartLock(file, self))
})

t.test('takeStartLock: the lock of a dead holder is taken over, and not released by it', async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'lock')
  const first = takeStartLock(file, await deadProcess())
  const second = takeStartLock(file, self)
  t.ok(second)
  first?.note(self)
  first?.release()
  t.ok(existsSync(file), 'it is not theirs any more')
  t.same(readdirSync(dir), ['lock'], 'nothing else is left')
})

t.test('takeStartLock: a server that lives keeps the lock of its dead starter', async (t) => {
  const file = join(t.testdir(), 'lock')
  takeStartLock(file, await deadProcess())?.note(self)
  t.equal(takeStartLock(file, self), undefined)
})

t.test('takeStartLock: a pid that another process has by now does not count as alive', async (t) => {
  if (!existsSync('/proc/self/stat')) return void t.comment('this system tells no start times')
  const file = join(t.testdir(), 'lock')
  takeStartLock(file, { ...self, started: 'long ago' })
  t.ok(takeStartLock(file, self))
})

t.test('takeStartLock: a text that nobody wrote here is stale', async (t) => {
  for (const text of ['', 'garbage', 'null', '{"starter":7}']) {
    const file = join(t.testdir(), 'lock')
    writeFileSync(file, text)
    t.ok(takeStartLock(file, self), text)
    t.match(JSON.parse(readFileSync(file, 'utf8')), { starter: self })
  }
})
