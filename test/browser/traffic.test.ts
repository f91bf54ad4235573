/** Tests the history, the shared stream and the captured calls of the traffic page in Chromium. */
import type { Page } from 'playwright-core'
import t from 'tap'
import type { AuditEntry } from '../../server/src/audit/audit-entry.ts'
import { ServerStore } from '../../server/src/host/server-store.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  checkThemes,
  isSkipped,
  listUnexpected,
  nextFrame,
  openBrowser,
  openPage,
  settled,
  stopping,
  visit,
} from './browser.ts'

t.setTimeout(300_000)

const scrollToEnd = `document.querySelector('.virtual').scrollTo(0, 1e6)`

/** Stores calls as of an earlier run of the server. The page receives the newest 200 of them. */
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

/** Calls a tool as a client with the given name. */
async function call(url: string, client: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'user-agent': client }
  const init = { method: 'POST', headers, body: '{}' }
  await (await fetch(`${url}/api/apps/causeway/tools/list_apps`, init)).text()
}

/** Waits until the server has this number of streams of calls. */
async function waitForStreams(url: string, count: number): Promise<void> {
  for (;;) {
    const { streams } = (await (await fetch(`${url}/api/apps/causeway/figures`)).json()) as {
      streams: { calls: number }
    }
    if (streams.calls === count) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const countReceived = async (page: Page): Promise<number> =>
  Number((await page.locator('[data-total]').innerText()).replace(/\D/g, ''))

if (isSkipped) t.test('the traffic page in Chromium', { skip: isSkipped }, async () => {})
else {
  const dir = t.testdir()
  await storeCalls(dir)
  // A page with this host name has no locks, like a page with a LAN address.
  const browser = await openBrowser(t, ['--host-resolver-rules=MAP lan.test 127.0.0.1'])
  const { url } = await startServer(t, { dir, env: { CAUSEWAY_ALLOWED_HOSTS: 'lan.test' } })

  // Must be first, because the server must not have received any call.
  verifies('console:pages:recover', 'earlier calls are listed after the server was busy', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await page.route('**/audit?limit=*', (route) => route.fulfill(stopping), { times: 1 })
    await visit(watched, `${url}/traffic`)
    await page
      .getByRole('row', { name: /get_frame/ })
      .first()
      .waitFor()
    t.same(listUnexpected(watched), [])
  })

  verifies('console:traffic:history', 'the page can be left during a search', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    // The search never ends.
    await page.route('**/audit?filter=*', () => {})
    await visit(watched, `${url}/traffic`)
    const searching = page.waitForRequest('**/audit?filter=*')
    await page.getByLabel('Filter', { exact: true }).fill('tool:find')
    await searching
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor()
    await settled(page)
    t.same(watched.problems, [])
  })

  verifies('console:traffic:page', 'links contain the current filter', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/traffic#filter=tool:get_frame`)
    const link = page
      .getByRole('row', { name: /get_frame/ })
      .getByRole('link')
      .first()
    t.match(await link.getAttribute('href'), /#filter=tool/)
    await page.getByLabel('Filter', { exact: true }).fill('')
    await page.evaluate(nextFrame)
    t.notMatch(await link.getAttribute('href'), /#/)
    t.same(watched.problems, [])
  })

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

  verifies('console:traffic:shared', async (t) => {
    const watched = await openPage(t, browser)
    const { page: first } = watched
    await visit(watched, `${url}/traffic`)
    await waitForStreams(url, 1)
    const others = [await first.context().newPage(), await first.context().newPage()]
    for (const page of others) await visit({ page, problems: [] }, `${url}/traffic`)
    await call(url, 'seen-by-all/1')
    for (const page of [first, ...others]) await page.getByRole('row', { name: /seen-by-all/ }).waitFor()
    await waitForStreams(url, 1)
    await call(url, 'once/1')
    for (const page of [first, ...others]) {
      await page.getByRole('row', { name: /once/ }).waitFor()
      t.equal(await page.getByRole('row', { name: /once/ }).count(), 1)
    }
    const before = await Promise.all(others.map(countReceived))

    const calls = (async () => {
      for (let n = 0; n < 40; n++) await call(url, 'during/1')
    })()
    await first.close()
    await calls
    for (const [n, page] of others.entries()) {
      const total = String((before[n] as number) + 40)
      await page
        .locator('[data-total]', { hasText: new RegExp(`^${total.replace(/\B(?=(\d{3})+$)/g, '\u202f')}$`) })
        .waitFor()
    }
    await waitForStreams(url, 1)
    t.same(watched.problems, [])
    await first.context().close()
    await waitForStreams(url, 0)
  })

  verifies('console:traffic:shared', 'without locks, each tab has its own stream', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    const other = await page.context().newPage()
    const lanUrl = `http://lan.test:${new URL(url).port}`
    for (const one of [page, other]) await visit({ page: one, problems: [] }, `${lanUrl}/traffic`)
    t.equal(await page.evaluate('isSecureContext'), false)
    await waitForStreams(url, 2)
    await call(url, 'without-locks/1')
    for (const one of [page, other]) await one.getByRole('row', { name: /without-locks/ }).waitFor()
    const others = watched.problems.filter((problem) => !problem.includes('Cross-Origin-Opener-Policy'))
    t.same(others, [], 'browsers ignore that header without HTTPS')
  })

  verifies('console:capture:page', async (t) => {
    const hostile = '<img src=x onerror=document.title=1>\u202e'
    /** Calls a tool in a new session. Returns the request id. */
    const callInSession = async (tool: string, args: object): Promise<string> => {
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'captured/1',
        'causeway-session': 'captured',
      }
      const body = JSON.stringify(args)
      const response = await fetch(`${url}/api/apps/${tool}`, { method: 'POST', headers, body })
      await response.text()
      return response.headers.get('causeway-request') ?? ''
    }
    const earlier = await callInSession('causeway/tools/list_apps', {})
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/sessions`)
    const row = page.getByRole('row', { name: /^captured/ })
    const badge = page.getByRole('banner').getByText(/capturing · \d/)
    await row.getByRole('button', { name: 'Capture calls' }).click()
    t.equal(await badge.count(), 0, 'not with the first click')
    await row.getByRole('button', { name: 'Keep arguments and answers for 10 minutes' }).click()
    await badge.waitFor()

    const failed = await callInSession('replay/tools/get_frame', { recording: hostile, frame_id: 1 })
    await visit(watched, `${url}/traffic/${failed}`)
    const panel = page.getByRole('complementary', { name: 'Call' })
    await panel.locator('.tree-text', { hasText: hostile }).first().waitFor()
    await panel.locator('.tree-text', { hasText: 'RECORDING_NOT_FOUND' }).waitFor()
    t.equal(await panel.locator('img').count(), 0)
    t.match(await badge.innerText(), /capturing · 1$/)
    await checkThemes(t, watched, 'capture')
    await visit(watched, `${url}/traffic/${earlier}`)
    await panel.getByText('Not captured.').waitFor()

    await visit(watched, `${url}/status`)
    await badge.waitFor()
    await page.getByRole('banner').getByRole('button', { name: 'Stop capturing' }).click()
    await badge.waitFor({ state: 'detached' })
    await visit(watched, `${url}/traffic/${failed}`)
    await panel.getByText('Not captured.').waitFor()
    t.equal(await panel.locator('.tree').count(), 0, 'it is deleted')
    t.same(watched.problems, [])
  })
}
