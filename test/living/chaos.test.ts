/** Workers that crash while every store is in use, query processes that crash, and clocks that jump. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { both, initializeMessage, rpc } from '../../server/test/http/open-wire.ts'
import { until } from '../e2e/condition.ts'
import { getJson } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, checkFiles, createWorks, mergeSettings, readPromised, runWorks } from './all-works.ts'
import { type ChaosServer, startChaosServer } from './chaos-server.ts'
import { CallError, missing, type Place, tool } from './work.ts'

const kills = process.env.CAUSEWAY_LONG === undefined ? 4 : 50
t.setTimeout(200_000 + kills * 30_000)

const hour = 3_600_000

/** Starts a server and does one step of every work. */
async function startWithWorks(t: Test) {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = createWorks(root)
  for (const work of works) work.before?.()
  const env = mergeSettings(works)
  const server = await startChaosServer(t, { dir, env }, root)
  const place: Place = { url: server.url, dir }
  for (const work of works) await work.begin(place)
  for (const work of works) await work.step(place)
  return { works, env, place, ...server }
}

verifies('fault:workers', 'every worker crashes repeatedly', async (t) => {
  const { works, env, place, server, inject } = await startWithWorks(t)
  const codes: string[] = []
  const done: Record<string, number> = {}
  let ended = 0
  for (let killed = 0; killed < kills; killed++) {
    const enough = new AbortController()
    let killing: Promise<unknown> = Promise.resolve()
    const kill = async (): Promise<void> => {
      ended += (await inject('workers')).count
      enough.abort()
    }
    const { failures, steps } = await runWorks(works, place, {
      signal: enough.signal,
      atWork: () => {
        killing = kill()
      },
    })
    await killing
    for (const [name, count] of Object.entries(steps)) done[name] = (done[name] ?? 0) + count
    for (const error of failures)
      codes.push(error instanceof CallError ? error.response.json.code : `${error}`)
    await checkAll(t, works, place, readPromised(works))
  }
  t.comment(`${ended} workers were terminated; steps: ${JSON.stringify(done)}; errors: ${codes.join(', ')}`)
  t.ok(ended > 0)
  t.same(
    codes.filter((code) => code !== 'WORKER_LOST'),
    [],
    'interrupted calls fail with WORKER_LOST',
  )
  t.same(await server.stop(), { code: 0, signal: null })
  checkFiles(t, place.dir)
  const again = await startServer(t, { dir: place.dir, env })
  await checkAll(t, works, { ...place, url: again.url }, readPromised(works))
})

verifies('fault:workers', 'the process of a query crashes', async (t) => {
  const dir = t.testdir({ data: {} })
  const { url, server } = await startServer(t, { dir: join(dir, 'data') })
  const query = (sql: string) =>
    tool(url, ['replay', 'query_sql'], { recording: 'stack.db', sql, timeout_s: 30 })
  const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`
  const pending = query(endless).catch((error: unknown) => error)
  const { pid } = server.process
  const children = async (): Promise<number[]> =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const [child] = await until(children, (all) => all.length > 0)
  process.kill(child ?? 0, 'SIGSEGV')
  const failed = await pending
  t.ok(failed instanceof CallError)
  t.equal((failed as CallError).response.json.code, 'WORKER_LOST')
  t.match(await query('SELECT count(*) AS frames FROM v_frame'), { columns: ['frames'] })
})

verifies('fault:clock:jump', async (t) => {
  const { works, env, place, url, server, inject } = await startWithWorks(t)
  const send = async (message: object, headers: object = {}) => {
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...both, ...headers },
      body: JSON.stringify(message),
    })
    await response.text()
    return response
  }
  const opened = await send(initializeMessage())
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  const checkWork = async (): Promise<void> => {
    for (const work of works) await work.step(place)
    await checkAll(t, works, place, readPromised(works))
    const { status } = await send(rpc('tools/list', {}, 'list'), session)
    t.equal(status, 200, 'the session still exists')
    await checkFigures(t, { url })
  }
  await checkWork()
  const before = await readAudit(url)
  await inject({ clockMs: 25 * hour })
  await checkWork()
  await inject({ clockMs: -hour })
  await checkWork()
  t.ok(before.length > works.length)
  t.same(missing(before, await readAudit(url)), [], 'no earlier entry is lost')
  t.same(await server.stop(), { code: 0, signal: null })
  // The real clock is an hour ahead of the last response, so a repeated request would be a new call.
  const again = await startServer(t, { dir: place.dir, env })
  const later = { ...place, url: again.url }
  for (const work of works) await work.step(later)
  await checkAll(t, works, later, readPromised(works))
})

/** Returns the lines of the audit. */
const readAudit = async (url: string): Promise<readonly string[]> =>
  (await (await fetch(`${url}/api/apps/causeway/audit.jsonl`)).text()).trim().split('\n')

/** Checks that no number in the health report and the metrics is negative. */
async function checkFigures(t: Test, { url }: Pick<ChaosServer, 'url'>): Promise<void> {
  const health = JSON.stringify((await getJson(url, '/health')).json)
  t.notMatch(health, /:-\d/)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.same(
    metrics.split('\n').filter((line) => !line.startsWith('#') && / -\d/.test(line)),
    [],
  )
}
