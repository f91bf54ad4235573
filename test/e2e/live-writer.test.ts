import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../verifies.ts'
import { overHttp } from './conversation.ts'
import { postMcp } from './http.ts'
import { startServer } from './server-process.ts'

t.setTimeout(300_000)

const recorder = new URL('../../packages/recording/test/writer-process.ts', import.meta.url)

verifies('recording:file:live-writer', 'asked for over HTTP again and again', async (t) => {
  const folders = t.testdir({ data: {}, root: {} })
  const root = join(folders, 'root')
  const file = join(root, 'live.db')
  const env = { CAUSEWAY_RECORDING_ROOTS: root }
  const { url } = await startServer(t, { dir: join(folders, 'data'), env })
  const child = fork(recorder, ['live', file], { execArgv: ['--conditions=@causeway/source'] })
  t.teardown(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  await once(child, 'message')

  const client = overHttp(url, { 'causeway-session': 'live' })
  const ask = async (name: string, args: object) => {
    const { json } = await postMcp(url, 'tools/call', { name: `Replay__${name}`, arguments: args })
    return json.result
  }
  const frames = new Set<number>()
  let busy = 0
  // Long enough for dozens of commits of the recorder, whatever the machine is doing.
  const deadline = performance.now() + 30_000
  while (frames.size < 6 && child.exitCode === null && performance.now() < deadline) {
    const loaded = await ask('load_recording', { path: file })
    if (loaded.isError === true) {
      t.match(loaded._meta['causeway/error'], { code: 'RECORDING_BUSY', retryable: true })
      busy++
      continue
    }
    const { total_frames } = loaded.structuredContent
    const frame = await ask('get_frame', { recording: file, frame_id: total_frames })
    if (frame.isError === true) busy++
    else frames.add(total_frames)
  }
  const told = once(child, 'message')
  child.send('stop')
  const [{ commits, frames: written }] = await told
  t.same(await exited, [0, null], 'the recorder was never told that the database is locked')
  t.ok(frames.size >= 6, `${frames.size} states of the file were answered from, busy ${busy} times`)
  t.ok(commits > 10, `${commits} commits`)
  t.same(readdirSync(root), ['live.db'], 'nothing lies beside it')
  const after = await client.ask('load_recording', { path: file })
  t.equal(after.total_frames, written)
})
