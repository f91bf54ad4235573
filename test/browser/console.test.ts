/** Tests the console in Chromium, with the real server and its content security policy. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  checkThemes,
  isSkipped,
  listUnexpected,
  nextFrame,
  openBrowser,
  openPage,
  pressSequence,
  stopping,
  visit,
} from './browser.ts'
import { countColors, createRun, showsFrame } from './viewer.ts'

t.setTimeout(900_000)

/** Pages by name, with the path to open. */
const pages: Readonly<Record<string, string>> = {
  overview: '/',
  apps: '/apps',
  app: '/apps/minds',
  tool: '/apps/replay/check_friction_cone',
  'tool-nested': '/apps/debrief/apply_command',
  traffic: '/traffic#group=error',
  sessions: '/sessions',
  'servers-empty': '/servers',
  health: '/status',
  logs: '/logs',
  recordings: '/replay',
  viewer: '/replay/slide_at_45#frame=45&body=1',
  'viewer-stack': '/replay/stack#frame=30',
  comparison: '/replay/incline_slides/compare/incline_sticks',
}

/** Calls a tool as a client with the given name. */
const callTool = (url: string, path: string, args: object, client = 'test-client/1.2'): Promise<Response> =>
  fetch(`${url}/api/apps/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': client },
    body: JSON.stringify(args),
  })

/** Opens a session as a client with the given name and calls a tool. */
async function callOverMcp(url: string, name: string): Promise<void> {
  const send = (message: object, headers = {}): Promise<Response> =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } }
  const opened = await send({ id: 1, method: 'initialize', params })
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  await send({ method: 'notifications/initialized' }, session)
  const call = { name: 'Causeway__list_apps', arguments: {} }
  await (await send({ id: 2, method: 'tools/call', params: call }, session)).text()
}

if (isSkipped) t.test('the console in Chromium', { skip: isSkipped }, async () => {})
else {
  const dir = t.testdir()
  const browser = await openBrowser(t)
  const { url } = await startServer(t, { dir })
  await callTool(url, 'replay/tools/load_recording', { path: 'drop' })
  await callTool(url, 'replay/tools/get_frame', { recording: 'drop', frame_id: 9999 })

  verifies('console:pages:clean', async (t) => {
    const watched = await openPage(t, browser)
    for (const [name, path] of Object.entries(pages)) {
      await watched.page.goto('about:blank')
      await visit(watched, `${url}${path}`)
      await checkThemes(t, watched, name)
    }
    await watched.page.close()
  })

  verifies('console:pages:clean', 'all pages can be reached in a narrow window', async (t) => {
    const watched = await openPage(t, browser, { width: 800 })
    const { page } = watched
    for (const [name, path] of Object.entries(pages)) {
      await visit(watched, `${url}${path}`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, name)
    }
    const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
    t.equal(links.length, 12)
    for (const link of links) {
      const box = await link.boundingBox()
      t.ok(box !== null && box.x >= 0 && box.x + box.width <= 800, await link.innerText())
    }
  })

  verifies(
    'console:pages:served',
    'for an unknown address, a browser receives a page, and a program receives JSON',
    async (t) => {
      const watched = await openPage(t, browser)
      const { page } = watched
      await visit(watched, `${url}/replays`)
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      t.equal(await page.title(), 'Not found · Causeway')
      await page.getByRole('link', { name: 'Open the overview' }).click()
      await page.waitForURL(`${url}/`)
      for (const [path, accept] of [
        ['/replays', '*/*'],
        ['/api/replays', 'text/html'],
        ['/mcp/replays', 'text/html'],
      ] as const) {
        const response = await fetch(`${url}${path}`, { headers: { accept } })
        t.match(response.headers.get('content-type'), 'application/json', path)
        await response.text()
      }
    },
  )

  verifies('console:pages:served', 'data that a busy server did not return is loaded again', async (t) => {
    const { page } = await openPage(t, browser)
    const busy = { code: 'OVERLOADED', message: 'the server is busy', retryable: true }
    await page.route('**/list_recordings', (route) => route.fulfill({ status: 503, json: busy }), {
      times: 1,
    })
    await page.goto(`${url}/replay`)
    await page.getByRole('alert').getByText('the server is busy').waitFor()
    await page.getByRole('link', { name: 'drop', exact: true }).waitFor()
    t.equal(await page.getByRole('alert').count(), 0)
  })

  verifies(
    'console:pages:recover',
    'a recording is shown if the first requests reach a stopping server',
    async (t) => {
      const watched = await openPage(t, browser)
      const { page } = watched
      // The first two requests of each kind get the response of a stopping server.
      for (const path of ['get_metadata', 'scene?*', 'poses?*', 'diagnose', 'get_series'])
        await page.route(`**/${path}`, (route) => route.fulfill(stopping), { times: 2 })
      await page.goto(`${url}/replay/slide_at_45#frame=45&body=1`)
      await page.getByRole('alert').getByText('SHUTTING_DOWN').first().waitFor()
      await showsFrame(page, 45)
      await page.waitForSelector('.stage[data-contacts="1"]')
      await page.locator('.finding').first().waitFor()
      await page.getByRole('alert').first().waitFor({ state: 'detached' })
      while ((await countColors(page)) <= 20) await page.evaluate(nextFrame)

      // The first request for velocities gets it too.
      await page.route('**/get_frame', (route) => route.fulfill(stopping), { times: 1 })
      await page.keyboard.press('v')
      await page.waitForSelector('.stage[data-velocities="1"]')
      t.same(listUnexpected(watched), [])
    },
  )

  verifies('console:pages:recover', 'the first frames are shown even if the server is slow', async (t) => {
    const name = 'slowly'
    const send = async (count: number): Promise<void> => {
      const sent = await fetch(`${url}/api/apps/replay/recordings/${name}/frames`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: createRun('ball', 1, count),
      })
      t.equal(sent.status, 200, await sent.text())
    }
    await send(0)
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/${name}`)
    await page.getByText('This recording has no frames').waitFor()
    // Each answer takes longer than the polling interval.
    await page.route('**/get_metadata', async (route) => {
      const response = await route.fetch()
      await new Promise((resolve) => setTimeout(resolve, 1500))
      await route.fulfill({ response }).catch(() => {})
    })
    await send(5)
    await showsFrame(page, 5)
    t.same(watched.problems, [])
  })

  verifies('console:pages:recover', 'a page whose code could not be loaded is reloaded', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    let isDown = true
    // The server is not reachable for the code of the page.
    for (const path of ['**/assets/logs-page-*', '**/health'])
      await page.route(path, (route) => (isDown ? route.abort() : route.continue()))
    await visit(watched, url)
    await page.getByRole('link', { name: 'Logs' }).click()
    await page.getByText('The code of this page could not be loaded').waitFor()
    await page.getByText('The server is not reachable').waitFor()
    isDown = false
    await page.getByRole('heading', { name: 'Logs' }).waitFor()
    t.same(listUnexpected(watched), [])
  })

  verifies('console:overview', async (t) => {
    await callTool(url, 'replay/tools/get_frame', { recording: 'drop', frame_id: 9999 })
    const { page } = await openPage(t, browser)
    await visit({ page, problems: [] }, url)
    const { apps } = (await (await fetch(`${url}/health`)).json()) as {
      apps: Record<string, { tools: number }>
    }
    for (const app of ['Causeway', 'Replay', 'Help', 'Minds', 'Debrief', 'ToolVault', 'Trm']) {
      const card = await page.locator('.card', { has: page.getByRole('heading', { name: app }) }).innerText()
      t.match(card, /ok/)
      t.match(card, `\n${apps[app]?.tools} tools`, 'only listed tools are counted')
    }
    const clients = page.locator('section', { has: page.getByRole('heading', { name: 'Clients' }) })
    t.match(await clients.innerText(), /test-client/)
    t.match(await page.getByRole('row', { name: /get_frame.*test-client/ }).innerText(), /FRAME_NOT_FOUND/)
  })

  verifies('console:pages:hostile', async (t) => {
    const name = `<img src=x onerror=document.title="owned">\u202e${'long'.repeat(2500)}`
    await callOverMcp(url, name)
    const watched = await openPage(t, browser)
    await visit(watched, url)
    const { page } = watched
    t.match(await page.locator('main').innerText(), /<img src=x onerror=/)
    t.equal(await page.locator('main img').count(), 0)
    t.equal(await page.title(), 'Overview · Causeway')
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      true,
      'nothing overflows',
    )
    t.same(watched.problems, [])
  })

  verifies('console:keys', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, url)
    await page.keyboard.press('?')
    const dialog = page.locator('dialog[open]')
    t.match(await dialog.innerText(), /Open Overview/)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await pressSequence(page, 'g', 'a')
    await page.waitForURL(`${url}/apps`)
    await page.getByRole('heading', { name: 'Apps and tools' }).waitFor()
    await pressSequence(page, 'g', 'o')
    await page.waitForURL(`${url}/`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.equal(await page.title(), 'Overview · Causeway')
  })

  verifies('console:pages:token', async (t) => {
    const folder = t.testdir({ data: {} })
    const token = 'token-of-the-console-test-0123456789abcdef'
    writeFileSync(`${folder}/tokens`, `${token} console *:read\n`, { mode: 0o600 })
    const env = { CAUSEWAY_TOKEN_FILE: `${folder}/tokens` }
    const guarded = await startServer(t, { dir: `${folder}/data`, env })
    const { page } = await openPage(t, browser)
    await page.goto(guarded.url)
    const enter = async (text: string): Promise<void> => {
      await page.getByLabel('Token').fill(text)
      await page.getByRole('button', { name: 'Continue' }).click()
    }
    t.equal(await page.getByRole('alert').count(), 0)
    await enter('another-token-0123456789abcdef0123456789abcdef')
    await page.getByRole('alert').getByText('The server did not accept the token.').waitFor()
    await enter(token)
    await page.getByRole('heading', { name: 'Replay' }).waitFor()
    await page.getByRole('button', { name: 'Token' }).click()
    await page.getByRole('heading', { name: 'Token required' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'Replay' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Replay' }).waitFor()
    for (const path of ['/', '/status', '/sessions', '/logs']) {
      await visit({ page, problems: [] }, `${guarded.url}${path}`)
      t.notMatch(await page.content(), token, `${path} does not contain the token`)
    }
  })
}
