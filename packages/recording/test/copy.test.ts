import { existsSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { copyDatabase } from '../src/copy.ts'
import { readFileState, stateKey } from '../src/file-state.ts'
import { folders } from './library-kit.ts'
import { writeRecording } from './write-recording.ts'

const idle = { signal: new AbortController().signal, progress: () => {} }

t.test('copyDatabase: bytes, mode and progress, and the state that was copied', async (t) => {
  const { files, data } = folders(t)
  const [source, target] = [join(files, 'run.db'), join(data, 'copy')]
  writeRecording(source, { frames: 10 })
  const done: number[] = []
  const state = await copyDatabase(source, target, { ...idle, progress: (bytes) => done.push(bytes) })
  t.ok(readFileSync(target).equals(readFileSync(source)))
  t.equal(statSync(target).mode & 0o777, 0o600)
  t.equal(state.size, statSync(source).size)
  t.ok(done.length === 0 || done.at(-1) === state.size, 'a clone has no progress, a copy ends with all bytes')
  t.equal(stateKey(source, state), stateKey(source, await readFileState(source)))
})

t.test('copyDatabase: a file that changes at every look is busy, and nothing is left of it', async (t) => {
  const { files, data } = folders(t)
  const source = join(files, 'run.db')
  writeRecording(source, { frames: 10 })
  const file = await open(source, 'r+')
  t.teardown(() => file.close())
  // The counter of a recorder that commits while each copy is being made.
  let counter = 0
  const commit = () => writeSync(file.fd, Buffer.from([0, 1, counter >> 8, counter++ & 255]), 0, 4, 24)
  const timer = setInterval(commit, 1)
  t.teardown(() => clearInterval(timer))
  const busy = copyDatabase(source, join(data, 'copy'), { ...idle, progress: commit })
  await t.rejects(busy, { code: 'RECORDING_BUSY', data: { path: source } })
  t.same(readdirSync(data), [])
})

t.test('copyDatabase: a journal that its writer has zeroed is none', async (t) => {
  const { files, data } = folders(t)
  const source = join(files, 'run.db')
  writeRecording(source, { frames: 2 })
  const db = new Database(source)
  db.pragma('journal_mode = PERSIST')
  db.exec('UPDATE CoordinateRecord SET z = 3')
  db.close()
  t.ok(statSync(`${source}-journal`).size > 0)
  t.equal((await copyDatabase(source, join(data, 'copy'), idle)).journal, null)
  t.notOk(existsSync(join(data, 'copy-journal')))
})

t.test('copyDatabase: stops for its signal and leaves nothing', async (t) => {
  const { files, data } = folders(t)
  const source = join(files, 'run.db')
  writeRecording(source, { frames: 2 })
  const reason = new Error('enough')
  await t.rejects(
    copyDatabase(source, join(data, 'copy'), { ...idle, signal: AbortSignal.abort(reason) }),
    reason,
  )
  writeFileSync(`${source}-journal`, 'a transaction is open')
  const controller = new AbortController()
  const waiting = copyDatabase(source, join(data, 'copy'), { ...idle, signal: controller.signal })
  controller.abort()
  await t.rejects(waiting)
  t.same(readdirSync(data), [])
})
