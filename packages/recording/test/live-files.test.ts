import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isCausewayError } from '@causeway/protocol'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { folders, libraryOver } from './library-kit.ts'

const script = new URL('./writer-process.ts', import.meta.url)

/** Starts a recorder process and waits until it has written. */
async function writer(t: Test, mode: 'live' | 'hot' | 'wal', file: string): Promise<ChildProcess> {
  const child = fork(script, [mode, file], {
    execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Names, sizes, times and bytes of everything in a folder. */
const contents = (folder: string) =>
  readdirSync(folder).map((name) => {
    const { size, mtimeNs } = statSync(join(folder, name), { bigint: true })
    return { name, size, mtimeNs, bytes: readFileSync(join(folder, name)).toString('base64') }
  })

verifies('recording:file:live-writer', async (t) => {
  const { files: root, data } = folders(t)
  const file = join(root, 'live.db')
  const child = await writer(t, 'live', file)
  const exited = once(child, 'exit')
  const library = await libraryOver(t, root, { dir: data })
  const outcomes = { opened: 0, busy: 0 }
  for (let round = 0; round < 10 && child.exitCode === null; round++) {
    await library.list()
    try {
      const { recording } = await library.open(file)
      const last = recording.summary.frames?.last_frame ?? 0
      t.equal((await recording.frame(last)).states.length, 1)
      outcomes.opened++
    } catch (error) {
      if (!isCausewayError(error) || error.code !== 'RECORDING_BUSY') throw error
      outcomes.busy++
    }
  }
  const told = once(child, 'message')
  child.send('stop')
  const [{ commits, frames }] = await told
  t.same(await exited, [0, null], 'the recorder was never told that the database is locked')
  t.ok(outcomes.opened > 1, `opened ${outcomes.opened} times, busy ${outcomes.busy} times`)
  t.ok(commits > 10, `${commits} commits`)
  const { recording } = await library.open(file)
  t.equal(recording.summary.frames?.total_frames, frames)
})

verifies('recording:file:hot-journal', async (t) => {
  const { files: root, data } = folders(t)
  const file = join(root, 'hot.db')
  await kill(await writer(t, 'hot', file))
  t.ok(statSync(`${file}-journal`).size > 0, 'the journal is hot')
  const before = contents(root)
  const library = await libraryOver(t, root, { dir: data })
  t.match((await library.list()).listings, [{ id: 'hot', is_recording: true }])
  const { recording } = await library.open('hot')
  t.equal(recording.summary.frames?.total_frames, 20, 'what was not committed is not there')
  t.equal((await recording.frame(7)).states[0]?.position.z, 0.5)
  t.same(contents(root), before, 'the user has to decide about the journal')
})

verifies('recording:file:wal', async (t) => {
  const { files: root, data } = folders(t)
  const file = join(root, 'log.db')
  const child = await writer(t, 'wal', file)
  const library = await libraryOver(t, root, { dir: data })
  t.match((await library.list()).listings, [{ id: 'log', is_recording: false, reason: 'RECORDING_BUSY' }])
  const { recording } = await library.open('log')
  t.equal(recording.summary.frames?.total_frames, 30)
  t.equal((await recording.frame(30)).states.length, 1)
  await kill(child)
  const before = contents(root)
  t.equal((await library.open('log')).recording, recording, 'nothing changed, so nothing is copied')
  t.same(contents(root), before)
})

verifies(
  'recording:file:live-writer',
  'a writer that sleeps in a transaction is read as it was before it',
  async (t) => {
    const { files: root, data } = folders(t)
    const file = join(root, 'open.db')
    const child = await writer(t, 'hot', file)
    const library = await libraryOver(t, root, { dir: data })
    // The journal does not change while its writer sleeps: what is copied is the state before its transaction.
    const { recording } = await library.open(file)
    t.equal(recording.summary.frames?.total_frames, 20)
    t.equal(child.exitCode, null)
  },
)
