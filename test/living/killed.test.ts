/** A server with work for every store that is killed at random times. */
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  checkAll,
  checkFiles,
  createWorks,
  findLeftovers,
  mergeSettings,
  random,
  readPromised,
  runWorks,
} from './all-works.ts'

const isLong = process.env.CAUSEWAY_LONG !== undefined
const kills = isLong ? 50 : Number(process.env.CAUSEWAY_KILLS ?? 1)
t.setTimeout(isLong ? 3_600_000 : 60_000 + kills * 30_000)

verifies('killed:every-store', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = createWorks(root)
  const env = mergeSettings(works)
  const next = random(20_261_122)
  const done = new Map<string, number>(works.map(({ name }) => [name, 0]))
  let promised = readPromised(works)
  for (let life = 0; life <= kills; life++) {
    for (const work of works) work.before?.()
    const { url, server } = await startServer(t, { dir, env })
    const place = { url, dir }
    if (life === 0) for (const work of works) await work.begin(place)
    else await checkAll(t, works, place, promised)
    if (life === kills) {
      await server.stop()
      break
    }
    const kill = (): void => void server.process.kill('SIGKILL')
    const moment = next()
    // Every second server is killed early, during opening and indexing; the others when every store is in use.
    const early = life % 2 === 1 ? setTimeout(kill, moment * 2000) : undefined
    const { steps, failures } = await runWorks(works, place, { atWork: () => setTimeout(kill, moment * 700) })
    // Read immediately: some works only count responses that are older than a fixed time before the kill.
    promised = readPromised(works)
    clearTimeout(early)
    t.match(await server.exited, { signal: 'SIGKILL' })
    t.same(failures, [], 'calls fail only because of the kill')
    for (const [name, count] of Object.entries(steps)) done.set(name, (done.get(name) ?? 0) + count)
    checkFiles(t, dir)
  }
  t.same(findLeftovers(dir), [])
  t.comment(`${kills} kills; completed steps: ${JSON.stringify(Object.fromEntries(done))}`)
  for (const [name, count] of done) t.ok(count > 0, `${name} completed a step`)
})
