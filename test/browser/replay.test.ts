/** Tests the viewer of recordings in Chromium. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  findViolations,
  isSkipped,
  keepScreenshot,
  nextFrame,
  openBrowser,
  openPage,
  settled,
  stopping,
  visit,
} from './browser.ts'
import { countColors, countPixels, createRun, measure, showsFrame } from './viewer.ts'

t.setTimeout(600_000)

const fixtures = fileURLToPath(new URL('../../fixtures/recordings', import.meta.url))

if (isSkipped) t.test('the viewer in Chromium', { skip: isSkipped }, async () => {})
else {
  const browser = await openBrowser(t)
  const dir = t.testdir({ data: {}, recordings: {} })
  const { url } = await startServer(t, {
    dir: `${dir}/data`,
    env: { CAUSEWAY_RECORDING_ROOTS: [`${dir}/recordings`, fixtures].join(delimiter) },
  })

  verifies('console:replay:link', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/slide_at_45#frame=45&body=1`)
    t.match(await showsFrame(page, 45), /Frame 45 of 120 · 0\.18 s/)
    t.equal(
      await page.getByRole('button', { name: 'body 1', exact: true }).getAttribute('aria-pressed'),
      'true',
    )
    const values = page.getByRole('complementary')
    t.match(await values.innerText(), /14\.8 J, \+5 J/, 'energy of the frame')
    t.match(await values.innerText(), /98\.1 N normal, 2500 N friction/, 'forces of the contact')
    t.match(await values.innerText(), /Velocity x, y, z\s+1, 0, -1\.083e-6 m\/s/)
    t.match(await values.innerText(), /floor\s+4 points[\s\S]*◆ 50\.97 times mu\*Fn/, 'and why it slides')
    await page.waitForSelector('.stage[data-contacts="1"]')
    t.ok((await countColors(page)) > 20, 'bodies are drawn')
    t.ok((await countPixels(page, '.stage canvas', 'fg')) > 20, 'the body is outlined')
    await page.goto('about:blank')
    await visit(watched, `${url}/replay/slide_at_45#frame=45`)
    await page.waitForSelector('.stage[data-contacts="1"]')
    t.equal(await countPixels(page, '.stage canvas', 'fg'), 0, 'no outline without a selected body')
    const missing = page.getByText('Frame 9999 does not exist: the recording has the frames 1 to 120.')
    t.equal(await missing.count(), 0)
    await page.keyboard.press('o')
    await page.keyboard.press('v')
    await page.waitForURL(/layers=contacts.*velocities/)
    await page.emulateMedia({ forcedColors: 'active' })
    await page.reload()
    await page.waitForSelector('.stage[data-contacts="1"]')
    await page.evaluate(nextFrame)
    t.ok((await countColors(page)) > 20, 'the scene has its colours also with forced colours')
    await page.getByRole('button', { name: 'Velocities', pressed: true }).waitFor()
    await page.getByRole('button', { name: 'Forces', pressed: false }).waitFor()
    await page.emulateMedia({ forcedColors: 'none' })
    await page.goto('about:blank')
    await visit(watched, `${url}/replay/slide_at_45#frame=9999`)
    await showsFrame(page, 120)
    await missing.waitFor()
    t.same(watched.problems, [])
  })

  verifies('console:replay:time', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/slide_at_45#frame=45`)
    await showsFrame(page, 45)
    for (const [key, frame] of [
      ['ArrowRight', 46],
      ['Shift+ArrowRight', 56],
      ['End', 120],
      ['ArrowLeft', 119],
      ['Home', 1],
    ] as const) {
      await page.keyboard.press(key)
      await showsFrame(page, frame)
      const { lane, cursors } = await measure(page)
      t.equal(cursors.length, 2)
      const expected = lane[0] + (lane[1] * (frame - 1)) / 119
      for (const cursor of cursors)
        t.ok(Math.abs(cursor - expected) < 2.5, `${key}: ${cursor} and ${expected}`)
    }
    const scrubber = page.getByRole('slider')
    for (const frame of [7, 93, 12, 60]) await scrubber.fill(String(frame))
    await page.waitForURL(/#frame=60/)
    await showsFrame(page, 60)
    await page.getByText('Frame\n60 at').or(page.getByText('60 at 0.24 s')).first().waitFor()
    t.equal(await scrubber.getAttribute('aria-valuetext'), 'frame 60 · 0.24 s')
    // At full speed, the rest would take only 0.24 s, after which playback pauses by itself.
    await page.getByRole('combobox', { name: 'Speed' }).selectOption('0.1')
    await page.getByRole('button', { name: 'Play' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    t.same(watched.problems, [])
  })

  verifies('console:replay:time', 'playback can show every frame', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/slide_at_45#frame=100`)
    const speed = page.getByRole('combobox', { name: 'Speed' })
    t.match(await speed.innerText(), /1× \(skips 3 of 4\)/, 'a frame is 4 ms')
    await speed.selectOption('every frame')
    await page.evaluate(`window.shown = []
      new MutationObserver(() => shown.push(parseInt(document.querySelector('[data-frame]').textContent.slice(6))))
        .observe(document.querySelector('[data-frame]'), { childList: true, characterData: true, subtree: true })`)
    await page.getByRole('button', { name: 'Play' }).click()
    await showsFrame(page, 120)
    t.same(
      await page.evaluate('shown'),
      Array.from({ length: 20 }, (_, index) => 101 + index),
    )
    t.same(watched.problems, [])
  })

  verifies('console:replay:time', 'after 200 seeks to random frames, the last one is shown', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/slide_at_45#frame=45`)
    const asked = await page.evaluate<number>(`new Promise((resolve) => {
      const scrubber = document.querySelector('.scrubber')
      let rest = 200
      const move = () => {
        scrubber.value = 1 + Math.floor(Math.random() * 120)
        scrubber.dispatchEvent(new Event('input', { bubbles: true }))
        if (--rest > 0) setTimeout(move, rest % 20 === 0 ? 100 : 0)
        else resolve(Number(scrubber.value))
      }
      move()
    })`)
    await showsFrame(page, asked)
    await page.waitForURL(new RegExp(`#frame=${asked}(&|$)`))
    const frame = page.locator('.facts dd', { hasText: `${asked} at` })
    await frame.waitFor()
    await page.evaluate(nextFrame)
    t.equal(await frame.count(), 1, 'no late answer replaces it')
    t.same(watched.problems, [])
  })

  verifies('console:replay:time', 'the scene is drawn only when it changes', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/stack#frame=30`)
    await page.waitForSelector('.stage[data-contacts="3"]')
    const countDrawings = () => page.locator('.stage canvas').getAttribute('data-drawings')
    await page.evaluate(nextFrame)
    const before = await countDrawings()
    for (let round = 0; round < 10; round++) await page.evaluate(nextFrame)
    t.equal(await countDrawings(), before)
  })

  verifies('console:replay:findings', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/energy_injection`)
    await page
      .getByRole('button', { name: /Body 2 gains energy without a cause \(11\.61 J, limit 0\.0045/ })
      .last()
      .click()
    await showsFrame(page, 60)
    t.match(new URL(page.url()).hash, /finding=f1/)
    await page.keyboard.press('Home')
    await page.locator('[data-mark=f1]').click()
    await showsFrame(page, 60)
    await page.keyboard.press('Home')
    await showsFrame(page, 1)
    await page.keyboard.press('n')
    await showsFrame(page, 60)
    await page.getByText(/laws checked/).click()
    const coverage = await page.locator('.coverage').innerText()
    t.match(coverage, /○ tunnelling\s+frames 1–100: no shapes/)
    t.match(coverage, /half_extents/)
    t.match(coverage, /\d+ laws checked, \d+ did not apply, \d+ not or partly/)
    t.match(coverage, /Did not apply: contact momentum, friction momentum/)
    t.same(watched.problems, [])
    await visit(watched, `${url}/replay/slide_at_45`)
    await page.locator('.finding').nth(1).waitFor()
    t.match(
      await page.locator('.finding').nth(1).innerText(),
      /Body 1 gains energy without a cause \([\s\S]*45–88/,
    )
    t.equal(await page.locator('.finding').count(), 2, '44 frames with the same finding are one run')
    await visit(watched, `${url}/replay`)
    const row = page.getByRole('row', { name: /energy_injection/ })
    await row.getByText('Body 2 gains energy without a cause', { exact: true }).waitFor()
  })

  verifies('console:replay:lost', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/nan`)
    await page.keyboard.press('End')
    await showsFrame(page, 80)
    await page.getByText(/cannot be drawn in this frame/).waitFor()
    await settled(page)
    t.same(watched.problems, [])
  })

  verifies('console:replay:lost', 'a scene with exploding bodies remains usable', async (t) => {
    const lines = createRun('ball', 1, 60).split('\n')
    const exploding = lines.map((line, index) => {
      const frame = JSON.parse(line)
      if (index > 20)
        Object.assign(frame.bodies[0], {
          position: [10 ** (7 * (index - 20)), 0, 0],
          velocity: [10 ** Math.min(150, 7 * (index - 20)), 0, 0],
        })
      return JSON.stringify(frame)
    })
    const sent = await fetch(`${url}/api/apps/replay/recordings/exploding/frames`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: exploding.join('\n'),
    })
    t.equal(sent.status, 200, await sent.text())
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/exploding#frame=5`)
    await showsFrame(page, 5)
    await page.locator('.plot canvas').first().waitFor()
    await page.locator('.stage canvas[data-drawings]:not([data-drawings="0"])').waitFor()
    await page.evaluate(nextFrame)
    t.ok((await countColors(page)) > 20, 'the camera is at the body, which is drawn')
    const plot = page.getByRole('img', { name: /^Energy, change since the first frame/ })
    t.match(await plot.getAttribute('aria-label'), /e\+?\d{2,}/, 'the energy is very large')
    t.ok((await countPixels(page, '.plot canvas', null, 50)) > 50, 'the axis of the energy has labels')
    const energy = page.locator('.plot').first()
    await energy.getByRole('button', { name: 'Log scale', pressed: true }).click()
    await energy.getByRole('button', { name: 'Log scale', pressed: false }).waitFor()
    await energy.getByText('Table', { exact: true }).click()
    const values = await energy.getByRole('table').innerText()
    t.match(values, /total energy\s+J[\s\S]*e\+?\d{2,}/)
    t.ok((await energy.getByRole('row').count()) <= 51)
    await page.keyboard.press('End')
    await page.getByText('1 of 1 bodies cannot be drawn in this frame').waitFor()
    await page.keyboard.press('Home')
    await showsFrame(page, 1)
    t.same(await findViolations(page), [])
    t.same(watched.problems, [])
  })

  verifies('console:replay:compare', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay`)
    await page.getByLabel('Choose incline_slides').check()
    await page.getByLabel('Choose incline_sticks').check()
    await page.getByRole('link', { name: 'Compare incline_slides with incline_sticks' }).click()
    await page.getByRole('heading', { name: 'Comparison of incline_slides with incline_sticks' }).waitFor()
    await settled(page)
    const answer = await fetch(`${url}/api/apps/replay/tools/compare_recordings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ a: 'incline_slides', b: 'incline_sticks' }),
    })
    const { first_frame, summary } = (await answer.json()) as { first_frame: number; summary: string }
    await page.getByText(summary).waitFor()
    await page.keyboard.press('End')
    await page.getByRole('button', { name: 'First difference' }).click()
    await showsFrame(page, first_frame)
    await page.getByRole('img', { name: 'differences on the time axis: 1' }).waitFor()
    t.equal(await page.locator('.stage canvas').count(), 2)
    await page.keyboard.press('End')
    await showsFrame(page, 120)
    const plain = await countColors(page)
    await page.getByRole('button', { name: 'Overlay the right scene' }).click()
    await page.waitForSelector('.stage[data-ghosts="1"]')
    await page.evaluate(nextFrame)
    t.ok((await countColors(page)) > plain, 'the body of the right recording is drawn in the left scene')
    t.equal(await page.getByText('Distance between both bodies 3').count(), 1)
    await page.getByRole('button', { name: 'Same time' }).click()
    await page.waitForURL(/align=time/)
    await settled(page)
    t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    t.same(await findViolations(page), [])
    await keepScreenshot(page, 'comparison-light')
    t.same(watched.problems, [])
  })

  verifies('console:replay:live', async (t) => {
    const send = async (name: string, first: number, count: number): Promise<void> => {
      const sent = await fetch(`${url}/api/apps/replay/recordings/${name}/frames`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: createRun('ball', first, count),
      })
      t.equal(sent.status, 200, await sent.text())
    }
    await send('starting', 1, 0)
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/starting`)
    await page.getByText('This recording has no frames').waitFor()
    await visit(watched, `${url}/replay/drop/compare/starting`)
    await page.getByText('starting has no frames').waitFor()
    await visit(watched, `${url}/replay/starting`)
    await send('starting', 1, 5)
    await showsFrame(page, 5)
    await send('growing', 1, 10)
    await visit(watched, `${url}/replay`)
    t.match(await page.getByRole('row', { name: /growing/ }).innerText(), /live/)
    await visit(watched, `${url}/replay/growing`)
    t.match(await showsFrame(page, 10), /Frame 10 of 10/)
    await page.locator('.viewer-bar .chip', { hasText: 'live' }).waitFor()
    await send('growing', 11, 300)
    t.match(await showsFrame(page, 310), /Frame 310 of 310/, 'the newest frame is shown as it arrives')
    await page.getByText('Frame\n310 at').or(page.getByText('310 at 3.1 s')).first().waitFor()
    await page.keyboard.press('Home')
    await showsFrame(page, 1)
    await send('growing', 311, 20)
    await page.locator('[data-frame]', { hasText: 'Frame 1 of 330' }).waitFor()
    await page.getByRole('button', { name: 'Newest frame' }).click()
    await showsFrame(page, 330)
    await fetch(`${url}/api/apps/replay/recordings/growing/finish`, { method: 'POST' })
    await page.locator('.viewer-bar .chip').waitFor({ state: 'detached' })
    await settled(page)
    t.same(watched.problems, [])
  })

  verifies('console:replay:live', 'new frames of a file that another program writes are shown', async (t) => {
    const file = `${dir}/recordings/written.jsonl`
    writeFileSync(file, `${createRun('ball', 1, 10)}\n`)
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/written`)
    await page.locator('[data-frame]', { hasText: 'of 10' }).waitFor()
    t.equal(await page.locator('.viewer-bar .chip', { hasText: 'live' }).count(), 0)
    appendFileSync(file, `${createRun('ball', 11, 20).split('\n').slice(1).join('\n')}\n`)
    await page.locator('[data-frame]', { hasText: 'of 30' }).waitFor()
    await page.locator('.viewer-bar .chip', { hasText: 'live' }).waitFor()
    await page.keyboard.press('End')
    await showsFrame(page, 30)
    await page.locator('.viewer-bar .chip', { hasText: 'live' }).waitFor({ state: 'detached' })
    t.same(watched.problems, [])
  })

  verifies('console:replay:live', 'a page that was hidden shows new frames immediately', async (t) => {
    const file = `${dir}/recordings/hidden.jsonl`
    writeFileSync(file, `${createRun('ball', 1, 10)}\n`)
    const watched = await openPage(t, browser)
    const { page } = watched
    await page.addInitScript(
      `Object.defineProperty(document, 'hidden', { get: () => window.isHidden === true })`,
    )
    const setHidden = (isHidden: boolean) =>
      page.evaluate(`isHidden = ${isHidden}; document.dispatchEvent(new Event('visibilitychange'))`)
    let polls = 0
    page.on('response', (response) => {
      if (response.url().endsWith('/tail_recording')) polls++
    })
    await page.clock.install()
    await visit(watched, `${url}/replay/hidden`)
    await page.locator('[data-frame]', { hasText: 'of 10' }).waitFor()
    // The file does not change, so the page waits longer after each poll, up to 32 s.
    for (let round = 0; round < 5; round++) {
      const before = polls
      await page.clock.fastForward(33_000)
      while (polls === before) await page.waitForResponse(/tail_recording/, { timeout: 1000 }).catch(() => {})
    }
    await setHidden(true)
    const before = polls
    appendFileSync(file, `${createRun('ball', 11, 20).split('\n').slice(1).join('\n')}\n`)
    await page.clock.fastForward(120_000)
    t.equal(polls, before, 'a hidden page asks nothing')
    await setHidden(false)
    await page.locator('[data-frame]', { hasText: 'of 30' }).waitFor({ timeout: 15_000 })
    t.same(watched.problems, [])
  })

  verifies('console:replay:without-webgl', async (t) => {
    const plain = await openBrowser(t, ['--disable-3d-apis'])
    const watched = await openPage(t, plain)
    const { page } = watched
    // The first request for a picture gets the response of a stopping server.
    const failure = { code: -32000, message: 'the server is stopping', data: stopping.json }
    await page.route(
      '**/mcp/replay',
      (route) => route.fulfill({ status: 503, json: { jsonrpc: '2.0', id: 1, error: failure } }),
      { times: 1 },
    )
    await visit(watched, `${url}/replay/slide_at_45#frame=45&body=1`)
    await page.getByText('This browser has no WebGL').waitFor()
    await page.getByRole('img', { name: 'The frame, from the front' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await showsFrame(page, 46)
    const isException = (problem: string): boolean => problem.startsWith('exception')
    t.same(watched.problems.filter(isException), [])
  })
}
