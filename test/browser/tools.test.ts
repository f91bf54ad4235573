/** Tests the pages of apps and tools in Chromium: forms, calls and answers. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  findViolations,
  isSkipped,
  keepScreenshot,
  openBrowser,
  openPage,
  settled,
  visit,
} from './browser.ts'

t.setTimeout(400_000)

interface Described {
  readonly tools: readonly {
    readonly name: string
    readonly example: object
    readonly destructive: boolean
  }[]
}

/** Opens a page of the console without loading the document again. */
const navigate = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )

/** Returns the arguments that the page would send. */
async function readArguments(page: Page): Promise<unknown> {
  await page.getByRole('button', { name: 'JSON', exact: true }).click()
  const text = await page.getByLabel('Arguments as JSON').inputValue()
  await page.getByRole('button', { name: 'Form', exact: true }).click()
  return JSON.parse(text)
}

/** Clicks Call, and again to confirm if necessary. Returns the text of the answer's state. */
async function callTool(page: Page, isDestructive = false): Promise<string> {
  const button = page.getByRole('button', { name: 'Call', exact: true })
  await button.click()
  if (isDestructive) await button.click()
  return page.locator('[aria-labelledby=answer-title] .chip').first().innerText()
}

if (isSkipped) t.test('the tools in Chromium', { skip: isSkipped }, async () => {})
else {
  const browser = await openBrowser(t)
  const plots = fileURLToPath(new URL('../../fixtures/plots', import.meta.url))
  const dir = t.testdir()
  const { url } = await startServer(t, { dir, env: { CAUSEWAY_PLOT_ROOTS: plots } })
  const { apps } = (await (await fetch(`${url}/api/apps`)).json()) as {
    apps: { name: string; href: string }[]
  }
  const errors: readonly string[] =
    (await (await fetch(`${url}/openapi.json`)).text()).match(/"[A-Z][A-Z_]+"/g) ?? []

  verifies('console:tools:forms', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/apps`)
    let count = 0
    for (const { name: app, href } of apps) {
      const { tools } = (await (await fetch(`${url}${href}`)).json()) as Described
      for (const { name, example, destructive } of tools) {
        await navigate(page, `${href.replace('/api', '')}/${name}`)
        await page.getByRole('heading', { name: `${app}__${name}`, exact: true }).waitFor()
        t.same(await readArguments(page), example, `${app}__${name}: the form returns the example`)
        count++
        // Earlier calls may change a plot or project, so calls may fail, but never without a code.
        const state = (await callTool(page, destructive)).replace(/^\S+\s+/, '')
        t.ok(
          state === 'ok' || (errors.includes(`"${state}"`) && state !== 'INTERNAL'),
          `${app}__${name}: ${state}`,
        )
      }
    }
    t.ok(count > 100, `${count} tools`)
    t.same(watched.problems, [])
  })

  verifies('console:tools:unsent', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/apps/replay/get_system_energy`)
    t.same(await readArguments(page), { recording: 'energy_injection' })
    await page.getByLabel('max_points').fill('7')
    await page.getByLabel('start_frame').fill('3')
    t.same(await readArguments(page), { recording: 'energy_injection', max_points: 7, start_frame: 3 })
    await page.getByRole('button', { name: 'don’t send start_frame' }).click()
    t.same(await readArguments(page), { recording: 'energy_injection', max_points: 7 })
    await page.getByRole('button', { name: 'Example' }).click()
    t.same(await readArguments(page), { recording: 'energy_injection' })
  })

  verifies('console:tools:answer', async (t) => {
    const watched = await openPage(t, browser, { theme: 'dark' })
    const { page } = watched
    const answer = page.locator('[aria-labelledby=answer-title]')
    await visit(watched, `${url}/apps/replay/get_frame`)
    await page.keyboard.press('Control+Enter')
    await answer.getByText('frame_id').first().waitFor()
    t.equal(
      await answer.getByRole('link', { name: 'Show what it is about' }).getAttribute('href'),
      `${url}/replay/drop#frame=42`,
    )
    await keepScreenshot(page, 'answer-dark')
    await answer.getByRole('button', { name: 'Text' }).click()
    t.match(JSON.parse(await answer.locator('pre').innerText()), { recording: 'drop', frame_id: 42 })
    await page.getByLabel('frame_id').fill('9999')
    await callTool(page)
    await answer.getByText('FRAME_NOT_FOUND').first().waitFor()
    t.match(await answer.innerText(), /use a frame id between 1 and 150/)
    t.same(await findViolations(page), [])
    await visit(watched, `${url}/apps/replay/render_frame`)
    await callTool(page)
    const picture = answer.getByRole('img')
    await picture.waitFor()
    const width = `document.querySelector('.picture').decode().then(() => document.querySelector('.picture').naturalWidth)`
    t.ok((await page.evaluate<number>(width)) > 100)
    await keepScreenshot(page, 'picture-dark')
    t.same(watched.problems, [])
  })

  verifies('console:tools:copy', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await visit(watched, `${url}/apps/replay/search_frames`)
    await page.getByLabel('predicate').fill(`speed(1) > 0.5 and "it's" $HOME`)
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.getByText('Copied').waitFor()
    const curl = await page.evaluate<string>('navigator.clipboard.readText()')
    const printed = execFileSync('sh', ['-c', curl.replace(/^curl/, `printf '%s\\n'`)], { encoding: 'utf8' })
    const sent = printed.trim().split('\n')
    t.match(sent, ['-s', `${url}/api/apps/replay/tools/search_frames`])
    t.match(JSON.parse(sent.at(-1) ?? ''), { predicate: `speed(1) > 0.5 and "it's" $HOME` })
  })

  verifies('console:tools:copy', 'a page without a clipboard object can copy', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    await visit(watched, `${url}/apps/replay/get_frame`)
    await page.getByRole('button', { name: 'Copy as command' }).click()
    await page.getByText('Copied').waitFor()
    const filter = page.getByLabel('Filter the tools')
    await filter.press('Control+v')
    t.match(await filter.inputValue(), /^causeway call Replay__get_frame .*frame_id=42/)
    t.same(watched.problems, [])
  })

  verifies('console:tools:copy', 'a copy that the browser rejects is reported as not copied', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await page.addInitScript(`Clipboard.prototype.writeText = () => Promise.reject(new Error('not allowed'))`)
    await visit(watched, `${url}/apps/replay/search_frames`)
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.getByRole('button', { name: 'Not copied' }).waitFor()
    await page.getByRole('button', { name: 'Copy as curl' }).waitFor()
    await visit(watched, `${url}/replay/drop`)
    await page.keyboard.press('y')
    await settled(page)
    t.same(watched.problems, [])
  })

  verifies('console:tools:answer', 'unknown arguments in JSON are answered with similar names', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/apps/replay/get_frame`)
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await page.getByLabel('Arguments as JSON').fill('{"recording":"drop","frame_id":1,"max_point":2}')
    t.equal(await callTool(page).then((state) => state.replace(/^\S+\s+/, '')), 'INVALID_ARGUMENTS')
    await page
      .getByRole('alert')
      .getByText(/max_point.*did you mean max_points\?/)
      .waitFor()
    t.same(watched.problems, [])
  })

  verifies('console:tools:answer', 'for an app that is not served, the page names its setting', async (t) => {
    const own = t.testdir()
    const { url } = await startServer(t, { dir: own, env: { CAUSEWAY_APPS: 'replay' } })
    const { page } = await openPage(t, browser)
    await visit({ page, problems: [] }, `${url}/apps`)
    t.equal(await page.getByRole('link', { name: 'Minds' }).count(), 1, 'only in the navigation')
    for (const path of ['/apps/minds/decide_action', '/minds']) {
      await visit({ page, problems: [] }, `${url}${path}`)
      await page.getByRole('alert').getByText('CAUSEWAY_APPS').first().waitFor()
      t.equal(await page.getByRole('button', { name: 'Call', exact: true }).count(), 0, path)
    }
  })

  t.test('the list can be filtered by name and description, and operated with the keyboard', async (t) => {
    const watched = await openPage(t, browser, { width: 800 })
    const { page } = watched
    await visit(watched, `${url}/apps`)
    await page.keyboard.press('/')
    await page.keyboard.type('friction slides')
    await page.getByRole('link', { name: 'check_friction_cone' }).click()
    await settled(page)
    t.equal(new URL(page.url()).pathname, '/apps/replay/check_friction_cone')
    await page.getByRole('heading', { name: 'Replay__check_friction_cone' }).waitFor()
  })
}
