import { createHash } from 'node:crypto'
import { chmodSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import { verifies } from '../../../test/verifies.ts'
import { ask, type Client, type OpenDebrief, openDebrief } from './debrief-kit.ts'

/** Nothing is saved by itself within a test. */
const never = { settings: { plotSaveMs: 3_600_000, plotCheckMs: 60_000 } }
const filename = 'sample.plot.json'

const point = (id: string) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [-1.2, 50.4] },
  properties: { dataType: 'reference-point', name: id },
})
const _idsOf = async (client: Client): Promise<unknown> =>
  (await client.ask('get_features')).features.map(({ id }: { id: string }) => id)
/** Another program edits the file: one name becomes another. */
const editOutside = (opened: OpenDebrief, from: string, to: string): void =>
  writeFileSync(join(opened.folder, filename), opened.file('sample').replace(from, to))

verifies('debrief:save:soon', async (t) => {
  const client = await ask(t, 'sample')
  chmodSync(join(client.folder, filename), 0o640)
  await client.ask('add_features', { features: [point('new')] })
  await until(
    async () => client.file('sample'),
    (text) => text.includes('"new"'),
  )
  t.equal(JSON.parse(client.file('sample')).features.length, 7)
  t.equal(statSync(join(client.folder, filename)).mode & 0o777, 0o640)
  t.same(readdirSync(client.folder), [filename])
  t.match(await client.ask('get_selection'), { dirty: false, rev: 2 })
})

verifies('debrief:save:soon', 'what a stopped server left beside the file is removed', async (t) => {
  const opened = await openDebrief(t, ['sample'])
  const mark = createHash('sha256').update(filename).digest('hex').slice(0, 12)
  const stale = `.causeway-${mark}-4194399-0123456789ab.tmp`
  writeFileSync(join(opened.folder, stale), 'half')
  await opened.client().ask('open_plot', { filename })
  t.same(readdirSync(opened.folder), [filename])
})

t.test('save_plot: a selection is not in the file, so its bytes and time stay', async (t) => {
  const client = await ask(t, 'sample')
  const { mtimeMs } = statSync(join(client.folder, filename))
  const before = client.file('sample')
  t.match(await client.ask('set_selection', { selectedIds: ['feature1'] }), { dirty: false })
  await client.ask('save_plot')
  t.equal(client.file('sample'), before)
  t.equal(statSync(join(client.folder, filename)).mtimeMs, mtimeMs)
})

verifies('debrief:external:clean', async (t) => {
  const client = await ask(t, 'sample')
  editOutside(client, 'HMS Illustrious', 'HMS Victorious')
  const { features, rev } = await client.ask('get_features')
  t.equal(features[0].name, 'HMS Victorious')
  t.equal(rev, 2)
  t.ok(client.app.changes.includes('plot://sample.plot.json/features'))
  await client.ask('undo')
  t.equal((await client.ask('get_features')).features[0].name, 'HMS Illustrious')
})

verifies('debrief:external:clean', 'also without a call: the file is looked at', async (t) => {
  const client = await ask(t, 'sample', { settings: { plotCheckMs: 50 } })
  editOutside(client, 'HMS Illustrious', 'HMS Victorious')
  await until(
    async () => client.app.changes,
    (changes) => changes.includes('plot://sample.plot.json/features'),
  )
  t.pass('views are told')
})

t.test('external: other white space alone is no change', async (t) => {
  const client = await ask(t, 'sample')
  writeFileSync(join(client.folder, filename), JSON.stringify(JSON.parse(client.file('sample'))))
  t.match(await client.ask('get_selection'), { rev: 1, dirty: false })
  await client.ask('delete_features', { ids: ['feature6'] })
  await client.ask('save_plot')
  t.notMatch(client.file('sample'), /\n/, 'the new form is kept')
})

verifies('debrief:external:conflict', async (t) => {
  const client = await ask(t, 'sample', never)
  const conflict = async (): Promise<string> => {
    await client.ask('add_features', { features: [point(`p${Math.random()}`)] })
    editOutside(client, '"name": "Nab Tower', `"name": "Nab Tower ${Math.random()}`)
    t.match(await client.refusal('save_plot'), {
      code: 'PLOT_CONFLICT',
      data: { filename, ours: { rev: Number }, theirs: { sha256: String } },
    })
    t.match(await client.ask('get_selection'), { file: 'conflict', dirty: true })
    return client.file('sample')
  }
  const theirs = await conflict()
  t.equal((await client.ask('get_features')).total, 7)
  t.match(await client.ask('save_plot', { on_conflict: 'overwrite' }), { dirty: false })
  t.not(client.file('sample'), theirs)
  t.equal(JSON.parse(client.file('sample')).features.length, 7)

  const second = await conflict()
  t.match(await client.ask('save_plot', { on_conflict: 'reload' }), { dirty: false })
  t.equal(client.file('sample'), second, 'their bytes are there')
  t.equal((await client.ask('get_features')).total, 7)
  await client.ask('undo')
  t.equal((await client.ask('get_features')).total, 8, 'ours is an undo away')
  await client.ask('save_plot')

  const third = await conflict()
  t.match(await client.refusal('save_plot', { on_conflict: 'save_as' }), { code: 'INVALID_ARGUMENTS' })
  t.match(await client.refusal('save_plot', { on_conflict: 'save_as', new_filename: filename }), {
    code: 'PLOT_EXISTS',
  })
  await client.ask('save_plot', { on_conflict: 'save_as', new_filename: 'ours.plot.json' })
  t.equal(client.file('sample'), third)
  t.equal(JSON.parse(client.file('ours')).features.length, 9)
})

verifies('debrief:external:invalid', async (t) => {
  const client = await ask(t, 'sample', never)
  const path = join(client.folder, filename)
  const good = client.file('sample')
  writeFileSync(path, good.slice(0, 200))
  t.match(await client.ask('get_features'), { total: 6, file: 'invalid', file_message: String })
  await client.ask('delete_features', { ids: ['feature6'] })
  t.match(await client.refusal('save_plot'), { code: 'PLOT_CONFLICT' })
  t.equal(client.file('sample'), good.slice(0, 200))
  await client.ask('save_plot', { on_conflict: 'overwrite' })
  t.equal(JSON.parse(client.file('sample')).features.length, 5)

  rmSync(path)
  t.match(await client.ask('get_features'), { total: 5, file: 'missing' })
  t.match(await client.refusal('save_plot'), { code: 'PLOT_CONFLICT' })
  await client.ask('save_plot', { on_conflict: 'overwrite' })
  t.equal(JSON.parse(client.file('sample')).features.length, 5)

  writeFileSync(path, good.slice(0, 100))
  t.match(await client.ask('get_selection'), { file: 'invalid' })
  writeFileSync(path, good)
  t.match(await client.ask('get_features'), { total: 6 }, 'a repaired file is read')
})

verifies('debrief:names', 'links, folders and near names are not found', async (t) => {
  const opened = await openDebrief(t, ['mission1'])
  const outside = join(opened.dir, 'outside.plot.json')
  writeFileSync(outside, '{"type":"FeatureCollection","features":[]}')
  symlinkSync(outside, join(opened.folder, 'link.plot.json'))
  symlinkSync(join(opened.dir, 'data', 'none.plot.json'), join(opened.folder, 'nowhere.plot.json'))
  const client = opened.client()
  for (const name of ['link.plot.json', 'nowhere.plot.json', '1.plot.json', 'Mission1.plot.json'])
    t.match(await client.refusal('open_plot', { filename: name }), { code: 'PLOT_NOT_FOUND' }, name)
  t.match(await client.refusal('open_plot', { filename: '../outside.plot.json' }), {
    code: 'INVALID_FILENAME',
  })
  t.match(await client.refusal('get_features', { filename: 'mission1.plot.json' }), {
    code: 'PLOT_NOT_FOUND',
    remedy: /open_plot/,
  })
  t.same(readdirSync(opened.dir).sort(), ['data', 'outside.plot.json', 'plots'])
})
