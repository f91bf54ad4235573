/** Tests the list of recordings in Chromium: its columns, uploads by drop and by keyboard, and comparisons. */
import { once } from 'node:events'
import { copyFileSync, utimesSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { Recorder } from '../../recorders/js/recorder.js'
import { until } from '../e2e/condition.ts'
import { recordings as fixtures, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  findViolations,
  isSkipped,
  keepScreenshot,
  openBrowser,
  openPage,
  stopping,
  visit,
} from './browser.ts'
import { countPixels, createRun } from './viewer.ts'

t.setTimeout(300_000)

/** Drops a file of this machine onto the page. */
async function drop(page: Page, file: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const data = { items: [], files: [file], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data })
  await devtools.detach()
}

/** A run of 12 MB. Its lines are padded with spaces, so that the recording itself is small. */
const padded = createRun('ball', 1, 12).replaceAll('\n', `${' '.repeat(1_000_000)}\n`)

/** Forwards connections to another port of this machine until it closes them. */
class ConnectionProxy {
  target = 0
  readonly #sockets: Socket[] = []
  readonly #server = createServer((client) => {
    const server = connect(this.target, '127.0.0.1')
    for (const socket of [client, server]) socket.on('error', () => socket.destroy())
    this.#sockets.push(client, server)
    client.pipe(server).pipe(client)
  })

  /** Listens for connections. Returns the origin of pages that are opened through this proxy. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  disconnect(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

const columns = ['Bodies', 'Frames', 'Duration', 'Era', 'Modified (UTC)'] as const

/** Returns a row's texts by column. */
async function readRow(page: Page, name: string): Promise<readonly string[]> {
  const names = await page.locator('th').allInnerTexts()
  const cells = await page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name, exact: true }) })
    .locator('td')
    .allInnerTexts()
  return columns.map((column) => cells[names.indexOf(column)] ?? '')
}

/** Returns the problems of a page, except failed requests that a test expects. */
const listUnexpected = (problems: readonly string[], ...statuses: readonly number[]): readonly string[] =>
  problems.filter((problem) => !statuses.some((status) => problem.includes(`status of ${status} `)))

if (isSkipped) t.test('the list of recordings in Chromium', { skip: isSkipped }, async () => {})
else {
  const browser = await openBrowser(t)
  const dir = t.testdir({ data: {}, recordings: {}, files: {} })
  for (const name of ['drop.db', 'stack.db'])
    copyFileSync(join(fixtures, name), join(dir, 'recordings', name))
  writeFileSync(join(dir, 'recordings', 'lines.jsonl'), createRun('ball'))
  const modified = new Date('2026-01-02T23:04:05Z')
  for (const name of ['drop.db', 'lines.jsonl']) utimesSync(join(dir, 'recordings', name), modified, modified)
  const proxy = new ConnectionProxy()
  t.teardown(() => proxy.disconnect())
  const proxied = await proxy.listen()
  const { url } = await startServer(t, {
    dir: join(dir, 'data'),
    env: {
      CAUSEWAY_RECORDING_ROOTS: join(dir, 'recordings'),
      CAUSEWAY_RECORDINGS_CAP_BYTES: '4000000',
      CAUSEWAY_ALLOWED_ORIGINS: proxied,
    },
  })
  proxy.target = Number(new URL(url).port)
  const writeFile = (name: string, content: string | Uint8Array): string => {
    const file = join(dir, 'files', name)
    writeFileSync(file, content)
    return file
  }
  const listRuns = async (): Promise<readonly string[]> => {
    const response = await fetch(`${url}/api/apps/replay/tools/list_recordings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    const { recordings } = (await response.json()) as { recordings: { recording: string; status?: string }[] }
    return recordings.flatMap(({ recording, status }) => (status === undefined ? [] : [recording])).toSorted()
  }

  verifies('console:replay:columns', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay`)
    const row = page.getByRole('row', { name: /drop/ })
    await row.getByText('0.596 s').waitFor()
    t.same(await readRow(page, 'drop'), ['1', '150', '0.596 s', 'current', '2026-01-02 23:04'])
    t.same(
      await readRow(page, 'lines'),
      ['–', '–', '–', '–', '2026-01-02 23:04'],
      'a file that was not opened',
    )
    t.same(await findViolations(page), [])
    t.same(watched.problems, [])
  })

  verifies(
    'console:pages:recover',
    'recordings are diagnosed if the first requests reach a stopping server',
    async (t) => {
      const watched = await openPage(t, browser)
      const { page } = watched
      await page.route('**/diagnose', (route) => route.fulfill(stopping), { times: 2 })
      await visit(watched, `${url}/replay`)
      const row = page.getByRole('row', { name: /drop/ })
      await row.getByText('waiting').waitFor({ state: 'detached' })
      t.equal(await page.getByText('not diagnosed').count(), 0)
      t.same(listUnexpected(watched.problems, 503), [])
    },
  )

  verifies('console:replay:upload', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay`)
    await drop(page, writeFile('my run 1.jsonl', createRun('ball', 1, 40)))
    await page.getByRole('status').getByText('Stored my-run-1 with 40 frames.').waitFor()
    await page.getByRole('row', { name: /my-run-1/ }).waitFor()
    t.same(await findViolations(page), [])
    await keepScreenshot(page, 'recordings-upload')
    t.same(watched.problems, [])
    t.same(await listRuns(), ['my-run-1'])
  })

  verifies('console:replay:upload', 'a file can be uploaded with the keyboard', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay`)
    await page.getByRole('textbox', { name: 'Name' }).fill('padded')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a file' }).press('Enter')
    await (await chooser).setFiles(writeFile('padded.jsonl', padded))
    await page.getByRole('status').getByText('Stored padded with 12 frames.').waitFor()
    t.same(watched.problems, [])
  })

  verifies('console:replay:upload', 'MCAP and SQLite files can be uploaded', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay`)
    const parts: Uint8Array[] = []
    const recorder = new Recorder((bytes: Uint8Array) => parts.push(bytes), {
      dt: 0.01,
      bodies: [{ id: 1, mass: 1 }],
    })
    for (let i = 0; i < 5; i++) recorder.frame({ position: [0, 0, i] })
    recorder.close()
    await drop(page, writeFile('frames.mcap', Buffer.concat(parts)))
    await page.getByRole('status').getByText('Stored frames with 5 frames.').waitFor()
    await drop(page, writeFile('cut.mcap', Buffer.concat(parts).subarray(0, -20)))
    await page.getByRole('status').getByText('The end of the file is missing.').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('fallen')
    await drop(page, join(fixtures, 'drop.db'))
    await page.getByRole('status').getByText('Stored fallen with 150 frames.').waitFor()
    await page.getByRole('row', { name: /fallen.*150/ }).waitFor()
    t.same(watched.problems, [])
  })

  for (const way of ['cancelled', 'closed'] as const)
    verifies('console:replay:upload', `an upload whose page is ${way} stores nothing`, async (t) => {
      const watched = await openPage(t, browser)
      const { page } = watched
      await visit(watched, `${url}/replay`)
      const before = await listRuns()
      const devtools = await page.context().newCDPSession(page)
      const limits = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 500_000 }
      await devtools.send('Network.emulateNetworkConditions', limits)
      await drop(page, writeFile(`${way}.jsonl`, padded))
      await page.getByText(new RegExp(`${way}: \\d+ % of 1\\d\\.\\d MB`)).waitFor()
      await until(listRuns, (runs) => runs.includes(way))
      if (way === 'cancelled') {
        t.same(await findViolations(page), [])
        await page.getByRole('button', { name: 'Cancel' }).click()
        await page.getByText('The upload of cancelled was cancelled. Nothing was stored.').waitFor()
      } else await page.close()
      t.same(await until(listRuns, (runs) => !runs.includes(way)), before)
      t.same(watched.problems, [])
    })

  verifies('console:replay:upload', 'a lost connection is reported, and nothing is stored', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${proxied}/replay`)
    const before = await listRuns()
    const devtools = await page.context().newCDPSession(page)
    const limits = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 500_000 }
    await devtools.send('Network.emulateNetworkConditions', limits)
    await drop(page, writeFile('lost.jsonl', padded))
    await page.getByText(/lost: [1-9]\d* % of 1\d\.\d MB/).waitFor()
    await until(listRuns, (runs) => runs.includes('lost'))
    proxy.disconnect()
    const alert = page.getByRole('alert')
    await alert.getByText('CONNECTION_LOST').waitFor()
    t.match(await alert.innerText(), /the connection to the server was lost after \d+ % of the file/)
    t.match(
      await alert.innerText(),
      /nothing was stored: when the server is reachable, choose the file again/,
    )
    t.same(await until(listRuns, (runs) => !runs.includes('lost')), before)
  })

  verifies('console:replay:upload', 'reasons for a rejection are shown as text', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay`)
    const before = await listRuns()
    const name = page.getByRole('textbox', { name: 'Name' })
    const run = writeFile('run.jsonl', createRun('ball'))
    const refused = async (file: string, text: RegExp): Promise<void> => {
      await drop(page, file)
      await page.getByRole('alert').getByText(text).first().waitFor()
    }
    await name.fill('a/b')
    await refused(run, /use 1 to 64 of the characters A-Z a-z 0-9/)
    await name.fill('my-run-1')
    await refused(run, /the recording my-run-1 already exists/)
    t.same(await findViolations(page), [])
    await name.fill('')
    await refused(writeFile('notes.jsonl', 'some text'), /not JSON lines, MCAP or SQLite/)
    await refused(
      writeFile('x.parquet', 'PAR1'),
      new RegExp(`copy the file into a folder .*${dir}/recordings`),
    )
    await refused(writeFile('junk.db', `SQLite format 3\0${'junk'.repeat(9000)}`), /RECORDING_DAMAGED/)
    await refused(writeFile('junk.mcap', '\x89MCAP0\r\njunk'), /message|MCAP/)
    await refused(writeFile('bad.jsonl', `${createRun('ball')}\n{"frame_id": "x"}\n`), /line 5:/)
    await refused(writeFile('late.jsonl', `${padded}\n{"frame_id": "x"}\n`), /line 14:/)
    const values = Array.from({ length: 6 }, (_, at) => createRun('ball', 1 + at * 4000, 4000))
    const large = writeFile('large.jsonl', values.join('\n'))
    await refused(large, /DATA_UNWRITABLE/)
    await refused(large, /at most 4000000 bytes.*CAUSEWAY_RECORDINGS_CAP_BYTES/)
    t.same(await listRuns(), before, 'nothing of them is stored')
    t.same(listUnexpected(watched.problems, 400, 409, 422, 507), [])
  })

  verifies(
    'console:replay:compare',
    'recordings with different lengths, frames, bodies and positions can be compared',
    async (t) => {
      const write = (name: string, [first, count]: readonly [number, number], x = 0, id = 1): void =>
        writeFileSync(
          `${dir}/recordings/${name}.jsonl`,
          createRun('ball', first, count)
            .replaceAll('"id":1', `"id":${id}`)
            .replaceAll('"position":[0', `"position":[${x}`),
        )
      write('compared', [1, 600])
      write('shorter', [1, 100])
      write('later', [1001, 50])
      write('elsewhere', [1, 600], 300, 7)
      const watched = await openPage(t, browser)
      const { page } = watched
      for (const [name, frame, caption] of [
        ['shorter', 600, /shorter frame 100$/],
        ['later', 20, /later frame 1001$/],
        ['elsewhere', 20, /elsewhere frame 20$/],
      ] as const) {
        await visit(watched, `${url}/replay/compared/compare/${name}#frame=${frame}`)
        for (const [index, expected] of [/compared frame/, caption].entries()) {
          t.match(await page.locator('.compared-stages figcaption').nth(index).innerText(), expected)
          const canvas = `.compared-stages figure:nth-child(${index + 1}) canvas`
          await until(
            () => countPixels(page, canvas, null),
            (count) => count > 2000,
          )
        }
      }
      await page.getByText('The scenes are far apart').first().waitFor()
      const left = '.compared-stages figure:first-child canvas'
      t.equal(await countPixels(page, left, 'fg'), 0)
      await page.getByRole('button', { name: 'Overlay the right scene' }).click()
      await page.getByText('the wireframes are moved by 300 m').waitFor()
      await until(
        () => countPixels(page, left, 'fg'),
        (count) => count > 100,
      )
      await page.keyboard.press('v')
      await until(
        () => page.locator('.stage[data-velocities="1"]').count(),
        (count) => count === 2,
      )
      await page.keyboard.press('t')
      await page.getByRole('button', { name: 'Trails', pressed: true }).waitFor()
      t.same(await findViolations(page), [])
      t.same(
        listUnexpected(watched.problems, 400),
        [],
        'only the comparison by frame id of recordings without a common one fails',
      )
    },
  )

  verifies(
    'console:replay:link',
    'the page states how many velocities it draws if there are too many',
    async (t) => {
      const record = async (name: string, count: number): Promise<void> => {
        const [head, frame] = createRun(name, 1, 1)
          .split('\n')
          .map((line) => JSON.parse(line))
        const repeat = (one: object) =>
          Array.from({ length: count }, (_, index) => ({
            ...one,
            id: index + 1,
            position: [2 * (index % 50), 2 * Math.floor(index / 50), 5],
          }))
        head.run.bodies = repeat(head.run.bodies[0]).map(({ position: _, ...body }) => body)
        frame.bodies = repeat(frame.bodies[0])
        const sent = await fetch(`${url}/api/apps/replay/recordings/${name}/frames`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-ndjson' },
          body: [head, frame].map((line) => JSON.stringify(line)).join('\n'),
        })
        t.equal(sent.status, 200, await sent.text())
      }
      await record('many', 250)
      await record('crowd', 2010)
      const watched = await openPage(t, browser)
      const { page } = watched
      const note = page.getByText('2000 of 2010 velocities are drawn.')
      await visit(watched, `${url}/replay/many/compare/crowd`)
      await page.keyboard.press('v')
      await page.waitForSelector('.stage[data-velocities="250"]')
      await page.waitForSelector('.stage[data-velocities="2000"]')
      t.equal(await page.getByText('velocities are drawn').count(), 1)
      await note.waitFor()
      await visit(watched, `${url}/replay/crowd`)
      await page.keyboard.press('v')
      await page.waitForSelector('.stage[data-velocities="2000"]')
      await note.waitFor()
      await page.keyboard.press('v')
      await note.waitFor({ state: 'detached' })
      t.same(watched.problems, [])
    },
  )

  verifies('console:pages:hostile', 'names in a recording are shown as text', async (t) => {
    const name = '<img src=x onerror=document.title=1>'
    const sent = await fetch(`${url}/api/apps/replay/recordings/hostile/frames`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: createRun(name),
    })
    t.equal(sent.status, 200, await sent.text())
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/replay/hostile`)
    await page.getByRole('button', { name }).waitFor()
    t.equal(await page.locator('main img').count(), 0)
    t.same(watched.problems, [])
    await visit(watched, `${url}/replay/${encodeURIComponent('<img src=x onerror=document.title=1>')}`)
    t.match(await page.locator('main').innerText(), /RECORDING_NOT_FOUND|NOT_FOUND/)
    t.equal(await page.locator('main img').count(), 0)
  })
}
