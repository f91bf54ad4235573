/** Workers that die while every store is at work, processes of queries that crash, and clocks that jump. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { both, initializeMessage, rpc } from '../../server/test/http/open-wire.ts'
import { until } from '../e2e/condition.ts'
import { getJson } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { type ChaosServer, startChaosServer } from './chaos-server.ts'
import { checkAll, checkFiles, everyWork, live, promisesOf, settingsOf } from './lives.ts'
import { missing, type Place, Refused, tool } from './work.ts'

const kills = process.env.CAUSEWAY_LONG === undefined ? 4 : 50
t.setTimeout(200_000 + kills * 30_000)

const hour = 3_600_000

/** A server with every work begun. */
async function everyWorkOn(t: Test) {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = everyWork(root)
  for (const work of works) work.before?.()
  const env = settingsOf(works)
  const server = await startChaosServer(t, { dir, env }, root)
  const place: Place = { url: server.url, dir }
  for (const work of works) await work.begin(place)
  for (const work of works) await work.step(place)
  return { works, env, place, ...server }
}

verifies('fault:workers', 'every worker, again and again', async (t) => {
  const { works, env, place, server, cause } = await everyWorkOn(t)
  const codes: string[] = []
  const done: Record<string, number> = {}
  let ended = 0
  for (let killed = 0; killed < kills; killed++) {
    const enough = new AbortController()
    let killing: Promise<unknown> = Promise.resolve()
    const kill = async (): Promise<void> => {
      ended += (await cause('workers')).count
      enough.abort()
    }
    const { refusals, steps } = await live(works, place, {
      signal: enough.signal,
      atWork: () => {
        killing = kill()
      },
    })
    await killing
    for (const [name, count] of Object.entries(steps)) done[name] = (done[name] ?? 0) + count
    for (const error of refusals) codes.push(error instanceof Refused ? error.answer.json.code : `${error}`)
    await checkAll(t, works, place, promisesOf(works))
  }
  t.comment(`${ended} workers were ended; done: ${JSON.stringify(done)}; told: ${codes.join(', ')}`)
  t.ok(ended > 0)
  t.same(
    codes.filter((code) => code !== 'WORKER_LOST'),
    [],
    'who was in the middle of it is told so',
  )
  t.same(await server.stop(), { code: 0, signal: null })
  checkFiles(t, place.dir)
  const again = await startServer(t, { dir: place.dir, env })
  await checkAll(t, works, { ...place, url: again.url }, promisesOf(works))
})

verifies('fault:workers', 'the process of a query', async (t) => {
  const dir = t.testdir({ data: {} })
  const { url, server } = await startServer(t, { dir: join(dir, 'data') })
  const query = (sql: string) =>
    tool(url, ['replay', 'query_sql'], { recording: 'stack.db', sql, timeout_s: 30 })
  const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`
  const asked = query(endless).catch((error: unknown) => error)
  const { pid } = server.process
  const children = async (): Promise<number[]> =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const [child] = await until(children, (all) => all.length > 0)
  process.kill(child ?? 0, 'SIGSEGV')
  const failed = await asked
  t.ok(failed instanceof Refused)
  t.equal((failed as Refused).answer.json.code, 'WORKER_LOST')
  t.match(await query('SELECT count(*) AS frames FROM v_frame'), { columns: ['frames'] })
})

verifies('fault:clock:jump', async (t) => {
  const { works, env, place, url, server, cause } = await everyWorkOn(t)
  const send = async (message: object, headers: object = {}) => {
    const answer = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...both, ...headers },
      body: JSON.stringify(message),
    })
    await answer.text()
    return answer
  }
  const opened = await send(initializeMessage())
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  const goOn = async (): Promise<void> => {
    for (const work of works) await work.step(place)
    await checkAll(t, works, place, promisesOf(works))
    const { status } = await send(rpc('tools/list', {}, 'list'), session)
    t.equal(status, 200, 'a session is still one')
    await checkFigures(t, { url })
  }
  await goOn()
  const before = await auditOf(url)
  await cause({ clockMs: 25 * hour })
  await goOn()
  await cause({ clockMs: -hour })
  await goOn()
  t.ok(before.length > works.length)
  t.same(missing(before, await auditOf(url)), [], 'every entry of before is there')
  t.same(await server.stop(), { code: 0, signal: null })
  // On the true clock again, an hour later than the last answer: a repeat of that would be a call of its own.
  const again = await startServer(t, { dir: place.dir, env })
  const later = { ...place, url: again.url }
  for (const work of works) await work.step(later)
  await checkAll(t, works, later, promisesOf(works))
})

/** The lines of the audit. */
const auditOf = async (url: string): Promise<readonly string[]> =>
  (await (await fetch(`${url}/api/apps/causeway/audit.jsonl`)).text()).trim().split('\n')

/** No figure that tells how long, how much or how many is below zero. */
async function checkFigures(t: Test, { url }: Pick<ChaosServer, 'url'>): Promise<void> {
  const health = JSON.stringify((await getJson(url, '/health')).json)
  t.notMatch(health, /:-\d/)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.same(
    metrics.split('\n').filter((line) => !line.startsWith('#') && / -\d/.test(line)),
    [],
  )
}
