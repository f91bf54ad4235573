/** Tests MCP Apps in Chromium: a host with the reference protocol, a frame without an origin, and the real server. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { build } from 'esbuild'
import type { Frame, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  findViolations,
  isSkipped,
  keepScreenshot,
  openBrowser,
  openPage,
  type Theme,
  type WatchedPage,
} from './browser.ts'
import type { HostEvents, OpenedTool } from './widget-host.ts'

t.setTimeout(300_000)

/** The policy that hosts set for a widget without domains (MCP Apps 2026-01-26). */
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'"

const host = 'http://host.test'

interface OpenedWidget extends WatchedPage {
  readonly frame: Frame
  readonly mimeType: string
  readonly result: OpenedTool['result']
  readonly events: () => Promise<HostEvents>
}

if (isSkipped) t.test('widgets in Chromium', { skip: isSkipped }, async () => {})
else {
  const browser = await openBrowser(t)
  const plots = fileURLToPath(new URL('../../fixtures/plots', import.meta.url))
  const { url } = await startServer(t, { dir: t.testdir(), env: { CAUSEWAY_PLOT_ROOTS: plots } })
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('widget-host.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
  })
  const script = outputFiles[0]?.text ?? ''

  const connect = async (mount: string): Promise<Client> => {
    const client = new Client({ name: 'test-host', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}${mount}`)))
    t.teardown(() => client.close())
    return client
  }
  const shared = await connect('/mcp')

  /** Calls a tool as a host does, and shows its widget. */
  async function openTool(
    name: string,
    args: Record<string, unknown>,
    { client = shared, theme = 'light', hasResult = true }: Options = {},
  ): Promise<OpenedWidget> {
    const { tools } = await client.listTools()
    const tool = tools.find((one) => one.name === name)
    const { resourceUri: uri = '' } = (tool?._meta?.ui ?? {}) as { resourceUri?: string }
    const { contents } = await client.readResource({ uri })
    const [content] = contents as unknown as [{ text: string; mimeType: string }]
    const result = await client.callTool({ name, arguments: args })
    const watched = await openPage(t, browser, { theme, width: 720, height: 640 })
    const { page } = watched
    await page.exposeFunction('requestServer', (method: string, params: Record<string, never>) =>
      method === 'tools/call' ? client.callTool(params as never) : client.readResource(params as never),
    )
    await page.route(`${host}/**`, (route) =>
      route.request().url() === `${host}/widget`
        ? route.fulfill({
            body: content.text,
            contentType: 'text/html',
            headers: { 'content-security-policy': policy },
          })
        : route.fulfill({
            body: `<!doctype html><html lang="en"><title>Host</title><main><h1>Chat</h1>
              <iframe title="Widget" sandbox="allow-scripts" style="width:100%;border:0"></iframe></main>
              <script>${script.replaceAll('</script', '<\\/script')}</script></html>`,
            contentType: 'text/html',
          }),
    )
    await page.goto(host)
    const opened = { tool, args, theme, ...(hasResult ? { result } : {}) } as unknown as OpenedTool
    await page.evaluate(`openTool(${JSON.stringify(opened)})`)
    const frame = page.frames().find((one) => one.url() === `${host}/widget`) as Frame
    return {
      ...watched,
      frame,
      mimeType: content.mimeType,
      result: result as OpenedTool['result'],
      events: () => page.evaluate<HostEvents>('hostEvents'),
    }
  }

  /** Checks the requirements for every widget, and stores a screenshot. */
  async function checkWidget(
    t: Test,
    name: string,
    { page, frame, mimeType, problems, result, events }: OpenedWidget,
  ) {
    await keepScreenshot(page, `widget-${name}`)
    t.same(await findViolations(frame as unknown as Page), [], `${name}: axe`)
    t.same(problems, [], `${name}: problems`)
    t.equal(mimeType, 'text/html;profile=mcp-app')
    t.ok(((await events()).heights.at(-1) ?? 0) > 80, `${name}: the host learns the height`)
    const { content, structuredContent } = result as unknown as Result
    t.same(JSON.parse(content[0].text), structuredContent, `${name}: the text is complete without the widget`)
  }

  verifies('console:widgets:series', async (t) => {
    for (const theme of ['light', 'dark'] as const) {
      const opened = await openTool('Replay__diagnose', { recording: 'slide_at_45' }, { theme })
      const { page, frame, events } = opened
      await frame.getByRole('button', { name: /Body 1 and floor: friction exceeds/ }).click()
      await frame.locator('.widget-head', { hasText: /frame 45$/ }).waitFor()
      await hasColors(frame, '.plot canvas', 3)
      await frame.getByRole('button', { name: 'Ask about this' }).click()
      await frame.getByRole('button', { name: 'Open in the console' }).click()
      await page.waitForFunction('hostEvents.links.length > 0 && hostEvents.messages.length > 0')
      const { links, messages, contexts } = await events()
      t.match(links, [/\/replay\/slide_at_45#frame=45/])
      t.same(messages, ['Explain frame 45 of the recording slide_at_45.'])
      t.same(contexts.at(-1), { recording: 'slide_at_45', frame: 45 })
      await checkWidget(t, `series-${theme}`, opened)
    }
    const series = await openTool('Replay__get_series', {
      recording: 'slide_at_45',
      series: ['body.1.speed', 'energy.delta'],
      max_points: 100,
    })
    await series.frame.getByText('body.1.speed').waitFor()
    const energy = await openTool('Replay__get_system_energy', { recording: 'drop' })
    await energy.frame.getByText('potential').waitFor()
    t.same([...series.problems, ...energy.problems], [])
  })

  verifies('console:widgets:scene', async (t) => {
    const bare = await connect('/mcp/replay')
    for (const [theme, client, name] of [
      ['light', shared, 'Replay__explain_frame'],
      ['dark', bare, 'explain_frame'],
    ] as const) {
      const opened = await openTool(name, { recording: 'slide_at_45', frame_id: 45 }, { theme, client })
      const { frame, page } = opened
      await frame.locator('.stage[data-contacts="1"]').waitFor()
      await frame.locator('canvas[data-drawings]').waitFor()
      await hasColors(frame, '.stage canvas', 20)
      await checkWidget(t, `scene-${theme}`, opened)
      await frame.getByRole('slider').fill('46')
      await page.waitForFunction('hostEvents.contexts.at(-1)?.frame === 46')
    }
  })

  verifies('console:widgets:map', async (t) => {
    const filename = 'gibraltar.plot.json'
    await shared.callTool({ name: 'Debrief__open_plot', arguments: { filename } })
    for (const theme of ['light', 'dark'] as const) {
      const opened = await openTool('Debrief__get_features', { filename, data_type: 'track' }, { theme })
      const { frame } = opened
      await frame.locator('[data-land]').waitFor()
      await frame.getByLabel('Select').selectOption(theme === 'light' ? 'track-a' : 'track-b')
      await frame.getByText(`selected: ${theme === 'light' ? 'ALFEREZ' : 'BALEARES'}`).waitFor()
      await checkWidget(t, `map-${theme}`, opened)
    }
    const { structuredContent } = await shared.callTool({
      name: 'Debrief__get_selection',
      arguments: { filename },
    })
    t.match(structuredContent, { selectedIds: ['track-b'] }, 'the selection of the plot is that of the map')
  })

  verifies('console:widgets:decision', async (t) => {
    const config = { traits: ['curious'] }
    await shared.callTool({ name: 'Minds__create_mind', arguments: { mind_id: 'npc_mara', config } })
    const needs = { needs: { hunger: 22, energy: 71 }, max_value: 100 }
    const eat = { name: 'eat', description: 'Cook and eat', needs_filled: ['hunger'], needs_drained: [] }
    const stove = {
      entity_id: 'stove_2',
      display_name: '<img src=x>',
      position: [13, 7],
      interactions: { eat },
    }
    const observation = {
      entity_id: 'npc_mara',
      current_simulation_time: 1930,
      status: { position: [12, 7], movement_locked: false, current_interaction: {}, controller_state: {} },
      needs,
      vision: { visible_entities: [stove] },
      conversations: [],
    }
    for (const theme of ['light', 'dark'] as const) {
      const opened = await openTool('Minds__decide_action', { mind_id: 'npc_mara', observation }, { theme })
      await opened.frame.getByRole('heading', { name: /interact_with/ }).waitFor()
      await opened.frame.getByRole('row').nth(1).waitFor()
      t.equal(await opened.frame.locator('img').count(), 0)
      await checkWidget(t, `decision-${theme}`, opened)
    }
  })

  verifies('console:widgets:host', async (t) => {
    const opened = await openTool('Replay__get_frame', { recording: 'drop', frame_id: 9999 })
    const { page, frame } = opened
    await frame.getByText('FRAME_NOT_FOUND').waitFor()
    await page.evaluate(`setTheme('dark')`)
    await holds(frame, `getComputedStyle(document.body).backgroundColor === 'rgb(16, 18, 22)'`)
    t.equal(await frame.evaluate('getComputedStyle(document.body).fontFamily'), 'serif')
    t.same(await page.evaluate('closeTool()'), {}, 'the widget answers before it is removed')
    const ignored = await frame.evaluate(`new Promise((resolve) => {
      postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-cancelled', params: {} }, '*')
      setTimeout(() => resolve(document.body.innerText), 50)
    })`)
    t.match(ignored, /FRAME_NOT_FOUND/, 'messages of other windows are ignored')
    const reloaded = await openTool(
      'Replay__get_series',
      { recording: 'drop', series: ['energy.total'] },
      { hasResult: false },
    )
    await reloaded.frame.getByText('energy.total').waitFor()
    t.same([...opened.problems, ...reloaded.problems], [])
  })

  verifies('console:widgets:host', 'a widget remains usable if the host rejects its requests', async (t) => {
    const filename = 'gibraltar.plot.json'
    await shared.callTool({ name: 'Debrief__open_plot', arguments: { filename } })
    const { page, frame, problems } = await openTool('Debrief__get_features', { filename })
    const select = frame.getByLabel('Select')
    const selected = await select.inputValue()
    await page.evaluate('rejectRequests()')
    await select.selectOption(selected === 'zone-6' ? 'point-1' : 'zone-6')
    await holds(frame, `document.querySelector('select').value === ${JSON.stringify(selected)}`)
    await frame.getByRole('button', { name: 'Ask about this' }).click()
    await frame.getByRole('button', { name: 'Open in the console' }).click()
    const scene = await openTool('Replay__get_frame', { recording: 'slide_at_45', frame_id: 45 })
    await scene.frame.locator('.stage[data-contacts="1"]').waitFor()
    await scene.page.evaluate('rejectRequests()')
    await scene.frame.getByRole('slider').fill('46')
    await holds(scene.frame, `document.querySelector('.widget-head').innerText.includes('frame 46')`)

    const options = { hasResult: false }
    const waiting = await openTool(
      'Replay__get_series',
      { recording: 'drop', series: ['energy.total'] },
      options,
    )
    await waiting.page.evaluate('rejectRequests()')
    await waiting.frame.getByText('rejected by the host').waitFor()
    t.same([...problems, ...scene.problems, ...waiting.problems], [])
  })
}

interface Options {
  readonly client?: Client
  readonly theme?: Theme
  readonly hasResult?: boolean
}

interface Result {
  readonly content: readonly [{ readonly text: string }]
  readonly structuredContent: unknown
}

/** Waits until an expression is true. The frame's policy does not allow `waitForFunction`, which polls. */
const holds = (frame: Frame, expression: string): Promise<void> =>
  frame.evaluate<void>(`new Promise((resolve) => {
    const check = () => (${expression} ? resolve() : requestAnimationFrame(check))
    check()
  })`)

/** Waits until a canvas has more than this number of colours. */
const hasColors = (frame: Frame, selector: string, count: number): Promise<void> =>
  holds(
    frame,
    `(() => {
      const source = document.querySelector(${JSON.stringify(selector)})
      const copy = Object.assign(document.createElement('canvas'), { width: source.width, height: source.height })
      const context = copy.getContext('2d')
      context.drawImage(source, 0, 0)
      const { data } = context.getImageData(0, 0, copy.width, copy.height)
      return new Set(new Uint32Array(data.buffer)).size > ${count}
    })()`,
  )
