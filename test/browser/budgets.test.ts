/** Measures the cost of console pages in Chromium: processor time of the main thread, memory and requests. */
import type { Page } from 'playwright-core'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { isSkipped, nextFrame, openBrowser, openPage, settled, visit } from './browser.ts'
import { allowance, PageMeter } from './measure.ts'

t.setTimeout(600_000)

/** Opens a page of the console without loading the document again. */
const navigate = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )

/** Returns frames of bodies that move on circles, as JSON lines. */
function createFrames(bodies: number, first: number, count: number): string {
  const ids = Array.from({ length: bodies }, (_, index) => index + 1)
  const run = {
    run: {
      bodies: ids.map((id) => ({ id, mass: 1, shape: { kind: 'box' }, half_extents: [0.3, 0.3, 0.3] })),
      dt: 0.01,
    },
  }
  const frames = Array.from({ length: count }, (_, index) => first + index).map((frame_id) => ({
    frame_id,
    time: frame_id * 0.01,
    bodies: ids.map((id) => ({
      id,
      position: [id % 32, Math.floor(id / 32), 1 + Math.sin(frame_id / 20 + id) / 2],
      velocity: [0, 0, Math.cos(frame_id / 20 + id) * 2.5],
      orientation: [1, 0, 0, 0],
      angular_velocity: [0, 0, 0],
    })),
  }))
  return [run, ...frames].map((line) => JSON.stringify(line)).join('\n')
}

if (isSkipped) t.test('budgets in Chromium', { skip: isSkipped }, async () => {})
else {
  const browser = await openBrowser(t)
  const { url } = await startServer(t, { dir: t.testdir(), env: { CAUSEWAY_RATE_LIMITS: 'off' } })

  const post = async (path: string, body: string): Promise<void> => {
    const headers = { 'content-type': 'application/x-ndjson' }
    const response = await fetch(`${url}/api/apps/replay/recordings/${path}`, {
      method: 'POST',
      headers,
      body,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${text.slice(0, 300)}`)
  }

  /** Records frames of moving bodies and finishes the recording. */
  async function record(name: string, bodies: number, frames: number): Promise<void> {
    const batch = Math.max(1, Math.floor(20_000 / bodies))
    for (let first = 1; first <= frames; first += batch)
      await post(`${name}/frames`, createFrames(bodies, first, Math.min(batch, frames - first + 1)))
    await post(`${name}/finish`, '')
  }
  await record('twelve', 12, 250)
  await record('twenty', 20, 2560)
  await record('thousand', 1000, 60)

  /** Waits for the first contentful paint. Resolves to its time in ms. */
  const firstPaint = `new Promise((resolve) => new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime)
  }).observe({ type: 'paint', buffered: true }))`

  verifies('console:budgets:load', async (t) => {
    for (const [path, budget, shows] of [
      ['/', 400, '.card'],
      ['/replay/twelve', 1000, '.stage canvas[data-drawings]'],
    ] as const) {
      const watched = await openPage(t, browser)
      const { page } = watched
      const meter = await PageMeter.open(page)
      const { task } = await meter.measure(async () => {
        await page.goto(`${url}${path}`)
        await page.waitForSelector(shows)
      })
      const paint = await page.evaluate<number>(firstPaint)
      t.comment(`${path}: ${task.toFixed()} ms of the main thread, first paint after ${paint.toFixed()} ms`)
      t.ok(task <= allowance * budget, `${path}: ${task} ms`)
      await settled(page)
      t.same(watched.problems, [])
      await page.close()
    }
  })

  verifies('console:budgets:playback', async (t) => {
    for (const [recording, speed, budget] of [
      ['twelve', '0.5', 3],
      ['thousand', '0.25', 4],
    ] as const) {
      const watched = await openPage(t, browser, { width: 640, height: 480 })
      const { page } = watched
      await visit(watched, `${url}/replay/${recording}`)
      const meter = await PageMeter.open(page)
      await page.getByRole('combobox', { name: 'Speed' }).selectOption(speed)
      await page.getByRole('button', { name: 'Play' }).click()
      let frames = 0
      const { script } = await meter.measure(async () => {
        frames = await page.evaluate<number>(countFrames)
      })
      t.comment(`${recording}: ${(script / frames).toFixed(2)} ms of script for each of ${frames} frames`)
      t.ok(script / frames <= allowance * budget, `${recording}: ${script / frames} ms`)
      t.same(watched.problems, [])
      await page.close()
    }
  })

  verifies('console:budgets:seek', async (t) => {
    const costs: number[] = []
    for (let round = 0; round < 2; round++) {
      const watched = await openPage(t, browser)
      const { page } = watched
      await visit(watched, `${url}/replay/twenty#frame=1`)
      const meter = await PageMeter.open(page)
      for (let chunk = 1; chunk < 10; chunk++) {
        const frame = 8 + chunk * 256
        const { task } = await meter.measure(() => page.evaluate(`(${seek})(${frame})`))
        costs.push(task)
        // The values of a frame are loaded when the scrubber stops.
        await page.locator('.facts dd', { hasText: `${frame} at` }).waitFor()
        await page.evaluate(nextFrame)
      }
      t.same(watched.problems, [])
      await page.close()
    }
    const ordered = costs.toSorted((a, b) => a - b)
    t.comment(`${ordered.map((ms) => ms.toFixed(1))} ms`)
    // Uses the median, because garbage collections and other programs make some frames slower.
    t.ok((ordered[ordered.length / 2] ?? Number.NaN) <= allowance * 30, `${costs} ms`)
  })

  verifies('console:budgets:memory', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    const meter = await PageMeter.open(page)
    const recordings = ['drop', 'stack', 'slide_at_45', 'twelve']
    const open = async (name: string): Promise<void> => {
      await navigate(page, `/replay/${name}`)
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await page.waitForSelector('.stage canvas[data-drawings]')
      await settled(page)
    }
    await visit(watched, `${url}/replay/drop`)
    for (const name of recordings) await open(name)
    const before = await meter.readHeap()
    for (let round = 0; round < 5; round++) for (const name of recordings) await open(name)
    const grown = (await meter.readHeap()) - before
    t.comment(`${(before / 1e6).toFixed(1)} MB, ${(grown / 1e6).toFixed(2)} MB more after 20 recordings`)
    t.ok(grown < 5e6, `${grown} bytes`)
    t.same(watched.problems, [])
  })

  verifies('console:budgets:tools', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await page.route('**/api/apps', async (route) => {
      const { apps } = (await (await route.fetch()).json()) as { apps: [{ tools: object[] }] }
      apps[0].tools = Array.from({ length: 500 }, (_, index) => ({
        name: `measure_${index}`,
        about: `Measure the quantity ${index} of a recording. Use it when the number ${index % 7} matters.`,
      }))
      await route.fulfill({ json: { apps } })
    })
    await visit(watched, `${url}/apps`)
    const meter = await PageMeter.open(page)
    await page.keyboard.press('/')
    const filter = page.getByLabel('Filter the tools')
    const typeFilter = async (): Promise<readonly number[]> => {
      await filter.fill('')
      const costs: number[] = []
      for (const key of 'measure 4') {
        const { task } = await meter.measure(async () => {
          await page.keyboard.press(key === ' ' ? 'Space' : key)
          await page.evaluate(nextFrame)
        })
        costs.push(task)
      }
      t.comment(`${costs.map((ms) => ms.toFixed(1))} ms`)
      return costs
    }
    // Uses the faster of two rounds, because garbage collection or the end of loading can slow down one of them.
    const [first, second] = [await typeFilter(), await typeFilter()]
    const costs = first.map((ms, index) => Math.min(ms, second[index] ?? ms))
    t.ok(Math.max(...costs) <= allowance * 50, `${costs} ms`)
    t.ok((await page.getByRole('link', { name: /^measure_/ }).count()) > 100)
  })
}

/** Resolves to the number of frames that are shown in 1.5 s. */
const countFrames = `new Promise((resolve) => {
  const readout = document.querySelector('[data-frame]')
  const end = performance.now() + 1500
  let frames = 0
  let shown = readout.textContent
  const tick = () => {
    if (readout.textContent !== shown) frames++
    shown = readout.textContent
    if (performance.now() < end) requestAnimationFrame(tick)
    else resolve(frames)
  }
  tick()
})`

/** Moves the scrubber. Resolves when the scene is drawn. */
const seek = `(frame) => new Promise((resolve) => {
  const canvas = document.querySelector('.stage canvas')
  const scrubber = document.querySelector('.scrubber')
  const { drawings } = canvas.dataset
  scrubber.value = frame
  scrubber.dispatchEvent(new Event('input', { bubbles: true }))
  const check = () => {
    if (canvas.dataset.drawings === drawings) requestAnimationFrame(check)
    else resolve()
  }
  check()
})`
