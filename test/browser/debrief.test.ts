/** Tests the plot editor in Chromium, with changes by other clients. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import t from 'tap'
import { restartServer, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  checkThemes,
  createGate,
  findViolations,
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

const fixture = fileURLToPath(new URL('../../fixtures/plots/gibraltar.plot.json', import.meta.url))
const hostile = `<img src=x onerror=document.title="owned">\u202e${'long'.repeat(2500)}`

if (isSkipped) t.test('the plot editor in Chromium', { skip: isSkipped }, async () => {})
else {
  const plots = t.testdir({ data: {}, plots: {} })
  for (const name of ['a', 'edited', 'conflict', 'hostile', 'agent', 'other'])
    copyFileSync(fixture, `${plots}/plots/${name}.plot.json`)
  const browser = await openBrowser(t)
  const running = await startServer(t, {
    dir: `${plots}/data`,
    env: { CAUSEWAY_PLOT_ROOTS: `${plots}/plots` },
  })
  const { url } = running

  /** Calls a Debrief tool as another client. */
  const callAsAgent = async (tool: string, args: object): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(`${url}/api/apps/debrief/tools/${tool}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'test-agent/1.0' },
      body: JSON.stringify(args),
    })
    return (await response.json()) as Readonly<Record<string, unknown>>
  }

  const getFeature = async (filename: string, id: string): Promise<PlotFeature> => {
    const { features } = (await callAsAgent('get_features', { filename, ids: [id], detail: 'full' })) as {
      features: [PlotFeature]
    }
    return features[0]
  }

  /** Waits until the outline has this number of features. */
  const hasFeatures = (page: Page, count: number): Promise<void> =>
    page.getByText(`${count} features`, { exact: true }).waitFor()

  verifies('console:pages:clean', 'plots', async (t) => {
    for (const [name, path] of [
      ['plots', '/debrief'],
      ['plot', '/debrief/plots/a.plot.json'],
    ] as const) {
      const watched = await openPage(t, browser, { width: 1440, height: 900 })
      await visit(watched, `${url}${path}`)
      if (name === 'plot') {
        await watched.page.locator('[data-land]').waitFor()
        await callAsAgent('set_selection', { filename: 'a.plot.json', selectedIds: ['track-a'] })
        await watched.page.getByLabel('Name', { exact: true }).waitFor()
      }
      await checkThemes(t, watched, name)
      await watched.page.close()
    }
  })

  verifies('console:debrief:live', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/debrief/plots/edited.plot.json`)
    await hasFeatures(page, 15)
    await callAsAgent('delete_features', { filename: 'edited.plot.json', ids: ['zone-6'] })
    await hasFeatures(page, 14)
    t.equal(await page.getByRole('button', { name: 'Rendezvous' }).count(), 0)
    const notice = page.getByRole('region', { name: 'Notices' })
    t.match(await notice.innerText(), /test-agent removed 1 feature/)
    const undo = await notice.getByRole('button', { name: 'Undo' }).boundingBox()
    t.ok(undo !== null && undo.y + undo.height <= 800, 'it is shown without scrolling')
    await notice.getByRole('button', { name: 'Undo' }).click()
    await hasFeatures(page, 15)
    const { features } = (await callAsAgent('get_features', { filename: 'edited.plot.json' })) as {
      features: readonly { readonly id: string }[]
    }
    t.same(
      features.map(({ id }) => id).slice(9, 11),
      ['zone-6', 'point-1'],
      'the feature is at its place again',
    )
    await callAsAgent('set_selection', { filename: 'edited.plot.json', selectedIds: ['track-b'] })
    await page.locator('[aria-pressed=true]', { hasText: 'BALEARES' }).waitFor()
    t.same(watched.problems, [])
  })

  verifies('console:debrief:edit', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    const filename = 'edited.plot.json'
    await visit(watched, `${url}/debrief/plots/${filename}`)
    const name = page.getByRole('button', { name: 'Contact 17' })
    await name.focus()
    await page.keyboard.press('Enter')
    const field = page.getByLabel('Name', { exact: true })
    await field.fill('Contact 21')
    await field.press('Enter')
    await page.getByRole('button', { name: 'Contact 21' }).waitFor()
    t.equal((await getFeature(filename, 'point-2')).properties.name, 'Contact 21')
    await page.getByRole('button', { name: 'Contact 21' }).focus()
    await page.keyboard.press('z')
    await name.waitFor()
    await page.keyboard.press('Z')
    await page.getByRole('button', { name: 'Contact 21' }).waitFor()
    const slider = page.getByRole('slider', { name: 'Time' })
    await slider.focus()
    await page.keyboard.press('End')
    await page.locator('.time-now', { hasText: '15 Nov, 10:1' }).waitFor()
    await page.keyboard.press('Control+s')
    await page.locator('main .chip.ok', { hasText: 'saved' }).waitFor()
    t.match(readFileSync(`${plots}/plots/${filename}`, 'utf8'), /Contact 21/)
    t.same(watched.problems, [])
  })

  verifies('console:debrief:conflict', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    const filename = 'conflict.plot.json'
    await visit(watched, `${url}/debrief/plots/${filename}`)
    await page.getByRole('button', { name: 'Contact 17' }).click()
    const field = page.getByLabel('Name', { exact: true })
    await field.fill('Mine')
    const feature = await getFeature(filename, 'point-2')
    const theirs = { ...feature, properties: { ...feature.properties, name: 'Theirs' } }
    await callAsAgent('update_features', { filename, features: [theirs] })
    await page.getByRole('button', { name: 'Theirs' }).waitFor()
    await field.press('Enter')
    const alert = page.getByRole('alert')
    t.match(await alert.innerText(), /Another client changed this feature[\s\S]*"Mine"\s+"Theirs"/)
    t.equal((await getFeature(filename, 'point-2')).properties.name, 'Theirs', 'nothing is overwritten')
    await alert.getByRole('button', { name: 'Use mine' }).click()
    await page.getByRole('button', { name: 'Mine', exact: true }).waitFor()
    t.equal((await getFeature(filename, 'point-2')).properties.name, 'Mine')
    t.same(
      watched.problems.filter((text) => !text.includes('409')),
      [],
    )
  })

  verifies('console:pages:hostile', 'names of features are shown as text', async (t) => {
    const filename = 'hostile.plot.json'
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/debrief/plots/${filename}`)
    await page.locator('[data-land]').waitFor()
    for (const id of ['track-a', 'zone-1', 'point-1']) {
      const feature = await getFeature(filename, id)
      const named = { ...feature, properties: { ...feature.properties, name: hostile } }
      await callAsAgent('update_features', { filename, features: [named] })
    }
    await callAsAgent('notify', { filename, message: hostile.slice(0, 3000) })
    await callAsAgent('set_selection', { filename, selectedIds: ['track-a'] })
    await page.getByRole('region', { name: 'Notices' }).getByText('<img src=x').waitFor()
    await page.locator('.plot-name', { hasText: '<img src=x' }).first().waitFor({ state: 'attached' })
    t.equal(await page.locator('main img').count(), 0)
    t.equal(await page.title(), 'Plot · Causeway')
    t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, 'fits')
    t.same(await findViolations(page), [])
    t.same(watched.problems, [])
  })

  verifies('console:debrief:conflict', 'a conflict with another program is shown', async (t) => {
    const filename = 'conflict.plot.json'
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/debrief/plots/${filename}`)
    // The file changes before the agent's change is saved.
    await callAsAgent('delete_features', { filename, ids: ['zone-6'] })
    writeFileSync(`${plots}/plots/${filename}`, readFileSync(fixture, 'utf8').replace('Alborán', 'Other'))
    const alert = page.getByRole('alert').filter({ hasText: 'differs from its file' })
    await alert.waitFor()
    await alert.getByRole('button', { name: 'Reload the file' }).click()
    await page.getByRole('button', { name: 'Other' }).waitFor()
    await alert.waitFor({ state: 'detached' })
  })

  verifies('console:debrief:live', 'a call that changes nothing is not reported as a change', async (t) => {
    const [filename, other] = ['agent.plot.json', 'other.plot.json']
    const open = async (name: string) => {
      const watched = await openPage(t, browser)
      await visit(watched, `${url}/debrief/plots/${name}`)
      await hasFeatures(watched.page, 15)
      return watched
    }
    const [watched, second] = [await open(filename), await open(other)]
    const { page } = watched
    t.match(await callAsAgent('get_selection', { filename }), { selectedIds: [], count: 0 })
    t.match(await callAsAgent('delete_features', { filename, ids: [] }), { featuresAffected: 0 })
    t.match(await callAsAgent('delete_features', { ids: ['zone-6'] }), { code: 'MULTIPLE_PLOTS' })

    await callAsAgent('set_selection', { filename, selectedIds: ['zone-6', 'point-2'] })
    await page.locator('[aria-pressed=true]', { hasText: 'Contact 17' }).waitFor()
    t.match(await callAsAgent('delete_features', { filename, ids: ['zone-6', 'point-2'] }), {
      featuresAffected: 2,
    })
    await hasFeatures(page, 13)
    t.match(await page.getByRole('region', { name: 'Notices' }).innerText(), /test-agent removed 2 features/)
    await page.keyboard.press('z')
    await hasFeatures(page, 15)
    // The deletion is the only step that can be undone, because the call before it changed nothing.
    await page.locator('button:disabled', { hasText: 'Undo' }).waitFor()
    await hasFeatures(second.page, 15)
    t.equal(await second.page.getByRole('region', { name: 'Notices' }).getByText('removed').count(), 0)
    t.same([...watched.problems, ...second.problems], [])
  })

  verifies(
    'console:pages:recover',
    'the coast is drawn if the first requests reach a stopping server',
    async (t) => {
      const watched = await openPage(t, browser)
      const { page } = watched
      await page.route('**/coast?*', (route) => route.fulfill(stopping))
      await visit(watched, `${url}/debrief/plots/other.plot.json`)
      await hasFeatures(page, 15)
      t.equal(await page.locator('[data-land]').count(), 0)
      await page.unroute('**/coast?*')
      await page.locator('[data-land]').waitFor()
      t.same(listUnexpected(watched), [])
    },
  )

  verifies('console:debrief:live', 'a map that is moved twice quickly does not jump back', async (t) => {
    const filename = 'other.plot.json'
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/debrief/plots/${filename}`)
    await hasFeatures(page, 15)
    const held: (() => Promise<void>)[] = []
    // The server receives the moves after both were made.
    await page.route('**/set_viewport', (route) => void held.push(() => route.continue()))
    const zoomIn = async (count: number): Promise<void> => {
      const sent = page.waitForRequest('**/set_viewport')
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await sent
      while (held.length < count) await page.evaluate(nextFrame)
    }
    await zoomIn(1)
    await zoomIn(2)
    const readScale = () => page.locator('.leaflet-control-scale-line').innerText()
    const scale = await readScale()
    for (const [index, send] of held.entries()) {
      const stored = page.waitForResponse('**/set_viewport')
      await send()
      await stored
      // Events arrive in order, so the event of the move has arrived before this one.
      const id = ['track-a', 'track-b'][index] ?? ''
      await callAsAgent('set_selection', { filename, selectedIds: [id] })
      await page
        .locator('.outline-name[aria-pressed=true]', { hasText: ['ALFEREZ', 'BALEARES'][index] ?? '' })
        .waitFor()
      await page.evaluate(nextFrame)
      t.equal(await readScale(), scale)
    }
    t.same(watched.problems, [])
  })

  verifies('console:debrief:live', 'a change during the loading of a large plot is shown', async (t) => {
    const filename = 'large.plot.json'
    const plot = JSON.parse(readFileSync(fixture, 'utf8')) as { features: unknown[] }
    // Snapshots over 4 MB do not contain the features.
    for (let n = 0; n < 300; n++)
      plot.features.push({
        ...{ type: 'Feature', id: `note-${n}`, geometry: { type: 'Point', coordinates: [-5.4, 36.1] } },
        properties: { dataType: 'annotation', name: `note ${n}`, text: 'x'.repeat(15_000) },
      })
    writeFileSync(`${plots}/plots/${filename}`, JSON.stringify(plot))
    const watched = await openPage(t, browser)
    const { page } = watched
    await page.addInitScript(
      `Object.defineProperty(document, 'hidden', { get: () => window.isHidden === true })`,
    )
    await visit(watched, `${url}/debrief/plots/${filename}`)
    await hasFeatures(page, 315)
    // The features arrive after the event of a change that they do not contain.
    const { opened: released, open: release } = createGate()
    const { opened: loaded, open: load } = createGate()
    await page.route('**/large.plot.json/features', async (route) => {
      const response = await route.fetch()
      load()
      await released
      await route.fulfill({ response })
    })
    for (const isHidden of [true, false])
      await page.evaluate(`isHidden = ${isHidden}; document.dispatchEvent(new Event('visibilitychange'))`)
    await loaded
    await callAsAgent('delete_features', { filename, ids: ['zone-6'] })
    await new Promise((resolve) => setTimeout(resolve, 300))
    release()
    await callAsAgent('set_selection', { filename, selectedIds: ['track-a'] })
    await page.locator('.outline-name[aria-pressed=true]', { hasText: 'ALFEREZ' }).waitFor()
    await settled(page)
    await hasFeatures(page, 314)
    t.same(watched.problems, [])
  })

  verifies(
    'console:debrief:conflict',
    'if the version of the other client cannot be read, the page shows the error',
    async (t) => {
      const watched = await openPage(t, browser)
      const { page } = watched
      const filename = 'agent.plot.json'
      // Another client has changed the plot, and its features cannot be loaded.
      const failure = { code: 'STORE_FAILED', message: 'the plot cannot be read' }
      const mismatch = { code: 'REV_MISMATCH', message: 'the plot has changed', data: { current_rev: 99 } }
      await page.route('**/update_features', (route) => route.fulfill({ status: 409, json: mismatch }))
      await page.route('**/agent.plot.json/features', (route) =>
        route.fulfill({ status: 500, json: failure }),
      )
      await visit(watched, `${url}/debrief/plots/${filename}`)
      await page.getByLabel('Show Contact 17').click()
      await page.getByRole('alert').getByText('STORE_FAILED').waitFor()
      t.same(listUnexpected(watched), [])
    },
  )

  // Must be last, because it stops the server that the other tests use.
  verifies('console:debrief:live', 'a page continues after a restart of the server', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/debrief/plots/a.plot.json`)
    await hasFeatures(page, 15)
    // The first attempt to reconnect gets the response of a stopping server, as after a long call.
    const stopping = { code: 'SHUTTING_DOWN', message: 'the server is stopping', retryable: true }
    await page.route('**/a.plot.json/events', (route) => route.fulfill({ status: 503, json: stopping }), {
      times: 1,
    })
    await running.server.stop()
    const notice = page.getByRole('status').filter({ hasText: 'The server is not reachable' })
    await notice.waitFor()
    await hasFeatures(page, 15)
    await restartServer(t, running)
    await notice.waitFor({ state: 'detached' })
    await callAsAgent('delete_features', { filename: 'a.plot.json', ids: ['zone-6'] })
    await hasFeatures(page, 14)
  })
}

interface PlotFeature {
  readonly properties: Readonly<Record<string, unknown>>
}
