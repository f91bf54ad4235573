import { globSync, lstatSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { randomFrom } from '../random.ts'
import { stories, tellOnce } from '../soak/story.ts'
import { WholeServer } from '../soak/whole-server.ts'
import { verifies } from '../verifies.ts'

const frame = JSON.stringify({
  frame_id: 1,
  time: 0.1,
  bodies: [{ id: 1, position: [0, 1, 0], velocity: [0, 1, 0], orientation: [1, 0, 0, 0] }],
})

/** Every file and folder in a folder, itself included, that other users may read or write, with its mode. */
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
    for (const story of stories.flat()) await tellOnce(server, { random: randomFrom(1), tally, story })
    const post = async (path: string, type: string, body: string) => {
      const answer = await fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
      t.equal(answer.status, 200, await answer.text())
    }
    await post('/api/apps/replay/recordings/run/frames', 'application/x-ndjson', frame)
    await post('/api/apps/causeway/tools/make_backup', 'application/json', '{}')
    t.same(sharedFiles(server.dataDir), [], 'while the server runs')
    await server.end('SIGTERM')
    t.same(sharedFiles(server.dataDir), [], 'after it has stopped')
    t.ok(globSync('**/*', { cwd: server.dataDir }).length > 20)
  })
