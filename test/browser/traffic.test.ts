/** The history of the traffic page in Chromium. */
import t from 'tap'
import type { AuditEntry } from '../../server/src/audit/audit-entry.ts'
import { ServerStore } from '../../server/src/host/server-store.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { isSkipped, openBrowser, openPage, visit } from './browser.ts'

t.setTimeout(300_000)

const scrollToEnd = `document.querySelector('.virtual').scrollTo(0, 1e6)`

/** Calls of an earlier run of the server. The page receives the newest 200 of them. */
async function storeCalls(dir: string): Promise<void> {
  const store = new ServerStore(`${dir}/server.db`, { now: () => Date.now() })
  const start = Date.now() - 60_000
  const entries = Array.from({ length: 1000 }, (_, n): AuditEntry => {
    const isOld = n < 300
    return {
      at_ms: start + n,
      app: 'Replay',
      service: 'replay',
      tool: isOld ? 'find_old' : 'get_frame',
      channel: 'rest',
      client: isOld ? 'old-probe' : 'probe',
      client_version: '1',
      session: '0123456789ab',
      request_id: `earlier-${n}`,
      trace_id: null,
      ms: 1,
      code: n === 7 ? 'FRAME_NOT_FOUND' : 'ok',
      request_bytes: 10,
      answer_chars: 10,
      subject: `subject ${n}`,
      facts: null,
    }
  })
  await store.audit.append(entries)
  store.close()
}

if (isSkipped) t.test('the traffic page in Chromium', { skip: isSkipped }, async () => {})
else {
  const dir = t.testdir()
  await storeCalls(dir)
  const browser = await openBrowser(t)
  const { url } = await startServer(t, { dir })

  verifies('console:traffic:history', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/traffic`)
    await page
      .getByRole('row', { name: /get_frame/ })
      .first()
      .waitFor()
    const filter = page.getByLabel('Filter', { exact: true })
    const oldRow = page.getByRole('row', { name: /find_old.*subject 7 .*FRAME_NOT_FOUND/ })
    t.equal(await oldRow.count(), 0)
    await filter.fill('code:NOT_FOUND tool:find')
    await oldRow.waitFor()
    await page.getByText('The audit has no older calls to show.').waitFor()
    await page.reload()
    await oldRow.waitFor()
    t.equal(await filter.inputValue(), 'code:NOT_FOUND tool:find')

    await filter.fill('client:old-probe -code:*')
    const more = page.getByRole('button', { name: 'Load older calls' })
    await more.waitFor()
    await page.getByRole('row', { name: /subject 299 / }).waitFor()
    await more.click()
    await page.getByText('The audit has no older calls to show.').waitFor()
    await page.evaluate(scrollToEnd)
    await page.getByRole('row', { name: /subject 0 / }).waitFor()
    t.equal(await page.getByText('New calls are held back').count(), 1)

    await filter.fill('client:old-probe tol:x')
    await page.getByRole('alert').getByText('The filter has the unknown field tol').waitFor()
    t.same(watched.problems, [])
  })

  verifies('console:traffic:history', 'without a filter, older calls are loaded on request', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/traffic`)
    await page
      .getByRole('row', { name: /get_frame/ })
      .first()
      .waitFor()
    const more = page.getByRole('button', { name: 'Load older calls' })
    const end = page.getByText('The audit has no older calls to show.')
    while ((await end.count()) === 0) {
      await more.or(end).waitFor()
      if ((await more.count()) > 0) await more.click()
    }
    await page.evaluate(scrollToEnd)
    await page.getByRole('row', { name: /subject 0 / }).waitFor()
    t.equal(await page.getByRole('row', { name: /subject 1 / }).count(), 1, 'no call is listed twice')
    t.same(watched.problems, [])
  })
}
