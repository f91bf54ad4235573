/** Tests in Chromium that the viewer follows the calls of a client. */
import t from 'tap'
import { startBridge } from '../../bridge/test/client.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  createGate,
  findViolations,
  isSkipped,
  keepScreenshot,
  openBrowser,
  openPage,
  visit,
} from './browser.ts'
import { showsFrame } from './viewer.ts'

t.setTimeout(300_000)

if (isSkipped) t.test('follow mode in Chromium', { skip: isSkipped }, async () => {})
else
  verifies('console:replay:follow', async (t) => {
    const browser = await openBrowser(t)
    const { url } = await startServer(t, { dir: t.testdir() })
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/drop`)
    // The stream of calls is opened late. Calls before that would not be received.
    const { opened, open } = createGate()
    await page.route('**/calls/events', async (route) => {
      await opened
      await route.continue()
    })
    await page.getByRole('button', { name: 'Follow clients' }).click()
    await page.getByText('Connecting').waitFor()
    open()
    await page.getByText('Waiting for the next call').waitFor()
    const bridge = startBridge(t, { url: `${url}/mcp` })
    await bridge.open()
    const ask = async (id: number, name: string, args: object) => {
      const { result } = await bridge.call(id, 'tools/call', { name: `Replay__${name}`, arguments: args })
      return (result as { structuredContent: { viewer_url: string; summary: string } }).structuredContent
    }
    // The client investigates why body 1 slides in frame 45.
    const loaded = await ask(1, 'load_recording', { path: 'slide_at_45' })
    t.equal(loaded.viewer_url, `${url}/replay/slide_at_45`)
    await page.getByRole('heading', { name: 'slide_at_45' }).waitFor()
    const checked = await ask(2, 'check_friction_cone', { frame_id: 45, body_id: 1 })
    t.match(checked.summary, /Body 1 exceeds the friction limit/)
    await page.locator('[data-frame]', { hasText: 'Frame 45 ' }).waitFor()
    await page.locator('[data-follow]', { hasText: 'check_friction_cone · frame 45' }).waitFor()
    const contact = page.getByRole('button', { name: 'Contact with floor' })
    await contact.waitFor()
    t.equal(await contact.getAttribute('aria-pressed'), 'true', 'the contact is selected')
    t.equal(
      await page.getByRole('button', { name: 'body 1', exact: true }).getAttribute('aria-pressed'),
      'true',
    )
    await page.waitForSelector('.stage[data-contacts="1"]')
    await page.waitForURL(/#.*frame=45/)
    await keepScreenshot(page, 'follow')

    // A person selects another frame. The next call must not change it.
    await page.keyboard.press('ArrowRight')
    await showsFrame(page, 46)
    const caption = page.locator('[data-follow]')
    await caption.getByText('Paused · ').waitFor()
    await ask(3, 'get_frame', { frame_id: 60 })
    await caption.getByText('get_frame · frame 60').waitFor()
    t.match(await page.locator('[data-frame]').innerText(), /^Frame 46 /)
    const calls = page.getByRole('img', { name: 'calls on the time axis: 2' })
    t.same(
      await calls
        .locator('.mark')
        .evaluateAll((marks) => marks.map(({ title }) => title.replace(/^.* · /, ''))),
      ['frame 45', 'frame 60'],
    )
    const [lane, mark] = [await calls.boundingBox(), await calls.locator('.mark').last().boundingBox()]
    t.ok(Math.abs((mark?.x ?? 0) - (lane?.x ?? 0) - ((lane?.width ?? 0) * 59) / 119) < 2, 'on the time axis')
    await page.keyboard.press('g')
    await showsFrame(page, 60)
    await calls.locator('.mark').first().click()
    await showsFrame(page, 45)
    await caption.getByText('Paused · ').waitFor()
    t.same(await findViolations(page), [])
    await keepScreenshot(page, 'follow-paused')

    // Of two clients, only one is followed.
    await page.getByRole('button', { name: 'Resume' }).click()
    const other = startBridge(t, { url: `${url}/mcp` })
    await other.open()
    await other.call(1, 'tools/call', {
      name: 'Replay__get_frame',
      arguments: { recording: 'slide_at_45', frame_id: 80 },
    })
    await showsFrame(page, 80)
    const sessions = page.getByRole('combobox', { name: 'Session to follow' })
    await sessions.selectOption({ index: 2 })
    await page.waitForURL(/follow=[0-9a-f]+/)
    await ask(4, 'get_frame', { frame_id: 20 })
    await other.call(2, 'tools/call', {
      name: 'Replay__get_frame',
      arguments: { recording: 'slide_at_45', frame_id: 90 },
    })
    await showsFrame(page, 90)
    await page.getByRole('img', { name: 'calls on the time axis: 2' }).waitFor()
    await visit(watched, checked.viewer_url)
    await page.locator('[data-frame]', { hasText: 'Frame 45 ' }).waitFor()
    await contact.and(page.locator('[aria-pressed=true]')).waitFor()
    t.same(watched.problems, [])
  })
