/**
 * Draws the pictures of the documentation with the product and writes them into `docs/pictures`, or into the folder of the first
 * argument. It starts a server with an empty data folder. Pictures of the gallery need the engines of
 * `node test/downloads/samples.mjs`, those of the console Chromium and `npm run build`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { chromiumPath } from '../test/browser/browser.ts'
import { captureConsole } from './pictures/console.ts'

const root = resolve(import.meta.dirname, '..')
const target = resolve(process.argv[2] ?? join(root, 'docs/pictures'))

interface Picture {
  readonly file: string
  readonly tool: string
  readonly args: object
  /** Calls of tools before it. */
  readonly before?: readonly (readonly [tool: string, args: object])[]
}

const pictures: readonly Picture[] = [
  {
    file: 'bounce.png',
    tool: 'Replay__plot',
    args: { recording: 'bounce', series: ['body.1.position.z', 'energy.total'], mark_frame: 43 },
  },
  { file: 'frame.png', tool: 'Replay__render_frame', args: { recording: 'slide_at_45', frame_id: 45 } },
  {
    file: 'map.png',
    tool: 'Debrief__render_map',
    args: { filename: 'encounter.plot.json', width: 700 },
    before: [['Debrief__open_plot', { filename: 'encounter.plot.json' }]],
  },
  {
    file: 'robot.png',
    tool: 'Replay__plot',
    args: { recording: 'arm', series: ['body.2.position.z', 'body.3.position.z'], shade_findings: true },
  },
  {
    file: 'gallery-nan.png',
    tool: 'Replay__plot',
    args: {
      recording: 'why-nan',
      series: ['body.1.position.z', 'energy.total'],
      end_frame: 60,
      mark_frame: 25,
    },
  },
  {
    file: 'gallery-forces.png',
    tool: 'Replay__render_frame',
    args: { recording: 'forces', frame_id: 10 },
  },
  {
    file: 'gallery-difference.png',
    tool: 'Replay__plot',
    args: { recording: 'order', overlay: 'order-reversed', series: ['body.6.position.x'], mark_frame: 13 },
  },
  {
    file: 'gallery-commit.png',
    tool: 'Replay__render_frame',
    args: { recording: 'tower-c3f0-1', frame_id: 34 },
  },
  {
    file: 'gallery-gripper.png',
    tool: 'Replay__plot',
    args: { recording: 'gripper', overlay: 'firm', series: ['body.4.position.z'] },
  },
]

/** Programs that record what the pictures show, with their arguments. */
const programs = [
  ['robot-arm/arm.mjs', 'arm'],
  ['gallery/why-nan.mjs'],
  ['gallery/forces.mjs'],
  ['gallery/first-difference.mjs', 'order'],
  ['gallery/first-difference.mjs', 'order-reversed', 'reverse'],
  ['gallery/since-which-commit.mjs'],
  ['gallery/gripper.mjs'],
  ['gallery/gripper.mjs', 'firm', 'cone="elliptic"', 'impratio="10"'],
] as const

interface Result {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[]
}

/** Starts a server on a free port, and returns its URL and a function that stops it. */
async function startServer(folder: string) {
  const plots = join(folder, 'plots')
  cpSync(join(root, 'fixtures/plots'), plots, { recursive: true })
  const program = ['--conditions=@causeway/source', join(root, 'server/bin/causeway.js')]
  const settings = ['--port', '0', '--data-dir', join(folder, 'data'), '--plot-roots', plots]
  const args = [...program, ...settings, '--recording-roots', join(root, 'fixtures/recordings')]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  let log = ''
  for await (const line of createInterface({ input: child.stderr })) {
    log += `${line}\n`
    const url = /(http:\/\/127\.0\.0\.1:\d+)\/mcp/.exec(line)?.[1]
    if (url === undefined) continue
    child.stderr.resume()
    const stop = async (): Promise<void> => {
      child.kill('SIGTERM')
      await exited
    }
    return { url, stop }
  }
  throw new Error(`the server did not start:\n${log}`)
}

async function callTool(url: string, name: string, args: object): Promise<Result> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Causeway-Session': 'pictures',
      'User-Agent': 'notebook/1.0',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  const { result } = (await response.json()) as { result?: Result }
  if (result === undefined || result.isError) throw new Error(`${name}: ${result?.content[0]?.text}`)
  return result
}

async function draw(url: string, { file, tool, args, before = [] }: Picture): Promise<void> {
  for (const [name, first] of before) await callTool(url, name, first)
  const { content } = await callTool(url, tool, args)
  const image = content.find(({ type }) => type === 'image')?.data
  if (image === undefined) throw new Error(`${tool} returned no picture`)
  const path = join(target, file)
  writeFileSync(path, Buffer.from(image, 'base64'))
  process.stdout.write(`${path}\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'causeway-pictures-'))
mkdirSync(target, { recursive: true })
const { url, stop } = await startServer(folder)
try {
  const program = join(root, 'examples/bouncing-ball/bounce.py')
  execFileSync('python3', [program, 'bounce'], { env: { ...process.env, CAUSEWAY_URL: url } })
  const engines = ['--import', join(root, 'test/documented/engine-packages.mjs')]
  for (const [path, ...args] of programs)
    execFileSync(process.execPath, [...engines, join(root, 'examples', path), ...args], {
      env: { ...process.env, CAUSEWAY_URL: url },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  for (const picture of pictures) await draw(url, picture)
  if (chromiumPath === undefined)
    process.stderr.write('no pictures of the console: Chromium is not installed; set CAUSEWAY_CHROMIUM\n')
  else await captureConsole(url, { target, program: chromiumPath })
} finally {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}
