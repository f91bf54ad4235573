import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { wireName } from '@causeway/protocol'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import debrief from '../src/index.ts'
import { ask, openDebrief, plots } from './debrief-kit.ts'

const original = [
  ...['get_features', 'get_selection', 'apply_command', 'set_selection', 'get_time', 'set_time'],
  ...['get_viewport', 'set_viewport', 'zoom_to_selection', 'list_plots', 'set_features', 'update_features'],
  ...['add_features', 'delete_features', 'notify'],
]

verifies('debrief:tools', 'Debrief declares the tools of the original plot server', async (t) => {
  const bare = debrief.tools.map(({ aliases }) => aliases.bare[0])
  for (const name of original) t.ok(bare.includes(`debrief_${name}`), name)
  for (const { name, aliases } of debrief.tools)
    t.same(aliases.full, [`debrief_${name}`], wireName('Debrief', name))
  const required = (name: string) =>
    debrief.tools.find((tool) => tool.name === name)?.inputSchema.required ?? []
  t.same(required('get_selection'), [])
  t.same(required('set_selection'), ['selectedIds'])
  t.same(required('apply_command'), ['command'])
  t.same(required('set_time'), ['timeState'])
  t.same(required('set_viewport'), ['viewportState'])
})

verifies('debrief:features:brief', async (t) => {
  const client = await ask(t, 'gibraltar')
  const { content } = await client.answer('get_features')
  const [text] = content.flatMap((part) => (part.type === 'text' ? part.text : []))
  t.ok(Buffer.byteLength(text ?? '') < 8000, `${text?.length} characters`)
  t.match(content[1], { type: 'resource_link', uri: 'plot://gibraltar.plot.json/features' })
  const answer = JSON.parse(text ?? '')
  t.equal(answer.total, 15, 'metadata features are never listed')
  t.match(answer.features[0], {
    id: 'track-a',
    name: 'ALFEREZ',
    dataType: 'track',
    vertices: 781,
    start: '2024-11-14T21:16:53.661999Z',
  })
  t.match(answer.by_type, { track: 3, annotation: 6, buoyfield: 1, 'reference-point': 3, backdrop: 2 })

  const thinned = await client.ask('get_features', { ids: ['track-b'], detail: 'full', simplify_m: 200 })
  const [track] = thinned.features
  t.ok(track.geometry.coordinates.length < 40)
  t.equal(track.properties.timestamps.length, track.geometry.coordinates.length)
  const whole = await client.ask('get_features', { ids: ['point-1', 'unknown'], detail: 'full' })
  t.same(
    whole.features,
    JSON.parse(readFileSync(join(plots, 'gibraltar.plot.json'), 'utf8')).features.slice(10, 11),
  )
  const inside = await client.ask('get_features', { bbox: [-5.4, 36, -5.3, 36.2] })
  t.ok(inside.features.some(({ id }: { id: string }) => id === 'point-1'))
  t.notOk(inside.features.some(({ id }: { id: string }) => id === 'zone-5'))

  const seen: string[] = []
  let cursor: string | undefined
  do {
    const part = await client.ask('get_features', { limit: 4, ...(cursor === undefined ? {} : { cursor }) })
    seen.push(...part.features.map(({ id }: { id: string }) => id))
    cursor = part.next_cursor ?? undefined
  } while (cursor !== undefined)
  t.equal(new Set(seen).size, 15)
  const { next_cursor } = await client.ask('get_features', { limit: 4 })
  await client.ask('delete_features', { ids: ['zone-6'] })
  t.match(await client.refusal('get_features', { limit: 4, cursor: next_cursor }), { code: 'INVALID_CURSOR' })
})

verifies(
  'debrief:round-trip',
  'the large sample is unchanged byte for byte after a selection and a save',
  async (t) => {
    const client = await ask(t, 'gibraltar')
    const before = client.file('gibraltar')
    await client.ask('set_selection', { selectedIds: ['track-a'] })
    await client.ask('save_plot')
    t.ok(client.file('gibraltar') === before)
    await client.ask('set_viewport', { viewportState: { bounds: [-5, 35, -4, 36] } })
    await client.ask('save_plot')
    const made = client.file('gibraltar')
    t.notMatch(made, /selectedIds/)
    const end = before.indexOf('"id": "debrief-viewport-metadata"')
    t.ok(made.slice(0, end) === before.slice(0, end), 'does not modify the text before the viewport')
  },
)

verifies('debrief:validation', 'a rejected call changes nothing', async (t) => {
  const client = await ask(t, 'sample')
  const bad = { type: 'Feature', id: 'x', geometry: { type: 'Point', coordinates: [0, 99] }, properties: {} }
  for (const [tool, args] of [
    ['add_features', { features: [bad] }],
    ['update_features', { features: [bad] }],
    ['set_features', { featureCollection: { type: 'FeatureCollection', features: [bad] } }],
    ['apply_command', { command: { command: 'addFeatures', payload: [bad] } }],
  ] as const)
    t.match(await client.refusal(tool, args), {
      code: 'INVALID_FEATURES',
      data: { total: 1, features: [{ index: 0, featureId: 'x', errors: [/latitude/] }] },
    })
  t.match(await client.ask('get_features'), { rev: 1, total: 6 })
})

verifies('debrief:commands', 'apply_command applies commands and returns notices', async (t) => {
  const client = await ask(t, 'sample')
  const command = {
    command: 'composite',
    payload: [
      { command: 'deleteFeatures', payload: ['feature1'] },
      { command: 'showData', payload: { title: 'Speeds', shape: [2], axes: [], values: [1, 2] } },
      { command: 'showText', payload: 'Done' },
    ],
  }
  t.match(await client.ask('apply_command', { command: { result: command } }), {
    success: true,
    featuresAffected: 1,
    rev: 2,
    results: [{ kind: 'composite', commandsProcessed: 3 }],
    notices: [
      { kind: 'data', data: { title: 'Speeds' } },
      { kind: 'text', text: 'Done' },
    ],
  })
})

verifies('debrief:plots:active', async (t) => {
  const opened = await openDebrief(t, ['mission1', 'mission2'])
  const [mine, other, anonymous] = [opened.client(), opened.client(), opened.client({ shared: true })]
  await mine.ask('open_plot', { filename: 'mission1.plot.json' })
  t.match(await mine.ask('open_plot', { filename: 'mission2.plot.json', set_active: true }), { active: true })
  t.match(await mine.ask('get_selection'), { filename: 'mission2.plot.json' })
  t.match(await other.refusal('get_selection'), { code: 'MULTIPLE_PLOTS' })
  t.match(await anonymous.ask('open_plot', { filename: 'mission1.plot.json', set_active: true }), {
    active: false,
  })
  t.match(await anonymous.refusal('get_selection'), { code: 'MULTIPLE_PLOTS' })
  await mine.ask('close_plot', { filename: 'mission2.plot.json' })
  t.match(await mine.ask('get_selection'), { filename: 'mission1.plot.json' }, 'uses the only open plot')
  await other.ask('close_plot', { filename: 'mission1.plot.json' })
  t.match(await mine.refusal('get_selection'), { code: 'NO_PLOT_OPEN' })
  t.match(await mine.ask('list_plots'), { plots: [], files: [{ filename: 'mission1.plot.json' }, {}] })
})

verifies('debrief:time', 'set_time adds missing offsets and rejects invalid times', async (t) => {
  const client = await ask(t, 'encounter')
  t.match(await client.ask('get_time'), {
    from: 'data',
    timeState: {
      current: '2024-01-01T00:00:00Z',
      start: '2024-01-01T00:00:00Z',
      end: '2024-01-01T01:00:00Z',
    },
  })
  const range = ['2024-01-01T00:00:00', '2024-01-01T01:00:00']
  await client.ask('set_time', { timeState: { current: '2024-01-01T00:30:00', range } })
  t.match(await client.ask('get_time'), {
    from: 'file',
    timeState: {
      current: '2024-01-01T00:30:00Z',
      start: '2024-01-01T00:00:00Z',
      end: '2024-01-01T01:00:00Z',
    },
  })
  const timeState = { current: '2025-01-01T00:00:00Z', start: range[0], end: range[1] }
  t.match(await client.refusal('set_time', { timeState }), { code: 'INVALID_COMMAND' })
  t.match(await client.refusal('set_time', { timeState: { ...timeState, current: '2024' } }), {
    message: /current is "2024"/,
  })
})

t.test('zoom_to_selection fits the selection with a margin, even across the antimeridian', async (t) => {
  const client = await ask(t, 'antimeridian')
  t.match(await client.refusal('zoom_to_selection'), { code: 'NOTHING_SELECTED' })
  await client.ask('set_selection', { selectedIds: ['dateline'] })
  const { viewportState } = await client.ask('zoom_to_selection')
  const [west, , east] = viewportState.bounds
  t.ok(east > 180 && east - west < 1, `${west} to ${east}`)
  t.same((await client.ask('get_viewport')).viewportState, viewportState)
})

verifies('debrief:resources', async (t) => {
  const client = await ask(t, 'sample')
  const read = async (uri: string) => {
    const contents = await client.read(uri)
    return JSON.parse('text' in contents ? contents.text : '')
  }
  await client.ask('set_selection', { selectedIds: ['feature2'] })
  t.same(await read('plots://list'), [{ filename: 'sample.plot.json', title: 'sample' }])
  for (const base of ['plot://', 'plot://sample.plot.json/']) {
    t.equal((await read(`${base}features`)).features.length, 6)
    t.same(await read(`${base}selection`), { selectedIds: ['feature2'] })
    t.match(await read(`${base}time`), { start: '2024-01-01T00:00:00Z' })
    t.match(await read(`${base}viewport`), { bounds: [Number, Number, Number, Number] })
  }
  t.ok(client.app.changes.includes('plot://sample.plot.json/selection'))
  t.ok(client.app.changes.includes('resources'))
  await t.rejects(client.read('plot://other.plot.json/time'), { code: 'PLOT_NOT_FOUND' })
})

verifies('debrief:prompts', async (t) => {
  const client = await ask(t, 'sample')
  const names = debrief.tools.map(({ aliases }) => aliases.bare[0])
  for (const [name, args] of [
    ['delete_selection', {}],
    ['analyse_track', { track: 'feature4', filename: 'sample.plot.json' }],
  ] as const) {
    const [message] = await client.prompt(name, args)
    const text = message?.content.type === 'text' ? message.content.text : ''
    const tools = text.match(/debrief_[a-z_]+/g) ?? []
    t.ok(tools.length >= 2)
    for (const tool of tools) t.ok(names.includes(tool), tool)
  }
})

verifies('debrief:map', async (t) => {
  const opened = await openDebrief(t, ['gibraltar', 'antimeridian', 'high-latitude'])
  const client = opened.client()
  for (const [name, [low, high]] of [
    ['gibraltar', [-7, 0]],
    ['antimeridian', [179, 181]],
    ['high-latitude', [13, 17]],
  ] as const) {
    const filename = `${name}.plot.json`
    await client.ask('open_plot', { filename })
    const { structuredContent, content } = await client.answer('render_map', { filename, width: 400 })
    const { bounds, shown } = structuredContent as { bounds: number[]; shown: number }
    t.ok(shown > 0 && (bounds[0] ?? 0) > low && (bounds[2] ?? 0) < high, `${name}: ${bounds}`)
    const [image] = content.flatMap((part) => (part.type === 'image' ? part : []))
    const png = Buffer.from(image?.data ?? '', 'base64')
    t.equal(png.toString('latin1', 1, 4), 'PNG')
    t.equal(png.readUInt32BE(16), 600)
  }
  const filename = 'gibraltar.plot.json'
  t.match(await client.refusal('render_map', { filename, view: 'selection' }), { code: 'NOTHING_SELECTED' })
  await client.ask('set_selection', { filename, selectedIds: ['zone-4'] })
  const { shown } = await client.ask('render_map', { filename, view: 'selection', width: 400 })
  t.ok(shown < 13)
})
