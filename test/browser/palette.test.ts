/** Tests the console's palette and the viewer's keys in Chromium, with the real server. */
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { until } from '../e2e/condition.ts'
import { postMcp } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  checkThemes,
  createGate,
  findViolations,
  isSkipped,
  keepScreenshot,
  listUnexpected,
  nextFrame,
  openBrowser,
  openPage,
  pressSequence,
  visit,
} from './browser.ts'
import { countColors, countPixels, showsFrame } from './viewer.ts'

t.setTimeout(300_000)

const plots = fileURLToPath(new URL('../../fixtures/plots', import.meta.url))
const hostile = 'palette-test <img src=x onerror=document.title=1>\u202e'

/** Creates a mind in the session of a client with a hostile name. */
async function createMind(url: string): Promise<void> {
  const path = '/mcp/minds'
  const params = {
    ...{ protocolVersion: '2025-11-25', capabilities: {} },
    clientInfo: { name: hostile, version: '1' },
  }
  const opened = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  await opened.text()
  const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  const config = { entity_id: 'npc_mara', traits: ['curious'] }
  const call = { name: 'create_mind', arguments: { mind_id: 'npc_mara', config } }
  const { json } = await postMcp(url, 'tools/call', call, { path, headers })
  if (json.result === undefined) throw new Error(JSON.stringify(json))
}

/** Opens the palette with the keyboard and waits until all lists are loaded. */
async function openPalette(page: Page, key = 'Control+k'): Promise<void> {
  await page.keyboard.press(key)
  await page.locator('dialog[open] [role=combobox]:focus').waitFor()
  await page.locator('dialog [data-loading]').waitFor({ state: 'detached' })
}

/** Presses a key repeatedly: rarely, on a busy machine, a press has no effect for an unknown reason. */
const pressUntilShown = (page: Page, key: string, shown: Locator): Promise<unknown> =>
  until(async () => {
    await page.keyboard.press(key)
    return shown.waitFor({ timeout: 5000 }).then(
      () => true,
      () => false,
    )
  }, Boolean)

/** Resolves to the text of the selected result. */
const getSelected = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.innerText ?? ''`,
  )

/** Opens the first result of a query. */
async function openResult(page: Page, query: string, result: RegExp): Promise<void> {
  await openPalette(page)
  await page.keyboard.type(query)
  await page.locator('dialog [aria-selected=true]', { hasText: result }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('dialog').waitFor({ state: 'detached' })
}

if (isSkipped) t.test('the palette in Chromium', { skip: isSkipped }, async () => {})
else {
  const browser = await openBrowser(t)
  const { url } = await startServer(t, { dir: t.testdir(), env: { CAUSEWAY_PLOT_ROOTS: plots } })
  await createMind(url)

  verifies('console:palette', 'a tool, a recording, a frame and a finding can be opened', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, url)
    await openPalette(page)
    t.match(await getSelected(page), /^Overview/, 'without a query, the pages are listed')
    await page.keyboard.type('re')
    await checkThemes(t, watched, 'palette')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })

    await openResult(page, 'friction cone', /^check_friction_cone/)
    await page.waitForURL(`${url}/apps/replay/check_friction_cone`)
    await page.getByRole('heading', { name: 'check_friction_cone' }).waitFor()
    t.equal(await page.evaluate('document.activeElement.id'), 'main', 'the page has the focus')
    await openResult(page, 'slide_at', /^slide_at_45/)
    await showsFrame(page, 1)
    await openResult(page, '45', /^Frame 45$/)
    await showsFrame(page, 45)
    await openResult(page, 'finding 1', /^Finding 1(?!\d)/)
    const pressed = page.locator('.finding[aria-pressed=true]')
    await pressed.waitFor()
    t.equal(await page.locator('.finding').first().getAttribute('aria-pressed'), 'true')
    await page.goBack()
    await showsFrame(page, 45)
    await pressed.waitFor({ state: 'detached' })
    t.match(page.url(), /#frame=45$/)
    // A slow page renders a finding and opens a link. Only then would it write the finding into the address.
    await page.evaluate(`new Promise((resolve) => {
      addEventListener('hashchange', () => setTimeout(resolve), { once: true })
      addEventListener('popstate', () => { for (const end = performance.now() + 100; performance.now() < end; ); }, { once: true })
      document.querySelector('.finding').click()
      queueMicrotask(() => queueMicrotask(() => { location.hash = 'frame=40' }))
    })`)
    await showsFrame(page, 40)
    await pressed.waitFor({ state: 'detached' })
    await page.evaluate(nextFrame)
    t.match(page.url(), /#frame=40$/)
    t.equal(await pressed.count(), 0)
    t.same(watched.problems, [])
  })

  verifies('console:keys', 'keys of the viewer change the frame, the selection and layers', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/stack#frame=30`)
    await page.waitForSelector('.stage[data-contacts="3"]')
    const isPressed = (name: string, pressed = true): Promise<void> =>
      page.getByRole('button', { name, exact: true, pressed }).waitFor()
    for (const [key, body] of [
      ['b', 2],
      ['b', 3],
      ['B', 2],
      ['B', 4],
      ['b', 2],
    ] as const) {
      await page.keyboard.press(key)
      await isPressed(`body ${body}`)
    }
    for (const [key, layer] of [
      ['c', 'Contacts'],
      ['o', 'Forces'],
    ] as const) {
      await page.keyboard.press(key)
      await isPressed(layer, false)
    }
    for (const [key, layer] of [
      ['v', 'Velocities'],
      ['t', 'Trails'],
    ] as const) {
      await page.keyboard.press(key)
      await isPressed(layer)
    }
    for (const view of ['top', 'front', 'side', 'free']) {
      await page.keyboard.press('x')
      await page.getByRole('button', { name: `View: ${view}` }).waitFor()
    }
    await page.keyboard.press('?')
    const keys = await page.locator('dialog[open]').innerText()
    for (const row of [
      /Previous change of contacts\s+,/,
      /Next change of contacts\s+\./,
      /Play backwards\s+j/,
      /Pause\s+k/,
      /Play forwards\s+l/,
      /Velocities on or off\s+v/,
      /Trails on or off\s+t/,
      /View from the top, front, side, or free\s+x/,
      /Bookmark this frame\s+m/,
    ])
      t.match(keys, row)
    await page.keyboard.press('Escape')
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Frame 30: Marked in the console' }).waitFor()
    await page.keyboard.press('j')
    await showsFrame(page, 1)
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
    await page.getByRole('button', { name: /^Frame 30:/ }).click()
    await showsFrame(page, 30)
    t.same(await findViolations(page), [])
    await page.keyboard.press('Home')
    await page.keyboard.press('l')
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await page.keyboard.press('k')
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Remove the bookmark of frame 30' }).click()
    await page.getByRole('button', { name: /^Frame 30:/ }).waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await isPressed('Follow clients')
    await pressSequence(page, 'g', 'r')
    await page.waitForURL(`${url}/replay`)
    t.same(watched.problems, [])
  })

  verifies('console:keys', 'keys find changes of contacts, and show velocities and trails', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/drop#frame=50`)
    for (const [key, frame] of [
      ['.', 63],
      ['.', 67],
      ['.', 87],
      [',', 67],
      [',', 63],
    ] as const) {
      await page.keyboard.press(key)
      await showsFrame(page, frame)
    }
    await page.keyboard.press(',')
    await page.evaluate(nextFrame)
    await showsFrame(page, 63)
    await page.waitForSelector('.stage[data-contacts="1"]')
    await page.keyboard.press('c')
    await page.keyboard.press('o')
    await page.evaluate(nextFrame)
    const accent = () => countPixels(page, '.stage canvas', 'accent')
    t.equal(await accent(), 0)
    await page.keyboard.press('v')
    await page.waitForSelector('.stage[data-velocities="1"]')
    await until(accent, (count) => count > 20)
    await page.keyboard.press('v')
    await until(accent, (count) => count === 0)
    await page.keyboard.press('x')
    await page.keyboard.press('x')
    await page.evaluate(nextFrame)
    const colors = await countColors(page)
    await page.keyboard.press('t')
    await page.evaluate(nextFrame)
    await keepScreenshot(page, 'viewer-trails')
    t.not(await countColors(page), colors, 'a trail is drawn')
    t.same(watched.problems, [])
  })

  verifies('console:keys', 'trails that are turned off while they are loading are not shown', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    // The poses arrive after trails were turned on and off.
    const { opened: released, open: release } = createGate()
    await page.route('**/poses?*', async (route) => {
      await released
      await route.continue()
    })
    await visit(watched, `${url}/replay/drop#frame=60`)
    const trails = page.getByRole('button', { name: 'Trails' })
    await page.keyboard.press('t')
    await trails.and(page.locator('[aria-pressed=true]')).waitFor()
    await page.keyboard.press('t')
    await trails.and(page.locator('[aria-pressed=false]')).waitFor()
    await page.evaluate(nextFrame)
    release()
    while ((await countColors(page)) <= 20) await page.evaluate(nextFrame)
    await page.evaluate(nextFrame)
    const colors = await countColors(page)
    await page.keyboard.press('t')
    await until(
      () => countColors(page),
      (count) => count !== colors,
    )
    t.same(watched.problems, [])
  })

  verifies('console:keys', 'if a search for a change of contacts fails, the error is shown', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    // The searches fail. The faults are injected before the page is opened, so that they apply to its first request.
    const failure = { code: 'STORE_FAILED', message: 'the file cannot be read' }
    await page.route('**/timeline', (route) => route.fulfill({ status: 500, json: failure }))
    await visit(watched, `${url}/replay/drop#frame=50`)
    const alert = page.getByRole('alert')
    const shown = alert.getByText('the file cannot be read')
    await pressUntilShown(page, '.', shown)
    t.match(await alert.innerText(), /STORE_FAILED/)
    await page.unroute('**/timeline')
    await page.route('**/timeline', (route) => route.abort())
    await page.keyboard.press('.')
    await alert.waitFor({ state: 'detached' })
    await page.unroute('**/timeline')
    await pressUntilShown(page, '.', page.locator('[data-frame]', { hasText: 'Frame 63 ' }))
    t.equal(await alert.count(), 0)
    t.same(listUnexpected(watched), [])
  })

  verifies('console:palette', 'arrow keys move the selection, and Escape restores the focus', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/traffic`)
    const filter = page.getByLabel('Filter', { exact: true })
    await filter.focus()
    await openPalette(page, 'Meta+k')
    await page.keyboard.press('ArrowDown')
    t.match(await getSelected(page), /^Apps and tools/)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    t.match(await getSelected(page), /^Help/, 'before the first is the last')
    await page.keyboard.type('nothing has this name')
    await page.getByText('0 results').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    t.equal(await page.locator('input[aria-label=Filter]:focus').count(), 1)
    t.equal(new URL(page.url()).pathname, '/traffic')
    await openPalette(page)
    for (let round = 0; round < 5; round++) {
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+k')
      await page.locator('dialog[open] [role=combobox]:focus').waitFor()
      t.equal(await page.locator('dialog').count(), 1, 'Escape and Ctrl K open the palette again')
    }
    await page.keyboard.press('Control+k')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await openResult(page, 'mara', /^npc_mara/)
    await page.waitForURL(`${url}/minds/npc_mara`)
    await page.keyboard.press('?')
    t.match(await page.locator('dialog[open]').innerText(), /Search pages, tools and data\s+Ctrl\s*k/)
    t.same(watched.problems, [])
  })

  verifies('console:palette', 'names, even those of clients, are shown as text', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/traffic`)
    await openPalette(page)
    await page.keyboard.type('<img')
    await page.locator('dialog [role=option] bdi', { hasText: '<img src=x' }).waitFor()
    t.equal(await page.locator('dialog img').count(), 0)
    await page.keyboard.press('Enter')
    await page.waitForURL(/#filter=session%3A/)
    const filter = page.getByLabel('Filter', { exact: true })
    await until(
      () => filter.inputValue(),
      (value) => value.startsWith('session:'),
    )
    t.equal(await page.title(), 'Traffic · Causeway')
    await openResult(page, 'gibraltar', /^gibraltar/)
    await page.waitForURL(`${url}/debrief/plots/gibraltar.plot.json`)
    t.same(watched.problems, [])
  })

  verifies(
    'console:palette',
    'lists that cannot be loaded are named, and the other lists are searched',
    async (t) => {
      const partial = await startServer(t, {
        dir: t.testdir(),
        env: { CAUSEWAY_APPS: ['Causeway', 'Replay', 'Debrief'].join(delimiter) },
      })
      const watched = await openPage(t, browser)
      const { page } = watched
      await page.route('**/list_plots', (route) => route.abort())
      await visit(watched, partial.url)
      await openPalette(page)
      const state = await page.locator('dialog [role=status]').innerText()
      for (const text of [/Plots \(UNREACHABLE\)/, /Minds \([A-Z_]+\)/, /TRM sessions \([A-Z_]+\)/])
        t.match(state, text)
      t.notMatch(state, /Tools|Recordings|Client sessions/)
      t.same(await findViolations(page), [], 'axe')
      await keepScreenshot(page, 'palette-partial')
      await page.keyboard.type('stack')
      await page.locator('dialog [aria-selected=true]', { hasText: /^stack/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`${partial.url}/replay/stack`)
      t.same(listUnexpected(watched), [])
    },
  )
}
