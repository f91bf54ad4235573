import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import t from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import { verifies } from '../../../test/verifies.ts'
import { PlotEvents } from '../src/live/plot-events.ts'
import type { Debrief } from '../src/store.ts'
import { ask, emptyFolders, openOver } from './debrief-kit.ts'
import { widePlot } from './wide-plot.ts'

const filename = 'wide.plot.json'

verifies('debrief:large', 'a worker applies 20,000 commands without positions', async (t) => {
  const dir = emptyFolders(t)
  writeFileSync(join(dir, 'plots', filename), widePlot({ tracks: 1, vertices: 2 }))
  const opened = await openOver(t, dir)
  const client = opened.client()
  await client.ask('open_plot', { filename })
  t.match(opened.store.health(), { in_workers: 0 })
  const command = { command: 'setSelection', payload: { selectedIds: [] } }
  await client.ask('apply_command', { command: Array.from({ length: 20_000 }, () => command) })
  t.match(opened.store.health(), { in_workers: 1 })
})

verifies('debrief:large', 'a worker reads, changes and saves a plot, and undoes changes', async (t) => {
  const dir = emptyFolders(t)
  const text = widePlot({ tracks: 40, vertices: 700 })
  writeFileSync(join(dir, 'plots', filename), text)
  const opened = await openOver(t, dir)
  const client = opened.client()
  t.match(await client.ask('open_plot', { filename }), { features: 40, size_bytes: text.length })
  t.match(opened.store.health(), { open_plots: 1, in_workers: 1 })
  await client.ask('delete_features', { ids: ['track-3', 'track-30'] })
  t.match(await client.ask('get_features'), { total: 38 })
  await client.ask('save_plot')
  t.equal(JSON.parse(opened.file('wide')).features.length, 38)
  await client.ask('undo')
  await client.ask('save_plot')
  t.ok(opened.file('wide') === text, 'restores the file byte for byte')
  t.match(await client.refusal('delete_features', { ids: ['unknown'] }), { code: 'FEATURE_NOT_FOUND' })
})

verifies('debrief:large', 'a growing plot moves to a worker with its history', async (t) => {
  const dir = emptyFolders(t)
  writeFileSync(join(dir, 'plots', filename), '{"type":"FeatureCollection","features":[]}')
  const opened = await openOver(t, dir)
  const client = opened.client()
  await client.ask('open_plot', { filename })
  const { features } = JSON.parse(widePlot({ tracks: 40, vertices: 700 }))
  await client.ask('add_features', { features: features.slice(0, 10) })
  t.match(opened.store.health(), { in_workers: 0 })
  await client.ask('add_features', { features: features.slice(10) })
  t.match(opened.store.health(), { in_workers: 1 }, 'a worker applies an expensive command')
  await until(
    async () => opened.store.health(),
    ({ in_workers, unsaved }) => in_workers === 1 && unsaved === 0,
  )
  t.match(await client.ask('get_features', { limit: 1 }), { total: 40, rev: 3 })
  await client.ask('delete_features', { ids: ['track-0'] })
  await client.ask('undo')
  t.match(await client.ask('get_features', { limit: 1 }), { total: 40 })
})

verifies('debrief:large', 'an idle plot is released and loaded again with all changes', async (t) => {
  const dir = emptyFolders(t)
  writeFileSync(join(dir, 'plots', filename), widePlot({ tracks: 40, vertices: 700 }))
  let now = Date.now()
  const opened = await openOver(t, dir, { settings: { plotCheckMs: 50 }, now: () => now })
  const client = opened.client()
  await client.ask('open_plot', { filename })
  await client.ask('delete_features', { ids: ['track-3'] })
  await client.ask('set_selection', { selectedIds: ['track-7'] })
  now += 700_000
  await until(
    async () => opened.store.health(),
    ({ in_workers }) => in_workers === 0,
  )
  t.equal(JSON.parse(opened.file('wide')).features.length, 39)
  t.match(await client.ask('get_features', { limit: 1 }), { total: 39, rev: 3 })
  t.match(await client.ask('get_selection'), { selectedIds: ['track-7'] })
  await client.ask('undo')
  t.match(await client.ask('get_features', { limit: 1 }), { total: 40 })
})

verifies('debrief:large:progress', async (t) => {
  const dir = emptyFolders(t)
  const text = widePlot({ tracks: 200, vertices: 700 })
  writeFileSync(join(dir, 'plots', filename), text)
  const opened = await openOver(t, dir)
  const [one, other] = [opened.client(), opened.client()]
  const giveUp = new AbortController()
  const begun = async (client: typeof one) =>
    until(
      async () => client.progress.length,
      (reports) => reports > 0,
    )
  const given = one.call('open_plot', { filename }, { signal: giveUp.signal })
  const refused = t.rejects(given, { code: 'CANCELLED' })
  await begun(one)
  giveUp.abort()
  await refused
  t.same((await one.ask('list_plots')).plots, [], 'a cancelled call does not open the plot')

  const again = new AbortController()
  const first = one.call('open_plot', { filename }, { signal: again.signal })
  const second = other.ask('open_plot', { filename })
  const refusedAgain = t.rejects(first, { code: 'CANCELLED' })
  await begun(other)
  again.abort()
  await refusedAgain
  t.match(await second, { features: 200 }, 'the other caller still receives the plot')
  t.match((await one.ask('list_plots')).plots, [{ filename }])
  const done = other.progress.map(([bytes]) => bytes)
  t.same(
    done,
    done.toSorted((a, b) => a - b),
  )
  t.ok(other.progress.every(([bytes, total]) => total === 3 * text.length && bytes <= total))
  await other.ask('close_plot', { filename })
})

verifies(
  'debrief:large:progress',
  'a plot can be opened and saved after a cancellation at any time during open_plot',
  async (t) => {
    const dir = emptyFolders(t)
    writeFileSync(join(dir, 'plots', filename), '{"type":"FeatureCollection","features":[]}')
    const opened = await openOver(t, dir)
    const client = opened.client()
    const ended: Record<string, number> = {}
    // Each round cancels later, until the plot opens before the cancellation.
    for (let round = 0; round < 45 && ended.open === undefined; round += 1) {
      const turns = Math.floor(1.3 ** round)
      const giveUp = new AbortController()
      const opening = client.call('open_plot', { filename }, { signal: giveUp.signal }).then(
        () => 'open',
        ({ code }) => String(code),
      )
      for (let turn = 0; turn < turns; turn += 1) await turnOfLoop()
      giveUp.abort()
      const end = await opening
      ended[end] = (ended[end] ?? 0) + 1
      await client.ask('open_plot', { filename })
      t.match(await client.ask('set_viewport', { viewportState: { bounds: [round, 35, round + 1, 37] } }), {
        filename,
      })
      t.match(
        await client.ask('save_plot', { filename }),
        { dirty: false },
        `no other hand, after ${turns} turns`,
      )
      await client.ask('close_plot', { filename })
      t.same((await client.ask('list_plots')).plots, [])
    }
    t.ok((ended.CANCELLED ?? 0) > 0 && (ended.open ?? 0) > 0, JSON.stringify(ended))
  },
)

verifies(
  'debrief:resources',
  'changes of the only open plot are also reported for its short URIs',
  async (t) => {
    const dir = emptyFolders(t)
    writeFileSync(join(dir, 'plots', filename), '{"type":"FeatureCollection","features":[]}')
    const { app, client: createClient } = await openOver(t, dir)
    const client = createClient()
    let seen = 0
    const takeChanges = (): readonly string[] => {
      const fresh = app.changes.slice(seen)
      seen = app.changes.length
      return fresh
    }
    await client.ask('open_plot', { filename })
    t.match(takeChanges(), ['resources', 'plots://list', 'plot://features', 'plot://selection'])
    await client.ask('set_viewport', { viewportState: { bounds: [-6, 35, -4, 37] } })
    t.same(takeChanges(), [`plot://${filename}/viewport`, 'plot://viewport'])
    await client.ask('close_plot', { filename })
    t.ok(takeChanges().includes('plot://time'))
  },
)

const never = { settings: { plotSaveMs: 3_600_000 } }

const findCache = (store: Debrief, name: string) => {
  const cache = store.caches().find((one) => one.name === name)
  if (cache === undefined) throw new Error(`no cache ${name}`)
  return cache
}

/** A manual clock, because recently used plots are not evicted. */
const clock = () => {
  const state = { ms: Date.UTC(2026, 0, 1) }
  return { state, now: () => state.ms }
}

t.test('an evicted plot is loaded again with selection, changes and undo steps', async (t) => {
  const { state, now } = clock()
  const client = await ask(t, 'sample', { ...never, now })
  const before = (await client.ask('get_features')).features
  await client.ask('delete_features', { ids: ['feature2'] })
  await client.ask('set_selection', { selectedIds: ['feature3'] })
  const plots = findCache(client.store, 'plots')
  const held = Number(await plots.bytes())
  t.ok(held > 0)
  t.equal(await plots.shrink(1), 0, 'does not evict a plot that was just used')
  state.ms += 5000
  t.equal(await plots.shrink(1), held)
  t.equal(await plots.bytes(), 0)
  const answers = await Promise.all([client.ask('get_selection'), client.ask('get_features')])
  t.match(answers, [{ selectedIds: ['feature3'], rev: 3 }, { total: 5 }])
  await client.ask('undo')
  t.same((await client.ask('get_features')).features, before)
})

t.test('a query returns its result even if its plot is released meanwhile', async (t) => {
  const { state, now } = clock()
  const client = await ask(t, 'sample', { ...never, now })
  state.ms += 5000
  const plot = await client.store.find(undefined, undefined)
  const released = plot.release()
  const asked = Array.from({ length: 20 }, () => client.ask('get_features'))
  await released
  for (const answer of await Promise.all(asked)) t.equal(answer.total, 6)
})

t.test('a call on a plot that another client closes fails and does not load the plot again', async (t) => {
  const client = await ask(t, 'sample', never)
  const { store } = client
  const [{ filename } = { filename: '' }] = store.list()
  const plot = await store.find(filename, undefined)
  await client.ask('delete_features', { ids: ['feature2'] })
  await Promise.all([store.close(filename), plot.save(), plot.close()])
  const gone = { code: 'PLOT_NOT_FOUND', message: /closed by another client/ }
  await t.rejects(plot.read({ kind: 'state' }), gone)
  await t.rejects(plot.save(), gone)
  await client.ask('open_plot', { filename })
  t.equal((await client.ask('get_features')).total, 5, 'earlier changes are saved')
})

t.test('a plot with an undo step that is only in memory is not evicted', async (t) => {
  const { state, now } = clock()
  const client = await ask(t, 'sample', { ...never, now })
  const large = {
    type: 'Feature',
    id: 'large',
    properties: { dataType: 'reference-point', name: 'x'.repeat(2 ** 20 + 1) },
    geometry: { type: 'Point', coordinates: [1, 50] },
  }
  await client.ask('add_features', { features: [large] })
  t.match(client.store.health(), { in_workers: 1 })
  await client.ask('delete_features', { ids: ['large'] })
  state.ms += 5000
  for (const name of ['plots', 'plot_workers'])
    t.equal(await findCache(client.store, name).shrink(1), 0, name)
  await client.ask('undo')
  t.equal((await client.ask('get_features')).total, 7)
})

t.test('a viewer that resumes after evicted events receives a snapshot', async (t) => {
  const live = new PlotEvents(1)
  for (let rev = 2; rev <= 11; rev += 1) live.emit(rev, 'patch', '"x":1')
  const each = live.characters / 10
  t.ok(live.shrink(3 * each) >= 3 * each)
  t.ok(live.characters <= 7 * each)
  const view = () => {}
  t.equal(live.subscribe(view, '2'), null)
  t.equal(live.subscribe(view, '6')?.length, 5)
  live.shrink(Number.POSITIVE_INFINITY)
  t.equal(live.characters, 0)
})
