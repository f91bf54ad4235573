import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import t from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import { verifies } from '../../../test/verifies.ts'
import { debriefCaches } from '../src/caches.ts'
import { liveEvents } from '../src/live.ts'
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

verifies('debrief:large', 'read, changed, saved and undone in a worker', async (t) => {
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
  t.ok(opened.file('wide') === text, 'byte for byte')
  t.match(await client.refusal('delete_features', { ids: ['nobody'] }), { code: 'FEATURE_NOT_FOUND' })
})

verifies('debrief:large', 'a plot that grows leaves this thread, with its history', async (t) => {
  const dir = emptyFolders(t)
  writeFileSync(join(dir, 'plots', filename), '{"type":"FeatureCollection","features":[]}')
  const opened = await openOver(t, dir)
  const client = opened.client()
  await client.ask('open_plot', { filename })
  const { features } = JSON.parse(widePlot({ tracks: 40, vertices: 700 }))
  await client.ask('add_features', { features: features.slice(0, 10) })
  t.match(opened.store.health(), { in_workers: 0 })
  await client.ask('add_features', { features: features.slice(10) })
  t.match(opened.store.health(), { in_workers: 1 }, 'a heavy command is not worked on here')
  await until(
    async () => opened.store.health(),
    ({ in_workers, unsaved }) => in_workers === 1 && unsaved === 0,
  )
  t.match(await client.ask('get_features', { limit: 1 }), { total: 40, rev: 3 })
  await client.ask('delete_features', { ids: ['track-0'] })
  await client.ask('undo')
  t.match(await client.ask('get_features', { limit: 1 }), { total: 40 })
})

verifies(
  'debrief:large',
  'one that nobody asks for is let go, and read again with all that was done',
  async (t) => {
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
  },
)

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
  t.same((await one.ask('list_plots')).plots, [], 'it is not open')

  const again = new AbortController()
  const first = one.call('open_plot', { filename }, { signal: again.signal })
  const second = other.ask('open_plot', { filename })
  const refusedAgain = t.rejects(first, { code: 'CANCELLED' })
  await begun(other)
  again.abort()
  await refusedAgain
  t.match(await second, { features: 200 }, 'another one goes on waiting')
  t.match((await one.ask('list_plots')).plots, [{ filename }])
  const done = other.progress.map(([bytes]) => bytes)
  t.same(
    done,
    done.toSorted((a, b) => a - b),
  )
  t.ok(other.progress.every(([bytes, total]) => total === 3 * text.length && bytes <= total))
  await other.ask('close_plot', { filename })
})

verifies('debrief:large:progress', 'whenever its caller gives up, a plot is open or it is not', async (t) => {
  const dir = emptyFolders(t)
  writeFileSync(join(dir, 'plots', filename), '{"type":"FeatureCollection","features":[]}')
  const opened = await openOver(t, dir)
  const client = opened.client()
  const ended: Record<string, number> = {}
  // Later each time, until the plot is faster than its caller.
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
})

verifies('debrief:resources', 'what is meant by the only open plot is announced too', async (t) => {
  const dir = emptyFolders(t)
  writeFileSync(join(dir, 'plots', filename), '{"type":"FeatureCollection","features":[]}')
  const { app, client: clientOf } = await openOver(t, dir)
  const client = clientOf()
  let heard = 0
  const told = (): readonly string[] => {
    const fresh = app.changes.slice(heard)
    heard = app.changes.length
    return fresh
  }
  await client.ask('open_plot', { filename })
  t.match(told(), ['resources', 'plots://list', 'plot://features', 'plot://selection'])
  await client.ask('set_viewport', { viewportState: { bounds: [-6, 35, -4, 37] } })
  t.same(told(), [`plot://${filename}/viewport`, 'plot://viewport'])
  await client.ask('close_plot', { filename })
  t.ok(told().includes('plot://time'))
})

/** Memory that Debrief gives back: plots are read again with all that was done to them, and views begin with a snapshot. */

const never = { settings: { plotSaveMs: 3_600_000 } }

const cacheOf = (store: Debrief, name: string) => {
  const cache = debriefCaches(store).find((one) => one.name === name)
  if (cache === undefined) throw new Error(`no cache ${name}`)
  return cache
}

/** A clock that a test puts forward: a plot that was just used is kept. */
const clock = () => {
  const state = { ms: Date.UTC(2026, 0, 1) }
  return { state, now: () => state.ms }
}

t.test(
  'caches: a plot that is given back is read again, with selection, changes and steps to undo',
  async (t) => {
    const { state, now } = clock()
    const client = await ask(t, 'sample', { ...never, now })
    const before = (await client.ask('get_features')).features
    await client.ask('delete_features', { ids: ['feature2'] })
    await client.ask('set_selection', { selectedIds: ['feature3'] })
    const plots = cacheOf(client.store, 'plots')
    const held = Number(await plots.bytes())
    t.ok(held > 0)
    t.equal(await plots.shrink(1), 0, 'what was used a moment ago stays')
    state.ms += 5000
    t.equal(await plots.shrink(1), held)
    t.equal(await plots.bytes(), 0)
    const answers = await Promise.all([client.ask('get_selection'), client.ask('get_features')])
    t.match(answers, [{ selectedIds: ['feature3'], rev: 3 }, { total: 5 }])
    await client.ask('undo')
    t.same((await client.ask('get_features')).features, before)
  },
)

t.test('caches: a question that meets the release of its plot is answered', async (t) => {
  const { state, now } = clock()
  const client = await ask(t, 'sample', { ...never, now })
  state.ms += 5000
  const plot = await client.store.find(undefined, undefined)
  const released = plot.release()
  const asked = Array.from({ length: 20 }, () => client.ask('get_features'))
  await released
  for (const answer of await Promise.all(asked)) t.equal(answer.total, 6)
})

t.test('a plot that another client closes meanwhile is told of by name, and is not read anew', async (t) => {
  const client = await ask(t, 'sample', never)
  const { store } = client
  const [{ filename } = { filename: '' }] = store.list()
  const plot = await store.find(filename, undefined)
  await client.ask('delete_features', { ids: ['feature2'] })
  await Promise.all([store.close(filename), plot.save(), plot.close()])
  const gone = { code: 'PLOT_NOT_FOUND', message: /closed meanwhile/ }
  await t.rejects(plot.read({ kind: 'state' }), gone)
  await t.rejects(plot.save(), gone)
  await client.ask('open_plot', { filename })
  t.equal((await client.ask('get_features')).total, 5, 'what was changed before is there')
})

t.test('caches: a plot with a step to undo that only memory has is kept', async (t) => {
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
  for (const name of ['plots', 'plot_workers']) t.equal(await cacheOf(client.store, name).shrink(1), 0, name)
  await client.ask('undo')
  t.equal((await client.ask('get_features')).total, 7)
})

t.test(
  'caches: events that are given back are missed by a view that comes later, which is told so',
  async (t) => {
    const live = liveEvents(1)
    for (let rev = 2; rev <= 11; rev += 1) live.tell(rev, 'patch', '"x":1')
    const each = live.characters / 10
    t.ok(live.shrink(3 * each) >= 3 * each)
    t.ok(live.characters <= 7 * each)
    const view = { send() {} }
    t.equal(live.listen(view, '2'), null)
    t.equal(live.listen(view, '6')?.length, 5)
    live.shrink(Number.POSITIVE_INFINITY)
    t.equal(live.characters, 0)
  },
)
