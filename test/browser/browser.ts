/** Starts Chromium and inspects pages of the console. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'

const candidates = [
  process.env.CAUSEWAY_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Path of Chromium's program; `undefined` if it is not installed. */
export const chromiumPath = candidates.find((path) => path !== undefined && existsSync(path))

/** Reason for skipping the tests that need Chromium, or `false`. */
export const isSkipped =
  chromiumPath === undefined && 'Chromium is not installed; set CAUSEWAY_CHROMIUM to its program'

/** Software rendering, so that WebGL works without a graphics card. */
const flags = [
  '--no-sandbox',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
]

/** Starts Chromium. It is closed at the end of the test. */
export async function openBrowser(t: Test, moreFlags: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath as string,
    args: [...flags, ...moreFlags],
    timeout: 60_000,
  })
  t.teardown(() => browser.close())
  return browser
}

export type Theme = 'light' | 'dark'

/** A page, and the problems that it reported since it was opened. */
export interface WatchedPage {
  readonly page: Page
  /** Console errors, exceptions, failed requests and CSP violations. */
  readonly problems: string[]
}

/** Options of a page. */
export interface PageOptions {
  readonly theme?: Theme
  readonly width?: number
  readonly height?: number
}

/** Opens an empty page that records its problems. */
export async function openPage(t: Test, browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const { theme = 'light', width = 1280, height = 800 } = options
  const context = await browser.newContext({
    colorScheme: theme,
    reducedMotion: 'reduce',
    viewport: { width, height },
    timezoneId: 'UTC',
  })
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error')
      problems.push(`console: ${message.text()} ${message.location().url}`.trim())
  })
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`))
  await page.exposeFunction('reportViolation', (text: string) => problems.push(`CSP: ${text}`))
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) =>
      reportViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  return { page, problems }
}

/** Opens a page of the console and waits until it shows its data. */
export async function visit({ page }: WatchedPage, url: string): Promise<void> {
  await page.goto(url)
  await settled(page)
}

/** Waits until nothing is loading. Effects run after a frame and may load more. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('main h1')
  do {
    await page.waitForSelector('[data-loading]', { state: 'detached' })
    await page.evaluate(nextFrame)
  } while ((await page.locator('[data-loading]').count()) > 0)
}

/** Resolves when the browser has shown two more frames. */
export const nextFrame = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`

/** Presses keys without a pause, because a sequence of keys is a shortcut only within a second. */
export const pressSequence = (page: Page, ...keys: readonly string[]): Promise<unknown> =>
  Promise.all(keys.map((key) => page.keyboard.press(key)))

/** The response of a server that is stopping, for faults that a test injects. */
export const stopping = {
  status: 503,
  json: { code: 'SHUTTING_DOWN', message: 'the server is stopping', retryable: true },
} as const

/** Returns a promise and the function that resolves it, for faults that last until then. */
export function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Returns the problems of a page, except failed requests, which a test caused. */
export const listUnexpected = ({ problems }: WatchedPage): string[] =>
  problems.filter((problem) => !problem.includes('Failed to load resource'))

/** Rules for levels A and AA of WCAG 2.2. */
const wcagRules: readonly string[] = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const colourRules: readonly string[] = ['color-contrast', 'link-in-text-block']

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns a page's violations of WCAG A and AA, one per line. */
export async function findViolations(page: Page, rules: readonly string[] = wcagRules): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe)
  const options = JSON.stringify({ runOnly: rules, preload: false, resultTypes: ['violations'] })
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${options})`)
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/**
 * Checks a page in both themes: its accessibility and its problems. Stores a screenshot of each. In the dark theme,
 * checks only the rules that depend on colours.
 */
export async function checkThemes(t: Test, { page, problems }: WatchedPage, name: string): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await settled(page)
    const rules = theme === 'light' ? wcagRules : colourRules
    t.same(await findViolations(page, rules), [], `${name} ${theme}: axe`)
    await keepScreenshot(page, `${name}-${theme}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  t.same(problems, [], `${name}: problems`)
}

/** Stores a screenshot in the folder `CAUSEWAY_PICTURES`, if it is set. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.CAUSEWAY_PICTURES
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}
