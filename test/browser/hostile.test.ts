/**
 * Tests every page that shows foreign names with names that contain markup, change the text direction, or have 10
 * kB.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { until } from '../e2e/condition.ts'
import { postMcp } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkThemes, isSkipped, openBrowser, openPage, settled, visit } from './browser.ts'

t.setTimeout(300_000)

const short = '<img src=x onerror=document.title=1>\u202e'
const hostile = `${short}${'long'.repeat(2500)}`
const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url))
const program = fileURLToPath(new URL('../../packages/gateway/test/fixture-server.ts', import.meta.url))

/**
 * Returns texts that change the direction of the text around them, and texts over 4 kB outside of scrollable areas.
 * Blocks, `bdi` elements and controls isolate their own text.
 */
const findDefects = `(() => {
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  const defects = []
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.data
    const parent = node.parentElement
    if (text.includes('\\u202e')) {
      let element = parent
      while (!/isolate|plaintext/.test(getComputedStyle(element).unicodeBidi) && !/^(TD|TH|BUTTON|LI|DD|DT|SUMMARY|OPTION)$/.test(element.tagName))
        element = element.parentElement
      if (element.textContent.trim() !== text.trim() && element.tagName !== 'BDI' && element.tagName !== 'SPAN' && element.tagName !== 'PRE')
        defects.push('direction in ' + parent.tagName + '.' + parent.className + ' of ' + element.tagName + '.' + element.className)
    }
    if (text.length > 4000 && parent.getClientRects().length > 0) {
      let element = parent
      while (element !== null && !/auto|scroll|hidden/.test(getComputedStyle(element).overflow)) element = element.parentElement
      if (element === null || element === document.documentElement) defects.push('length of ' + parent.tagName + '.' + parent.className)
    }
  }
  const { scrollHeight } = document.documentElement
  if (scrollHeight > 8000) defects.push('height of ' + scrollHeight + ' px')
  if (document.documentElement.scrollWidth > innerWidth) defects.push('width')
  if (document.querySelector('main img') !== null) defects.push('markup')
  return defects
})()`

const createRun = () =>
  [
    {
      run: {
        bodies: [{ id: 1, mass: 1, name: hostile.slice(0, 64), shape: { kind: 'sphere', radius: 0.5 } }],
        dt: 0.01,
      },
    },
    ...[1, 2, 3].map((frame_id) => ({
      ...{ frame_id, time: frame_id * 0.01 },
      bodies: [
        {
          ...{ id: 1, position: [0, 0, 5], velocity: [0, 0, 0] },
          ...{ orientation: [1, 0, 0, 0], angular_velocity: [0, 0, 0] },
        },
      ],
    })),
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')

function writeFiles(dir: string): void {
  for (const name of ['data', 'plots', 'docs', 'runs', 'projects']) mkdirSync(`${dir}/${name}`)
  const plot = JSON.parse(readFileSync(`${fixtures}/plots/gibraltar.plot.json`, 'utf8'))
  for (const feature of plot.features)
    feature.properties = { ...feature.properties, name: hostile, [hostile]: hostile }
  writeFileSync(`${dir}/plots/hostile.plot.json`, JSON.stringify(plot))
  copyFileSync(`${fixtures}/plots/gibraltar.plot.json`, `${dir}/plots/${short}.plot.json`)
  writeFileSync(
    `${dir}/docs/zebra.md`,
    `# zebra ${hostile}\n\nzebra ${hostile}\n\n## zebra ${hostile}\n\nzebra\n`,
  )
  writeFileSync(`${dir}/runs/${short}.db`, 'not a database')
  cpSync(`${fixtures}/projects/sums`, `${dir}/projects/${short}`, { recursive: true })
  const command = process.execPath
  const causeway = { share: 'shared' }
  const mcpServers = {
    files: { command, args: [program, `--describe=${hostile.replaceAll('=', ' ')}`], causeway },
    broken: { command, args: [program, '--exit', hostile], causeway },
    [hostile]: { command: 'x' },
  }
  writeFileSync(`${dir}/data/mcp.json`, JSON.stringify({ mcpServers }), { mode: 0o600 })
}

const observation = {
  entity_id: 'npc_mara',
  current_simulation_time: 1930,
  status: { position: [12, 7], current_interaction: {} },
  needs: { needs: { hunger: 22 }, max_value: 100 },
  vision: {
    visible_entities: [
      {
        ...{ entity_id: 'stove_2', display_name: hostile, position: [13, 7] },
        interactions: { eat: { name: 'eat', needs_filled: ['hunger'], needs_drained: [] } },
      },
    ],
  },
}

if (isSkipped) t.test('hostile names in Chromium', { skip: isSkipped }, async () => {})
else {
  const dir = t.testdir()
  writeFiles(dir)
  const browser = await openBrowser(t)
  const { url } = await startServer(t, {
    dir: `${dir}/data`,
    env: {
      CAUSEWAY_PLOT_ROOTS: `${dir}/plots`,
      CAUSEWAY_TRM_ROOTS: `${dir}/projects`,
      CAUSEWAY_HELP_BUILD: 'true',
      CAUSEWAY_HELP_SOURCES: `notes=${dir}/docs`,
      CAUSEWAY_RECORDING_ROOTS: `${dir}/runs`,
    },
  })
  const post = async (path: string, body: string): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(`${url}/api/apps/${path}`, {
      method: 'POST',
      headers: { 'content-type': path.endsWith('frames') ? 'application/x-ndjson' : 'application/json' },
      body,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${text.slice(0, 300)}`)
    return JSON.parse(text)
  }
  const call = (app: string, tool: string, args: object) => post(`${app}/tools/${tool}`, JSON.stringify(args))

  await post('replay/recordings/hostile/frames', createRun())
  await call('minds', 'create_mind', {
    mind_id: 'npc_mara',
    config: { entity_id: 'npc_mara', traits: [short], initial_long_term_memories: [hostile.slice(0, 2000)] },
  })
  await call('minds', 'decide_action', { mind_id: 'npc_mara', observation })
  const { sessionId } = await call('trm', 'start', {
    repo: `${dir}/projects/${short}`,
    test: 'python3 -m unittest',
    halt: { max: 8 },
  })
  await call('trm', 'submit', {
    sid: sessionId,
    candidate: { mode: 'files', files: [{ path: `${short}.py`, content: hostile }] },
    reason: hostile.slice(0, 2000),
    wait: 60,
  })
  await postMcp(url, 'tools/call', { name: 'echo', arguments: { text: 'x' } }, { path: '/mcp/files' })
  await until(
    () => call('help', 'find_help_topics', { text: 'zebra' }).catch(() => ({ results: [] })),
    ({ results }) => (results as readonly unknown[]).length > 0,
  )
  const failed = await fetch(`${url}/api/apps/replay/tools/get_frame`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ recording: hostile, frame_id: 1 }),
  })
  const request = failed.headers.get('causeway-request') ?? ''
  await failed.text()

  verifies('console:pages:clean', 'the page of Help has no problems', async (t) => {
    const watched = await openPage(t, browser)
    await visit(watched, `${url}/help#q=zebra`)
    await watched.page.getByText('Ranks:').first().waitFor()
    await checkThemes(t, watched, 'help')
    await watched.page.close()
  })

  verifies('console:pages:hostile', 'hostile names are shown as text in every app and page', async (t) => {
    const watched = await openPage(t, browser)
    const { page, problems } = watched
    const pages = [
      ...['/', '/apps', '/apps/files', '/apps/files/echo', '/traffic', '/traffic#group=error'],
      ...[`/traffic/${request}`, '/sessions', '/servers', '/servers/broken', '/status', '/logs'],
      ...['/replay', '/replay/hostile#frame=2&body=1', '/replay/hostile/compare/hostile'],
      ...[
        '/debrief',
        '/debrief/plots/hostile.plot.json',
        `/debrief/plots/${encodeURIComponent(short)}.plot.json`,
      ],
      ...['/minds', '/minds/npc_mara', '/trm', `/trm/${sessionId}`, '/help#q=zebra'],
      ...[`/minds/${encodeURIComponent(short)}`, `/trm/${encodeURIComponent(short)}`],
      ...[`/servers/${encodeURIComponent(short)}`, `/replay/${encodeURIComponent(short)}`],
    ]
    for (const path of pages) {
      await page.goto('about:blank')
      await page.goto(`${url}${path}`)
      await settled(page)
      if (path.startsWith('/help')) await page.getByText('Ranks:').first().waitFor()
      t.same(await page.evaluate(findDefects), [], path)
      t.match(await page.title(), / · Causeway$/, path)
    }
    // The last pages are for things that do not exist.
    t.same(
      problems.filter((problem) => !problem.includes('Failed to load resource')),
      [],
    )
  })
}
