/** Memory that Debrief gives back: plots are read again with all that was done to them, and views begin with a snapshot. */
import t from 'tap'
import { debriefCaches } from '../src/caches.ts'
import { liveEvents } from '../src/live.ts'
import type { Debrief } from '../src/store.ts'
import { ask } from './debrief-kit.ts'

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
