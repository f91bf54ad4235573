/** Measures the calls of Debrief and ToolVault against the targets of the original design and our budgets. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { widePlot } from '../packages/app-debrief/test/wide-plot.ts'
import { mebibyte } from './mebibyte.ts'
import type { Program } from './program.ts'
import { residentBytes } from './program.ts'
import { held, limitText, number, type Section } from './report.ts'

/** Targets of the original design: p50, p95 and maximum in milliseconds; null if it has none. */
type Target = readonly [p50: number, p95: number, longest: number] | null

const calls = 200
const workflows = 50
const sample = 'gibraltar.plot.json'
const wide = 'wide.plot.json'

/** Server settings without limits, because a workflow of the design exceeds the default limits. */
export const debriefSettings = (folder: string) => ({
  CAUSEWAY_PLOT_ROOTS: join(folder, 'plots'),
  CAUSEWAY_RATE_LIMITS: 'off',
})

/** Plots to measure: the sample with 17 features, and one of 46 MB. */
export function writeDebriefPlots(folder: string): void {
  const plots = join(folder, 'plots')
  mkdirSync(plots, { recursive: true })
  cpSync(join(import.meta.dirname, '../fixtures/plots', sample), join(plots, sample))
  writeFileSync(join(plots, wide), widePlot({ tracks: 1000, vertices: 1000 }))
}

/** Returns both tables. */
export async function measureDebrief(server: Program): Promise<readonly Section[]> {
  return [await small(server), await large(server)]
}

async function small({ url }: Program): Promise<Section> {
  const ask = asker(url)
  await ask('debrief_open_plot', { filename: sample })
  const { features } = await ask('debrief_get_features', { ids: ['point-2'], detail: 'full' })
  const [point] = features as { properties: object }[]
  const select = (ids: readonly string[]) => ask('debrief_set_selection', { selectedIds: ids })
  const rename = (turn: number) => ({
    ...point,
    properties: { ...point?.properties, name: `Contact ${turn}` },
  })
  await select(['track-a'])
  const rows = [
    row('get_selection', await times(calls, () => ask('debrief_get_selection')), [50, 100, 500], 20),
    row('get_features, summary', await times(calls, () => ask('debrief_get_features')), [100, 200, 1000]),
    row(
      'get_features, all of it by resource',
      await times(workflows, () => read(url, `plot://${sample}/features`)),
      [100, 200, 1000],
    ),
    row(
      'update_features',
      await times(calls, (turn) => ask('debrief_update_features', { features: [rename(turn)] })),
      [150, 300, 2000],
    ),
    row(
      'toolvault: word_count',
      await times(calls, () => ask('toolvault_word_count', { text: 'a b' })),
      [200, 500, 3000],
    ),
    row(
      'run_tool: track_stats of 781 fixes',
      await times(workflows, () => ask('debrief_run_tool', { tool: 'track_stats' })),
      [200, 500, 3000],
    ),
    row(
      'workflow: selection, vault, command',
      await times(
        workflows,
        async () => {
          const { selectedIds } = await ask('debrief_get_selection')
          const command = await ask('toolvault_delete_features', { ids: selectedIds })
          await ask('debrief_apply_command', { command })
        },
        () => ask('debrief_undo'),
      ),
      [2000, 5000, 10_000],
      500,
    ),
    row('event to a viewer', await eventTimes(url, ask), null, 100),
    row('render_map, 900 pixels', await times(10, () => ask('debrief_render_map')), null),
  ]
  await ask('debrief_close_plot', { filename: sample })
  return {
    title: 'Calls of Debrief',
    about: `The sample of 17 features and 3,353 vertices over POST /mcp, sequential; ${calls} calls, ${workflows} workflows and heavy calls, 10 pictures. Targets are those of the original design: p50 / p95 / longest.`,
    head: ['', 'p50', 'p95', 'longest', 'unit', 'targets', 'budget p95'],
    rows,
  }
}

async function large({ url, pid }: Program): Promise<Section> {
  const ask = asker(url)
  const health: number[] = []
  const before = performance.now()
  let openMs = 0
  const opening = ask('debrief_open_plot', { filename: wide }).then(() => {
    openMs = performance.now() - before
  })
  while (openMs === 0)
    health.push(await timed(async () => void (await (await fetch(`${url}/health`)).text())))
  await opening
  const named = { filename: wide }
  const { features } = await ask('debrief_get_features', { ...named, ids: ['track-500'], detail: 'full' })
  const [track] = features as { properties: object }[]
  const change = (turn: number) => ({
    ...track,
    properties: { ...track?.properties, stroke: `#0000${10 + (turn % 90)}` },
  })
  const edits = await times(20, (turn) =>
    ask('debrief_update_features', { ...named, features: [change(turn)] }),
  )
  const saves = await times(
    3,
    () => ask('debrief_save_plot', named),
    async (turn) => ask('debrief_update_features', { ...named, features: [change(turn + 50)] }),
  )
  const undos = await times(20, () => ask('debrief_undo', named))
  const mebibytes = (residentBytes(pid) ?? Number.NaN) / mebibyte
  await ask('debrief_close_plot', named)
  const one = (what: string, values: readonly number[], unit: string, most = Number.POSITIVE_INFINITY) => [
    what,
    number(quantile(values, 0.5)),
    held(quantile(values, 0.95), { most }),
    number(Math.max(...values)),
    unit,
    Number.isFinite(most) ? limitText({ most }) : '',
  ]
  return {
    title: 'A plot of 46 MB',
    about:
      'A thousand tracks of a thousand fixes with times, loaded in a worker; /health is requested repeatedly while it is opened.',
    head: ['', 'p50', 'p95', 'longest', 'unit', 'budget p95'],
    rows: [
      one('open', [openMs], 'ms', 4000),
      one('/health meanwhile', health, 'ms', 50),
      one('change of one feature in a thousand', edits, 'ms', 20),
      one('save', saves, 'ms'),
      one('undo', undos, 'ms', 20),
      one('memory of the server', [mebibytes], 'MiB'),
    ],
  }
}

/** Calls a tool by POST and returns its data. Names that start with `toolvault_` are ToolVault's, others Debrief's. */
function asker(url: string) {
  return async (name: string, args: object = {}): Promise<Record<string, unknown>> => {
    const path = name.startsWith('toolvault_') ? '/mcp/toolvault' : '/mcp/debrief'
    const params = { name, arguments: args }
    const { result } = await post(url + path, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    if (result?.isError !== false && result?.isError !== undefined) throw new Error(JSON.stringify(result))
    return result?.structuredContent ?? {}
  }
}

const read = async (url: string, uri: string): Promise<void> =>
  void (await post(`${url}/mcp/debrief`, {
    jsonrpc: '2.0',
    id: 1,
    method: 'resources/read',
    params: { uri },
  }))

interface Reply {
  readonly result?: { readonly isError?: boolean; readonly structuredContent?: Record<string, unknown> }
}

async function post(url: string, body: object): Promise<Reply> {
  const headers = { 'content-type': 'application/json', 'causeway-session': 'bench' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as Reply // an answer of our own server
}

/** Measures the time from a call that changes a plot to the event in its viewer, in milliseconds. */
async function eventTimes(url: string, ask: ReturnType<typeof asker>): Promise<readonly number[]> {
  const ending = new AbortController()
  const answer = await fetch(`${url}/api/apps/debrief/plots/${sample}/events`, { signal: ending.signal })
  let text = ''
  let wake = (): void => {}
  const reading = (async () => {
    for await (const part of answer.body ?? []) {
      text += Buffer.from(part).toString()
      wake()
    }
  })()
  reading.catch(() => {}) // aborted at the end
  const seen = async (what: string): Promise<void> => {
    while (!text.includes(what))
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  await seen('event: snapshot')
  const all = await times(workflows, async (turn) => {
    text = ''
    const event = seen(`"selectedIds":["point-${1 + (turn % 3)}"]`)
    await Promise.all([event, ask('debrief_set_selection', { selectedIds: [`point-${1 + (turn % 3)}`] })])
  })
  ending.abort()
  return all
}

/** Returns the duration of each run in milliseconds, without `after`. */
async function times(
  count: number,
  run: (turn: number) => Promise<unknown>,
  after?: (turn: number) => Promise<unknown>,
): Promise<readonly number[]> {
  const all: number[] = []
  for (let turn = 0; turn < count; turn += 1) {
    all.push(await timed(() => run(turn)))
    await after?.(turn)
  }
  return all
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const before = performance.now()
  await run()
  return performance.now() - before
}

function row(
  what: string,
  values: readonly number[],
  target: Target,
  most = Number.POSITIVE_INFINITY,
): readonly string[] {
  return [
    what,
    number(quantile(values, 0.5)),
    held(quantile(values, 0.95), { most }),
    number(Math.max(...values)),
    'ms',
    target === null ? '' : target.map((ms) => ms.toLocaleString('en')).join(' / '),
    Number.isFinite(most) ? limitText({ most }) : '',
  ]
}

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN
