import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openForTest } from '@causeway/app-kit/testing'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import debrief from '../src/index.ts'
import { Journal } from '../src/journal/journal.ts'
import { ask, openDebrief, openOver } from './debrief-kit.ts'
import { widePlot } from './wide-plot.ts'

const never = { settings: { plotSaveMs: 3_600_000 } }
const filename = 'sample.plot.json'

verifies('debrief:undo:restart', async (t) => {
  const opened = await ask(t, 'sample')
  const before = opened.file('sample')
  await opened.ask('delete_features', { ids: ['feature2', 'feature5'] })
  await opened.ask('set_selection', { selectedIds: ['feature3'] })
  const later = await opened.again()
  const client = later.client()
  t.match(await client.ask('get_selection'), { selectedIds: ['feature3'], rev: 3 })
  await client.ask('undo')
  await client.ask('save_plot')
  t.equal(later.file('sample'), before)
  t.match(await client.ask('redo'), { rev: 5, steps: 1 })
})

verifies(
  'debrief:undo:restart',
  'compressed changes of long tracks can be undone after a restart',
  async (t) => {
    const opened = await openDebrief(t, [], never)
    const file = join(opened.folder, 'wide.plot.json')
    writeFileSync(file, widePlot({ tracks: 2, vertices: 400 }))
    const client = opened.client()
    await client.ask('open_plot', { filename: 'wide.plot.json' })
    const { features } = await client.ask('get_features', { ids: ['track-1'], detail: 'full' })
    const named = (name: string) => ({
      features: [{ ...features[0], properties: { ...features[0].properties, name } }],
    })
    await client.ask('update_features', named('First'))
    await client.ask('update_features', named('Second'))
    await client.ask('undo')
    await opened.app.close()
    const journal = new Journal(join(opened.dir, 'data'), { now: Date.now })
    t.match(await journal.listEntries(file), [
      { patch: /^z/, isUndone: false },
      { patch: /^z/, isUndone: true },
    ])
    journal.close()
    const later = await opened.again()
    const again = later.client()
    const name = async () => (await again.ask('get_features', { ids: ['track-1'] })).features[0].name
    t.equal(await name(), 'First', 'applies changes that the file does not contain')
    await again.ask('redo')
    t.equal(await name(), 'Second')
    t.match(await again.ask('undo', { steps: 2 }), { steps: 2 })
    t.equal(await name(), 'Track 1')
  },
)

t.test('a file that was changed while the server was stopped begins a new history', async (t) => {
  const opened = await ask(t, 'sample')
  await opened.ask('delete_features', { ids: ['feature2'] })
  await opened.ask('save_plot')
  await opened.ask('close_plot', { filename })
  writeFileSync(join(opened.folder, filename), opened.file('sample').replace('Nab Tower', 'No Man'))
  const client = opened.client()
  const { rev } = await client.ask('open_plot', { filename })
  t.ok(rev > 2, 'continues the revisions')
  t.match(await client.refusal('undo'), { code: 'NOTHING_TO_UNDO', data: { undo: { features: 0 } } })
})

verifies('debrief:repeat', async (t) => {
  const opened = await ask(t, 'sample')
  const by = { requestId: 'one', client: { name: 'test' } }
  const call = {
    change: { kind: 'commands' as const, commands: { command: 'addFeatures', payload: [point()] } },
    createResult: (made: { features: number }, { rev }: { rev: number }) => ({
      rev,
      features: made.features,
    }),
  }
  const plot = await opened.store.find(filename, undefined)
  t.same(await plot.change(by, call), { rev: 2, features: 7 })
  t.same(await plot.change(by, call), { rev: 2, features: 7 })
  t.equal(plot.getStatus().rev, 2)
  await opened.app.close()
  const later = await openOver(t, opened.dir).then(({ store }) => store.find(filename, undefined))
  t.same(await later.change(by, call), { rev: 2, features: 7 })
  t.same(await later.change({ ...by, requestId: 'two' }, call), { rev: 3, features: 8 })
})

const point = () => ({ type: 'Feature', geometry: { type: 'Point', coordinates: [0, 50] }, properties: {} })

verifies('debrief:fence', async (t) => {
  const client = await ask(t, 'sample')
  t.match(await client.ask('delete_features', { ids: ['feature1'], if_rev: 1 }), { rev: 2 })
  t.match(await client.refusal('delete_features', { ids: ['feature2'], if_rev: 1 }), {
    code: 'REV_MISMATCH',
    data: { current_rev: 2 },
  })
  t.equal((await client.ask('get_features')).total, 5)
})

t.test('each transaction is stored as one audit row with its revisions and at most twenty ids', async (t) => {
  const opened = await openDebrief(t, ['sample'])
  const client = opened.client()
  await client.ask('open_plot', { filename })
  await client.ask('add_features', { features: Array.from({ length: 30 }, point) })
  await client.ask('delete_features', { ids: ['feature1'] })
  await client.ask('delete_features', { ids: [] })
  await opened.app.close()
  const db = new BetterSqlite3(join(opened.dir, 'data', 'debrief.db'), { readonly: true })
  const rows = db.prepare<[], { readonly ids: string }>('SELECT * FROM audit ORDER BY id').all()
  db.close()
  t.match(rows, [
    { rev_before: 1, rev_after: 2, actor: 'test', kind: 'commands', label: 'added 30 features' },
    { rev_before: 2, rev_after: 3, label: 'deleted 1 feature', ids: '["feature1"]' },
  ])
  t.equal(rows.length, 2)
  t.equal(JSON.parse(rows[0]?.ids ?? '').length, 20)
})

verifies('debrief:composite', async (t) => {
  const client = await ask(t, 'sample', never)
  const before = client.file('sample')
  const command = {
    command: 'composite',
    payload: [
      { command: 'addFeatures', payload: [point()] },
      { command: 'showText', payload: 'never shown' },
      { command: 'deleteFeatures', payload: ['unknown'] },
    ],
  }
  t.match(await client.refusal('apply_command', { command }), {
    code: 'FEATURE_NOT_FOUND',
    data: { ids: ['unknown'] },
  })
  t.match(await client.ask('get_features'), { rev: 1, total: 6, dirty: false })
  t.equal(client.file('sample'), before)
})

verifies('debrief:external:conflict', 'a restart during a conflict retains both versions', async (t) => {
  const opened = await ask(t, 'sample', never)
  await opened.ask('delete_features', { ids: ['feature1'] })
  writeFileSync(join(opened.folder, filename), opened.file('sample').replace('Nab Tower', 'No Man'))
  t.match(await opened.ask('get_selection'), { file: 'conflict' })
  await opened.ask('delete_features', { ids: ['feature2'] })
  const later = await opened.again()
  const client = later.client()
  t.match(await client.ask('get_features'), { total: 4, file: 'conflict', dirty: true })
  t.match(later.file('sample'), /No Man/)
  t.equal(readdirSync(join(later.dir, 'data', 'debrief-unsaved')).length, 1)
  await client.ask('save_plot', { on_conflict: 'overwrite' })
  t.equal(JSON.parse(later.file('sample')).features.length, 4)
  t.same(readdirSync(join(later.dir, 'data', 'debrief-unsaved')), [])
  await client.ask('undo', { steps: 2 })
  t.match(await client.ask('get_features'), { total: 6 })
})

const copyDamages: Readonly<Record<string, (file: string) => void>> = {
  DATA_MISSING: (file) => rmSync(file),
  DATA_DAMAGED: (file) => writeFileSync(file, '{"type":"FeatureColl'),
}

for (const [code, damage] of Object.entries(copyDamages))
  t.test(
    `an unreadable copy of unsaved changes is reported as ${code}, not as an error of the plot`,
    async (t) => {
      const opened = await ask(t, 'sample', never)
      await opened.ask('delete_features', { ids: ['feature1'] })
      writeFileSync(join(opened.folder, filename), opened.file('sample').replace('Nab Tower', 'No Man'))
      t.match(await opened.ask('get_selection'), { file: 'conflict' })
      await opened.app.close()
      const folder = join(opened.dir, 'data', 'debrief-unsaved')
      const [name = ''] = readdirSync(folder)
      damage(join(folder, name))
      const later = await openOver(t, opened.dir, { now: () => Date.now() + 660_000 })
      t.match(await later.client().refusal('open_plot', { filename }), {
        code,
        data: { file: `debrief-unsaved/${name}` },
        remedy: /causeway restore/,
      })
      t.match(later.file('sample'), /No Man/, 'does not modify the plot file')
    },
  )

t.test('concurrent changes get different revisions and are all retained', async (t) => {
  const opened = await ask(t, 'sample')
  const clients = Array.from({ length: 4 }, () => opened.client())
  const answers = await Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: 10 }, () => client.ask('add_features', { features: [point()] })),
    ),
  )
  t.equal(new Set(answers.map(({ rev }) => rev)).size, 40)
  t.match(await opened.ask('get_features', { limit: 1 }), { total: 46, rev: 41 })
  await opened.ask('save_plot')
  const ids = JSON.parse(opened.file('sample')).features.map(({ id }: { id: string }) => id)
  t.equal(new Set(ids).size, 46)
})

t.test('open_plot finds a name in any Unicode normalization', async (t) => {
  const opened = await openDebrief(t, [])
  writeFileSync(join(opened.folder, 'U\u0308ber.plot.json'), '{"type":"FeatureCollection","features":[]}')
  const client = opened.client()
  const { files } = await client.ask('list_plots')
  t.match(files, [{ filename: '\u00dcber.plot.json' }])
  t.match(await client.ask('open_plot', { filename: '\u00dcber.plot.json' }), {
    filename: '\u00dcber.plot.json',
  })
  t.match(await client.ask('add_features', { features: [point()], filename: '\u00dcber.plot.json' }), {
    rev: 2,
  })
})

t.test('concurrent open and close calls result in one plot', async (t) => {
  const opened = await openDebrief(t, ['sample'])
  const clients = Array.from({ length: 6 }, () => opened.client())
  await Promise.all(clients.map((client) => client.ask('open_plot', { filename })))
  await Promise.all(clients.map((client) => client.ask('add_features', { features: [point()] })))
  t.match(await opened.client().ask('get_features', { limit: 1 }), { total: 12, rev: 7 })
  const [one, other] = clients
  await Promise.all([one?.ask('close_plot', { filename }), other?.ask('open_plot', { filename })])
  await one?.ask('open_plot', { filename })
  t.match(await one?.ask('get_features', { limit: 1 }), { total: 12, rev: 7 })
  t.equal(JSON.parse(opened.file('sample')).features.length, 12)
})

t.test('a plot in a folder that is no longer a root is not loaded after a restart', async (t) => {
  const opened = await ask(t, 'sample')
  await opened.app.close()
  const app = await openForTest(debrief, { dir: join(opened.dir, 'data'), now: Date.now })
  t.teardown(() => app.close())
  await t.rejects(app.client().call('get_features', { filename }), { code: 'OUTSIDE_ROOTS' })
})
