import { mock } from 'node:test'
import { setImmediate as turn, setImmediate as turnOfLoop } from 'node:timers/promises'
import { WorkerPool } from '@causeway/worker'
import t, { type Test } from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import { verifies } from '../../../test/verifies.ts'
import { ChartRenderer } from '../src/chart/chart-renderer.ts'
import { createEventStream } from '../src/live/event-stream.ts'
import { PlotEvents } from '../src/live/plot-events.ts'
import type { Plot } from '../src/plot/plot.ts'
import { ask, createVault, type Data } from './debrief-kit.ts'

interface Seen {
  readonly id: string
  readonly event: string
  readonly data: Data
}

function view(t: Test, plot: Plot, since: string | null = null): { readonly seen: Seen[]; leave(): void } {
  const ending = new AbortController()
  const seen: Seen[] = []
  t.teardown(() => ending.abort())
  void (async () => {
    let rest = ''
    for await (const part of createEventStream(plot, since, ending.signal)) {
      rest += Buffer.from(part).toString()
      const frames = rest.split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) {
        const fields = Object.fromEntries(frame.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))
        if (fields.event !== undefined) seen.push({ ...fields, data: JSON.parse(fields.data) } as Seen)
      }
    }
  })()
  return { seen, leave: () => ending.abort() }
}

const names = (seen: readonly Seen[]): readonly string[] => seen.map(({ event }) => event)
const have = (seen: readonly Seen[], count: number) =>
  until(
    async () => seen.length,
    (length) => length >= count,
  )

verifies('debrief:events', async (t) => {
  const client = await ask(t, 'sample', { settings: { plotSaveMs: 3_600_000 } })
  const plot = await client.store.find(undefined, undefined)
  const first = view(t, plot)
  await have(first.seen, 1)
  t.match(first.seen[0], {
    event: 'snapshot',
    data: { rev: 1, features: Array, selectedIds: [], dirty: false },
  })
  t.equal(first.seen[0]?.data.features.length, 6)

  await client.ask('set_selection', { selectedIds: ['feature1'] })
  await client.ask('delete_features', { ids: ['feature1', 'feature2'] })
  const { features } = await client.ask('get_features', { ids: ['feature4'], detail: 'full' })
  const [track] = features
  await client.ask('update_features', {
    features: [{ ...track, properties: { ...track.properties, stroke: '#FF0000' } }],
  })
  await client.ask('notify', { message: 'Look' })
  await have(first.seen, 6)
  t.same(names(first.seen), ['snapshot', 'selection', 'patch', 'selection', 'patch', 'notice'])
  t.match(first.seen[2]?.data, {
    rev: 3,
    removed: ['feature1', 'feature2'],
    removed_at: [0, 1],
    origin: { client: 'test', request: String },
  })
  t.match(first.seen[4]?.data.updated, [{ id: 'feature4', properties: { stroke: '#FF0000' } }])
  t.notOk('geometry' in (first.seen[4]?.data.updated[0] ?? {}), 'omits an unchanged geometry')
  t.match(first.seen[5]?.data.notice, { kind: 'log', message: 'Look', level: 'info' })

  const again = view(t, plot, first.seen[2]?.id ?? '')
  await have(again.seen, 3)
  t.same(again.seen, first.seen.slice(3), 'resumes after the last id')
  const current = view(t, plot, first.seen.at(-1)?.id ?? '')
  await client.ask('undo')
  await have(current.seen, 1)
  t.same(names(current.seen), ['patch'])
  for (const since of ['0', '99999']) {
    const lost = view(t, plot, since)
    await have(lost.seen, 1)
    t.match(lost.seen, [{ event: 'snapshot', data: { rev: 5 } }], `since ${since}`)
  }
  first.leave()
  current.leave()
  await until(
    async () => plot.live.listenerCount,
    (count) => count <= 3,
  )
})

t.test('PlotEvents evicts the oldest events by number and size', async (t) => {
  const live = new PlotEvents(1)
  const ignore = () => {}
  for (let rev = 2; rev <= 300; rev += 1) live.emit(rev, 'patch', '"x":1')
  t.equal(live.subscribe(ignore, '10'), null)
  t.equal(live.subscribe(ignore, '290')?.length, 10)
  t.same(live.subscribe(ignore, '300'), [])
  for (let rev = 301; rev <= 304; rev += 1) live.emit(rev, 'patch', `"x":"${'y'.repeat(3 * 2 ** 20)}"`)
  t.equal(live.subscribe(ignore, '300'), null)
  t.equal(live.subscribe(ignore, '302')?.length, 2)
})

verifies('debrief:events:slow', async (t) => {
  const client = await ask(t, 'sample', { settings: { plotSaveMs: 3_600_000 } })
  const plot = await client.store.find(undefined, undefined)
  const ending = new AbortController()
  const reader = createEventStream(plot, '1', ending.signal).getReader()
  const next = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString()
  t.match(await next(), /retry/)
  await client.ask('notify', { message: 'first' })
  for (let count = 0; count < 6; count += 1) {
    const image = { mediaType: 'image/png', data: 'A'.repeat(2 * 2 ** 20) }
    await client.ask('apply_command', { command: { command: 'showImage', payload: image } })
  }
  await turn()
  const read: string[] = []
  while (!read.at(-1)?.includes('event: snapshot')) read.push((await next()).slice(0, 60))
  t.match(read[0], /notice/)
  t.ok(read.length <= 6, `${read.length} events, then the snapshot`)
  await client.ask('notify', { message: 'after' })
  t.match(await next(), /"after"/, 'sends further events after the snapshot')
  ending.abort()
})

const selection = { from: 'selection', kinds: ['any'], min: 1, max: null }

verifies('debrief:run-tool', async (t) => {
  const calls: Data[] = []
  const noted = (args: Data) => {
    calls.push(args)
    return { command: 'showText', payload: 'done' }
  }
  const call = createVault({
    delete_features: {
      inject: { features: selection },
      run: ({ features }) => ({ command: 'deleteFeatures', payload: features.map(({ id }: Data) => id) }),
    },
    look: {
      inject: {
        collection: { from: 'collection' },
        track: { from: 'track' },
        view: { from: 'viewport' },
        time: { from: 'time' },
      },
      run: noted,
    },
    tracks: { inject: { tracks: { from: 'selection', kinds: ['track'], min: 1, max: 1 } }, run: noted },
  })
  const client = await ask(t, 'sample', { call })
  t.match(await client.ask('list_applicable_tools'), {
    tools: [{ name: 'look' }],
    not_applicable: [{ name: 'delete_features' }, { name: 'tracks' }],
  })
  await client.ask('set_selection', { selectedIds: ['feature1', 'feature4'] })
  t.match(await client.ask('list_applicable_tools'), { tools: [{}, {}, {}], not_applicable: [] })

  await client.ask('run_tool', { tool: 'look' })
  t.match(calls[0], {
    collection: { type: 'FeatureCollection', features: [{ id: 'feature1' }, { id: 'feature4' }] },
    track: { id: 'feature4' },
    view: { bounds: [Number, Number, Number, Number] },
    time: { start: '2024-01-01T00:00:00Z' },
  })
  await client.ask('run_tool', {
    tool: 'look',
    args: { track: { mine: true }, view: { bounds: [1, 2, 3, 4] } },
  })
  t.match(calls[1], { track: { mine: true }, view: { bounds: [1, 2, 3, 4] } })
  await client.ask('run_tool', { tool: 'tracks' })
  t.match(calls[2], { tracks: [{ id: 'feature4' }] })

  t.match(await client.ask('run_tool', { tool: 'delete-features', apply: false }), {
    command: { command: 'deleteFeatures', payload: ['feature1', 'feature4'] },
    rev: 2,
  })
  t.match(await client.ask('run_tool', { tool: 'toolvault_delete_features' }), {
    rev: 3,
    featuresAffected: 2,
    from_plot: ['features'],
    feature_count: 4,
  })
  await client.ask('undo')
  t.match(await client.ask('get_selection'), { selectedIds: ['feature1', 'feature4'] })
  t.match(await client.refusal('run_tool', { tool: 'nothing' }), {
    code: 'UNKNOWN_TOOL',
    data: { tools: ['delete_features', 'look', 'tracks'] },
  })
})

verifies('debrief:run-tool:fence', async (t) => {
  let runs = 0
  const client = await ask(t, 'sample', {
    call: createVault({
      slow: {
        inject: { collection: { from: 'collection' } },
        async run({ collection }) {
          runs += 1
          if (runs === 1) await client.ask('delete_features', { ids: ['feature6'] })
          return { command: 'showText', payload: `saw ${collection.features.length}` }
        },
      },
    }),
  })
  t.match(await client.ask('run_tool', { tool: 'slow' }), { notices: [{ text: 'saw 5' }] })
  t.equal(runs, 2)
})

t.test('run_tool changes nothing if the command is invalid', async (t) => {
  const call = createVault({
    wrong: { run: () => ({ command: 'deleteFeatures', payload: ['feature1', 'unknown'] }) },
  })
  const client = await ask(t, 'sample', { call })
  t.match(await client.refusal('run_tool', { tool: 'wrong' }), { code: 'FEATURE_NOT_FOUND' })
  t.match(await client.ask('get_features'), { rev: 1, total: 6 })
})

t.test('the summary of run_tool ends with one period, or with an ellipsis if truncated', async (t) => {
  const say = (payload: string) => ({ run: () => ({ command: 'showText', payload }) })
  const call = createVault({
    plain: say('Word count: 2'),
    ended: say('Nothing found.'),
    long: say('a'.repeat(900)),
  })
  const client = await ask(t, 'sample', { call })
  t.equal((await client.ask('run_tool', { tool: 'plain' })).summary, 'Applied: Word count: 2.')
  t.equal((await client.ask('run_tool', { tool: 'ended' })).summary, 'Applied: Nothing found.')
  t.match((await client.ask('run_tool', { tool: 'long' })).summary, /a …$/)
})

t.test('ChartRenderer releases the coastline when idle and loads it again for the next chart', async (t) => {
  const renderer = new ChartRenderer({ warn: () => undefined }, { idleMs: 1 })
  t.teardown(() => renderer.close())
  const { signal } = new AbortController()
  const data = { bounds: [-6, 35, -4, 37], drawables: [], hiddenCount: 0, totalCount: 0, time: null } as const
  for (const attempt of ['first', 'second']) {
    const { png } = await renderer.render({ data, title: 'Sea', width: 300 }, { clientKey: 'test', signal })
    t.ok(png.length > 500, attempt)
    while (renderer.isLoaded) await turnOfLoop()
  }
})

t.test('ChartRenderer passes the client to the worker pool', async (t) => {
  const call = mock.method(WorkerPool.prototype, 'call')
  t.teardown(() => call.mock.restore())
  const renderer = new ChartRenderer({ warn: () => undefined })
  t.teardown(() => renderer.close())
  const data = { bounds: [-6, 35, -4, 37], drawables: [], hiddenCount: 0, totalCount: 0, time: null } as const
  const caller = { clientKey: 'one', signal: new AbortController().signal }
  await renderer.render({ data, title: 'Sea', width: 300 }, caller)
  t.match(
    call.mock.calls.map(({ arguments: [, , options] }) => options),
    [{ client: 'one' }],
  )
})
