import { globSync, lstatSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { fps, frameLine, kick, runLine } from '../../packages/app-replay/test/falling.ts'
import { randomFrom } from '../random.ts'
import { runStory, stories } from '../soak/story.ts'
import { WholeServer } from '../soak/whole-server.ts'
import { verifies } from '../verifies.ts'
import { getJson, type HttpAnswer, postJson } from './http.ts'
import { startServer } from './server-process.ts'

t.setTimeout(300_000)

const frame = JSON.stringify({
  frame_id: 1,
  time: 0.1,
  bodies: [{ id: 1, position: [0, 1, 0], velocity: [0, 1, 0], orientation: [1, 0, 0, 0] }],
})

/** Returns the files and folders below `folder`, and `folder` itself, that other users can access, with their modes. */
function sharedFiles(folder: string): string[] {
  return [folder, ...globSync('**/{.*,*}', { cwd: folder }).map((name) => join(folder, name))].flatMap(
    (path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false })
      if (stat === undefined || stat.isSymbolicLink() || (stat.mode & 0o077) === 0) return []
      return [`${relative(folder, path)} ${(stat.mode & 0o777).toString(8)}`]
    },
  )
}

for (const umask of [0o022, 0o000])
  verifies('server:data:private', `with the umask ${umask.toString(8).padStart(3, '0')}`, async (t) => {
    t.setTimeout(240_000)
    const before = process.umask(umask)
    t.teardown(() => process.umask(before))
    const server = await WholeServer.create({ CAUSEWAY_LOG_FILES: 'true' })
    t.teardown(() => server.remove())
    rmSync(server.dataDir, { recursive: true })
    await server.start()
    const tally = { sent: 0, answered: 0, faults: [] }
    for (const story of stories.flat()) await runStory(server, { random: randomFrom(1), tally, story })
    const post = async (path: string, type: string, body: string) => {
      const response = await fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
      t.equal(response.status, 200, await response.text())
    }
    await post('/api/apps/replay/recordings/run/frames', 'application/x-ndjson', frame)
    await post('/api/apps/causeway/tools/make_backup', 'application/json', '{}')
    t.same(sharedFiles(server.dataDir), [], 'while the server runs')
    await server.end('SIGTERM')
    t.same(sharedFiles(server.dataDir), [], 'after the server has stopped')
    t.ok(globSync('**/*', { cwd: server.dataDir }).length > 20)
  })

const seconds = process.env.CAUSEWAY_LONG === undefined ? 5 : 30
const last = fps * seconds
const recording = 'watched'

/** Returns the integers from `first` to `to`, inclusive. */
const numbers = (first: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - first + 1) }, (_, i) => first + i)

verifies('recording:recorder:watched', async (t) => {
  const { url } = await startServer(t, { dir: t.testdir() })
  const run = `${url}/api/apps/replay/recordings/${recording}`
  const send = async (lines: readonly string[]): Promise<HttpAnswer> => {
    const response = await fetch(`${run}/frames`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    })
    return { status: response.status, headers: response.headers, json: await response.json() }
  }
  const call = async (tool: string, args: object = {}) =>
    (await postJson(url, `/api/apps/replay/tools/${tool}`, { recording, ...args })).json

  await send([runLine, frameLine(1)])
  /** Last acknowledged frame and number of acknowledgements. */
  const acknowledged = { frame: 1, times: 0 }

  /**
   * Produces frames at a fixed rate. Frames that become due while a request is in flight are sent in the next request. Each
   * request is acknowledged completely, so a frame waits only for the flush before its own.
   */
  const record = async (): Promise<void> => {
    const begin = performance.now()
    for (let sent = 1; sent < last; ) {
      await pause(Math.max(0, begin + (sent * 1000) / fps - performance.now()))
      const due = Math.floor(((performance.now() - begin) * fps) / 1000) + 1
      const to = Math.min(last, Math.max(sent + 1, due))
      const { status, json } = await send(numbers(sent + 1, to).map(frameLine))
      t.same([status, json.accepted, json.ignored, json.last_frame_id], [200, to - sent, 0, to])
      acknowledged.frame = to
      acknowledged.times += 1
      sent = to
    }
  }

  const follow = async (): Promise<readonly number[]> => {
    const seen: number[] = []
    for (let after_frame = 0; after_frame < last; ) {
      const { frames, next_frame } = await call('tail_recording', { after_frame, limit: 50 })
      seen.push(...frames.map(({ frame_id }: { readonly frame_id: number }) => frame_id))
      after_frame = next_frame
    }
    return seen
  }

  /** Calls `diagnose` repeatedly and returns the number of acknowledgements while a diagnosis was in flight. */
  const diagnose = async (): Promise<number> => {
    let meanwhile = 0
    for (let isAllSent = false; !isAllSent; ) {
      isAllSent = acknowledged.frame === last
      const before = { ...acknowledged }
      const { findings, frames_checked } = await call('diagnose')
      meanwhile += acknowledged.times - before.times
      t.ok(
        frames_checked >= before.frame,
        'the diagnosis covers every frame that was acknowledged before the call',
      )
      const found = findings.filter(({ severity }: { readonly severity: string }) => severity !== 'info')
      if (frames_checked < kick.frame) t.same(found, [], 'no fault is found before it occurs')
      else if (before.frame > kick.frame)
        t.match(found[0], { kind: 'energy_injection', bodies: [kick.body], frames: { first: kick.frame } })
    }
    return meanwhile
  }

  const [, seen, meanwhile] = await Promise.all([record(), follow(), diagnose()])
  t.same(seen, numbers(1, last), 'the follower receives every frame once and in order')
  t.ok(meanwhile > 0, `the recorder was acknowledged ${meanwhile} times while a diagnosis was in flight`)
  t.match((await getJson(url, `/api/apps/replay/recordings/${recording}`)).json, {
    total_frames: last,
    first_frame_id: 1,
    last_frame_id: last,
  })
})
