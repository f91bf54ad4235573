/** A server that may have less memory than it has: every cache gives back all the time, and every store goes on. */
import { join } from 'node:path'
import { codes } from '@causeway/protocol'
import t from 'tap'
import { until } from '../e2e/condition.ts'
import { getJson, postJson } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, everyWork, promisesOf, settingsOf } from './lives.ts'
import { tool } from './work.ts'

const rounds = process.env.CAUSEWAY_LONG === undefined ? 4 : 60
t.setTimeout(120_000 + rounds * 15_000)

verifies('limits:memory:short', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = everyWork(root)
  for (const work of works) work.before?.()
  const env = { ...settingsOf(works), CAUSEWAY_MEMORY_LIMIT_MB: '64' }
  const { url, server } = await startServer(t, { dir, env })
  const place = { url, dir }
  const health = async () => (await getJson(url, '/health')).json.memory

  const told = await server.saw('memory is short: requests are answered one at a time until it is not')
  t.equal(told.limit_mb, 64)
  t.ok(told.used_mb > 64)
  const short = await health()
  t.match(short, { status: 'short', limit_bytes: 64 * 2 ** 20 })
  t.ok(short.used_bytes > short.limit_bytes)

  for (const work of works) await work.begin(place)
  const frame = (recording: string) => tool(url, ['replay', 'get_frame'], { recording, frame_id: 2 })
  const first = await frame('stack.db')
  for (let round = 0; round < rounds; round++) {
    const { given_back_bytes: before } = await health()
    for (const work of works) await work.step(place)
    await until(health, ({ given_back_bytes: given }) => given > before)
  }
  t.same(await frame('stack.db'), first, 'what was given back is read again')
  const all = Array.from({ length: 12 }, () =>
    postJson(url, '/api/apps/replay/tools/check_momentum', { recording: 'stack.db' }),
  )
  const answers = await Promise.all(all)
  const refused = answers.filter(({ status }) => status !== 200)
  t.ok(refused.length > 0 && refused.length < answers.length, 'one at a time is answered')
  for (const { status, headers, json } of refused) {
    t.equal(status, codes.OVERLOADED.http)
    t.equal(json.code, 'OVERLOADED')
    t.match(headers.get('retry-after'), /^\d+$/)
  }
  const { caches } = await until(health, ({ caches }) => caches['replay.recordings'].bytes === 0)
  for (const name of ['replay.recordings', 'debrief.plots', 'minds.texts', 'help.search'])
    t.ok(caches[name].given_back_bytes > 0, `${name} gave back`)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.match(metrics, /^causeway_memory_short 1$/m)
  t.match(metrics, /^causeway_requests_turned_away_total\{want="memory"\} [1-9]/m)
  t.match(metrics, /^causeway_cache_given_back_bytes\{cache="replay\.recordings"\} [1-9]/m)
  await checkAll(t, works, place, promisesOf(works))
  t.same(await server.stop(), { code: 0, signal: null })
})
