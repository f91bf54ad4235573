/** Measures the cost of console pages in Chromium while agents work. */
import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { isSkipped, openBrowser, openPage, visit } from './browser.ts'
import { PageMeter, readProcessorTime } from './measure.ts'

t.setTimeout(600_000)

/** Returns what a character observes in a game minute. */
const createObservation = (entity_id: string, minute: number) => ({
  entity_id,
  current_simulation_time: 1000 + minute,
  status: { position: [12, 7], current_interaction: {} },
  needs: { needs: { hunger: 20 + minute, energy: 71 }, max_value: 100 },
  vision: {
    visible_entities: [
      {
        entity_id: 'stove_2',
        display_name: 'Stove',
        position: [13, 7],
        interactions: { eat: { name: 'eat', needs_filled: ['hunger'], needs_drained: [] } },
      },
    ],
  },
})

/** Returns a plot of tracks with 100,000 positions, one per second. */
function createPlot(): string {
  const count = 10_000
  const start = Date.UTC(2025, 0, 1)
  const features = Array.from({ length: 10 }, (_, track) => ({
    type: 'Feature',
    id: `track-${track}`,
    geometry: {
      type: 'LineString',
      coordinates: Array.from({ length: count }, (_, at) => [
        -5 + at / count,
        35.8 + track / 50 + Math.sin(at / 500) / 100,
      ]),
    },
    properties: {
      dataType: 'track',
      name: `Track ${track}`,
      visible: true,
      timestamps: Array.from({ length: count }, (_, at) => new Date(start + at * 1000).toISOString()),
    },
  }))
  return JSON.stringify({ type: 'FeatureCollection', features })
}

if (isSkipped) t.test('budgets of live pages in Chromium', { skip: isSkipped }, async () => {})
else {
  const dir = t.testdir({ data: {}, projects: {}, plots: { 'large.plot.json': createPlot() } })
  cpSync(fileURLToPath(new URL('../../fixtures/projects/sums', import.meta.url)), `${dir}/projects/sums`, {
    recursive: true,
  })
  const browser = await openBrowser(t)
  const { url, server } = await startServer(t, {
    dir: `${dir}/data`,
    env: {
      CAUSEWAY_RATE_LIMITS: 'off',
      CAUSEWAY_TRM_ROOTS: `${dir}/projects`,
      CAUSEWAY_PLOT_ROOTS: `${dir}/plots`,
    },
  })
  const pid = server.process.pid as number

  const call = async (
    app: string,
    tool: string,
    args: object,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(`${url}/api/apps/${app}/tools/${tool}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    })
    const body = await response.text()
    if (!response.ok) throw new Error(`${tool}: ${body.slice(0, 300)}`)
    return JSON.parse(body)
  }
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

  verifies('console:budgets:minds', async (t) => {
    const ids = Array.from({ length: 12 }, (_, index) => `npc_${index}`)
    for (const mind_id of ids)
      await call('minds', 'create_mind', { mind_id, config: { entity_id: mind_id, traits: ['curious'] } })
    const seconds = 6
    let minute = 0
    /** Lets every mind decide once a second. Resolves to the server's processor time in ms. */
    const decide = async (): Promise<number> => {
      const before = readProcessorTime(pid)
      const start = performance.now()
      for (let second = 1; second <= seconds; second++) {
        minute++
        for (const mind_id of ids)
          await call('minds', 'decide_action', { mind_id, observation: createObservation(mind_id, minute) })
        await wait(Math.max(0, start + second * 1000 - performance.now()))
      }
      return readProcessorTime(pid) - before
    }
    await decide()
    const without = await decide()
    const list = await openPage(t, browser)
    const mind = await openPage(t, browser)
    await visit(list, `${url}/minds`)
    await visit(mind, `${url}/minds/npc_0`)
    const [meter, other] = [await PageMeter.open(list.page), await PageMeter.open(mind.page)]
    let using = 0
    let ofMind = 0
    const start = performance.now()
    const { task: ofList } = await meter.measure(async () => {
      const { task } = await other.measure(async () => {
        using = await decide()
      })
      ofMind = task
    })
    const tenth = (performance.now() - start) / 10
    t.comment(`in ${seconds} s: list ${ofList.toFixed()} ms, mind ${ofMind.toFixed()} ms`)
    t.comment(`server: ${without} ms without a page, ${using} ms with both`)
    t.ok(ofList < tenth, `list: ${ofList} ms of ${tenth}`)
    t.ok(ofMind < tenth, `mind: ${ofMind} ms of ${tenth}`)
    t.ok(using - without < tenth, `server: ${using - without} ms for the pages`)
    await mind.page.locator('.figures', { hasText: `Decisions${3 * seconds}` }).waitFor()
    t.same([...list.problems, ...mind.problems], [])
  })

  verifies('console:budgets:idle', async (t) => {
    const seconds = 5
    const watched = await openPage(t, browser)
    await visit(watched, url)
    const meter = await PageMeter.open(watched.page)
    const before = readProcessorTime(pid)
    const { task } = await meter.measure(() => wait(seconds * 1000))
    const used = readProcessorTime(pid) - before
    t.comment(`in ${seconds} s: page ${task.toFixed()} ms, server ${used} ms`)
    t.ok(task < seconds * 50, `${task} ms of the main thread`)
    t.ok(used < seconds * 50, `${used} ms of the server`)
  })

  verifies('console:budgets:diff', async (t) => {
    const { sessionId } = await call('trm', 'start', {
      repo: `${dir}/projects/sums`,
      test: 'python3 -m unittest',
      halt: { max: 8 },
    })
    const lines = Array.from({ length: 5000 }, (_, index) => `# line ${index}`).join('\n')
    await call('trm', 'submit', {
      sid: sessionId,
      candidate: { mode: 'files', files: [{ path: 'notes.py', content: `${lines}\n` }] },
      wait: 60,
    })
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/trm/${sessionId as string}`)
    await page.locator('.diff').waitFor()
    const meter = await PageMeter.open(page)
    let steps = 0
    const { task } = await meter.measure(async () => {
      steps = await page.evaluate<number>(scrollDiff)
    })
    t.comment(`${(task / steps).toFixed(1)} ms for each of ${steps} steps`)
    t.ok(task / steps < 100, `${task / steps} ms`)
    t.equal(await page.locator('.diff .added').count(), 5000, 'every line is shown')
    const last = page.locator('.diff .added').last()
    t.match(await last.innerText(), /# line 4999/)
    t.ok(await last.isVisible())
    t.same(watched.problems, [])
  })

  verifies('console:budgets:map', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/debrief/plots/large.plot.json`)
    await page.locator('[data-land]').waitFor()
    const slider = page.getByRole('slider', { name: 'Time' })
    await slider.waitFor()
    const meter = await PageMeter.open(page)
    let longest = 0
    const { task } = await meter.measure(async () => {
      longest = await page.evaluate<number>(dragSlider)
    })
    t.comment(`${(task / 60).toFixed(1)} ms for each of 60 moves, the longest task ${longest.toFixed()} ms`)
    t.ok(task / 60 < 100, `${task / 60} ms`)
    t.same(watched.problems, [])
  })
}

/** Scrolls the diff from start to end, one page per frame. Resolves to the number of steps. */
const scrollDiff = `new Promise((resolve) => {
  const diff = document.querySelector('.diff')
  let steps = 0
  const step = () => {
    steps++
    const { scrollTop } = diff
    diff.scrollTop += diff.clientHeight
    if (diff.scrollTop === scrollTop) resolve(steps)
    else requestAnimationFrame(step)
  }
  step()
})`

/** Moves the time 60 times, once per frame. Resolves to the duration of the longest task over 50 ms. */
const dragSlider = `new Promise((resolve) => {
  const slider = document.querySelector('input[type=range]')
  const first = Number(slider.min)
  const step = (Number(slider.max) - first) / 60
  let moves = 0
  let longest = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
  }).observe({ type: 'longtask' })
  const move = () => {
    moves++
    slider.value = first + step * moves
    slider.dispatchEvent(new Event('input', { bubbles: true }))
    if (moves < 60) requestAnimationFrame(move)
    else setTimeout(() => resolve(longest), 100)
  }
  move()
})`
