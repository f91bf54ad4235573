import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { type AppliedCommands, applyCommands } from '../../src/domain/commands/apply-command.ts'
import { allCommandNames, parseCommands } from '../../src/domain/commands/command.ts'
import { getTimeState, getViewport, type PlotDocument } from '../../src/domain/document/plot-document.ts'
import { formatPlot, parsePlot, plots } from '../debrief-kit.ts'

const sample = parsePlot(readFileSync(join(plots, 'sample.plot.json'), 'utf8'), {
  selection: ['feature1', 'feature2'],
})
const point = (id: string | number | undefined, name = 'x') => ({
  type: 'Feature',
  ...(id === undefined ? {} : { id }),
  geometry: { type: 'Point', coordinates: [1, 2] },
  properties: { dataType: 'reference-point', name },
})
const apply = (document: PlotDocument, command: unknown, ignoreMissing = false): AppliedCommands =>
  applyCommands(document, parseCommands(command), { idPrefix: 'new', ignoreMissing })
const ids = ({ document }: AppliedCommands) => document.items.map(({ id }) => id)
const all = ['feature1', 'feature2', 'feature3', 'feature4', 'feature5', 'feature6']

verifies('debrief:commands', async (t) => {
  const added = apply(sample, { command: 'addFeatures', payload: [point('a'), point(undefined)] })
  t.same(ids(added), [...all, 'a', 'new-2'])
  t.match(added.results, [{ kind: 'feature-update', featuresAffected: 2 }])

  const updated = apply(sample, { command: 'updateFeatures', payload: [point('feature2', 'Renamed')] })
  t.same(ids(updated), all)
  t.same(updated.document.items[1]?.value, point('feature2', 'Renamed'))
  t.match(updated.results, [{ kind: 'feature-update', featuresAffected: 1 }])

  const deleted = apply(sample, { command: 'deleteFeatures', payload: ['feature1', 'feature3'] })
  t.same(ids(deleted), ['feature2', 'feature4', 'feature5', 'feature6'])
  t.match(deleted.results, [{ kind: 'feature-update', featuresAffected: 2 }])

  const features = [point('b'), point('feature2')]
  const replaced = apply(sample, {
    command: 'setFeatureCollection',
    payload: { type: 'FeatureCollection', features },
  })
  t.same(ids(replaced), ['b', 'feature2'])
  t.match(replaced.results, [{ kind: 'feature-update', featuresAffected: 2 }])

  for (const command of ['setViewport', 'updateViewport']) {
    const seen = apply(sample, { command, payload: { bounds: [-6, 35, -4, 37] } })
    t.same(getViewport(seen.document), { bounds: [-6, 35, -4, 37] })
    t.match(seen.results, [{ kind: 'state-update' }])
  }
  const selected = apply(sample, { command: 'setSelection', payload: { selectedIds: ['feature3'] } })
  const lit = apply(sample, { command: 'highlightFeatures', payload: { featureIds: ['feature3'] } })
  for (const { document, results } of [selected, lit]) {
    t.same(document.selection, ['feature3'])
    t.match(results, [{ kind: 'state-update' }])
  }
  const time = { current: '2024-01-01T01:00:00Z', start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z' }
  const timed = apply(sample, { command: 'setTimeState', payload: time })
  t.same(getTimeState(timed.document), time)
  t.match(timed.results, [{ kind: 'state-update' }])

  const shown = [
    ['showText', 'Hello', { kind: 'text', text: 'Hello' }],
    ['showData', { shape: [1], axes: [], values: [1] }, { kind: 'data' }],
    ['showImage', { mediaType: 'image/png', data: 'AA==' }, { kind: 'image' }],
    ['logMessage', 'Note', { kind: 'log', level: 'info', message: 'Note' }],
    ['logMessage', { message: 'Note', level: 'warn' }, { kind: 'log', level: 'warn' }],
  ] as const
  for (const [command, payload, notice] of shown) {
    const { document, results, notices } = apply(sample, { command, payload })
    t.equal(formatPlot(document), formatPlot(sample))
    t.match(results, [{ kind: 'display' }])
    t.match(notices, [notice])
  }
  t.equal(apply(sample, { command: 'showText', payload: 'Hello' }).results[0]?.message, 'Hello')

  const several = apply(sample, {
    command: 'composite',
    payload: [
      { command: 'addFeatures', payload: [point('a')] },
      { command: 'setSelection', payload: { selectedIds: ['a'] } },
    ],
  })
  t.same(several.document.selection, ['a'])
  t.match(several.results, [{ kind: 'composite', commandsProcessed: 2, featuresAffected: 1 }])
})

t.test('parseCommands accepts a command or a list, with or without a wrapper', async (t) => {
  const one = { command: 'deleteFeatures', payload: ['feature1'] }
  for (const given of [one, [one], { result: one }, { commands: [one] }, { result: { commands: [one] } }])
    t.equal(apply(sample, given).document.items.length, 5)
})

verifies('debrief:commands:unknown', async (t) => {
  const wrong = [
    { command: 'explode', payload: [] },
    { command: 'constructor', payload: [] },
    { payload: [] },
    'deleteFeatures',
    { command: 'deleteFeatures', payload: 'feature1' },
    { command: 'deleteFeatures', payload: [{}] },
    { command: 'addFeatures', payload: 5 },
    { command: 'setFeatureCollection', payload: { features: 1 } },
    { command: 'setFeatureCollection', payload: { type: 'Topology', features: [] } },
    { command: 'setViewport', payload: { bounds: [0, 91, 1, 92] } },
    { command: 'setViewport', payload: { bounds: [0, 2, 1] } },
    { command: 'setViewport', payload: { bounds: [0, 2, 1, 1] } },
    { command: 'setSelection', payload: ['feature1'] },
    { command: 'setTimeState', payload: { current: 'now' } },
    { command: 'showText', payload: 5 },
    { command: 'showImage', payload: { mediaType: 'image/gif', data: 'AA==' } },
    { command: 'showImage', payload: { mediaType: 'image/png' } },
    { command: 'logMessage', payload: { message: 'x', level: 'loud' } },
    { command: 'composite', payload: {} },
    { command: 'showText', payload: 'x', more: 1 },
  ]
  for (const command of wrong)
    t.throws(() => apply(sample, command), { code: 'INVALID_COMMAND' }, JSON.stringify(command))
  t.throws(() => apply(sample, wrong[0]), {
    code: 'INVALID_COMMAND',
    data: { command: 'explode', allowed: allCommandNames },
  })
})

verifies(
  'debrief:composite',
  'parseCommands limits a composite to ten levels and a thousand commands',
  async (t) => {
    const nested = (depth: number): unknown =>
      depth === 0
        ? { command: 'showText', payload: 'deep' }
        : { command: 'composite', payload: [nested(depth - 1)] }
    t.equal(apply(sample, nested(10)).notices.length, 1)
    t.throws(() => apply(sample, nested(11)), { code: 'INVALID_COMMAND' })
    const wide = (count: number) => ({
      command: 'composite',
      payload: Array.from({ length: count }, () => ({ command: 'showText', payload: 'x' })),
    })
    t.equal(apply(sample, wide(1000)).notices.length, 1000)
    t.throws(() => apply(sample, wide(1001)), { code: 'INVALID_COMMAND' })
  },
)

verifies('debrief:composite', 'parseCommands limits a list to 20,000 commands', async (t) => {
  const commands = Array.from({ length: 20_001 }, () => ({ command: 'showText', payload: 'x' }))
  t.equal(apply(sample, commands.slice(1)).notices.length, 20_000)
  t.throws(() => apply(sample, { result: commands }), { code: 'INVALID_COMMAND', data: { commands: 20_001 } })
})

verifies('debrief:ids', async (t) => {
  const mixed = parsePlot(
    JSON.stringify({
      type: 'FeatureCollection',
      features: [
        point(1, 'one'),
        point('2', 'two'),
        point(undefined, 'a'),
        point(undefined, 'b'),
        point(0, 'zero'),
      ],
    }),
  )
  const named = ({ document }: AppliedCommands) =>
    document.items.map(({ value }) => (value.properties as { name: string }).name)
  t.same(named(apply(mixed, { command: 'updateFeatures', payload: [point('1', 'ONE')] })), [
    'ONE',
    'two',
    'a',
    'b',
    'zero',
  ])
  t.same(named(apply(mixed, { command: 'deleteFeatures', payload: [2, '0'] })), ['one', 'a', 'b'])
  t.throws(() => apply(mixed, { command: 'updateFeatures', payload: [point(undefined)] }), {
    code: 'INVALID_FEATURES',
  })
  t.throws(() => apply(mixed, { command: 'addFeatures', payload: [point('1')] }), {
    code: 'DUPLICATE_ID',
    data: { ids: ['1'] },
  })
  t.throws(() => apply(mixed, { command: 'addFeatures', payload: [point('n'), point('n')] }), {
    code: 'INVALID_FEATURES',
  })
  t.throws(() => apply(mixed, { command: 'deleteFeatures', payload: ['9'] }), {
    code: 'FEATURE_NOT_FOUND',
    data: { ids: ['9'] },
  })
  t.equal(apply(mixed, { command: 'deleteFeatures', payload: ['9', '1'] }, true).document.items.length, 4)
  const twice = parsePlot(JSON.stringify({ type: 'FeatureCollection', features: [point('a'), point('a')] }))
  t.throws(() => apply(twice, { command: 'updateFeatures', payload: [point('a')] }), { code: 'DUPLICATE_ID' })
  t.equal(apply(twice, { command: 'deleteFeatures', payload: ['a'] }).document.items.length, 0)
})

verifies(
  'debrief:selection:pruned',
  'deleting features or replacing the collection removes ids from the selection',
  async (t) => {
    t.same(apply(sample, { command: 'deleteFeatures', payload: ['feature1'] }).document.selection, [
      'feature2',
    ])
    const features = [point('feature1'), point('other')]
    t.same(apply(sample, { command: 'setFeatureCollection', payload: { features } }).document.selection, [
      'feature1',
    ])
  },
)

verifies('debrief:metadata', 'metadata features among other features become state', async (t) => {
  const time = { current: '2024-01-01T00:00:00Z', start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z' }
  const features = [
    point('a'),
    {
      type: 'Feature',
      id: 't',
      geometry: null,
      properties: { dataType: 'metadata', metadataType: 'time', ...time },
    },
  ]
  const { document } = apply(sample, { command: 'setFeatureCollection', payload: { features } })
  t.same(
    document.items.map(({ id }) => id),
    ['a'],
  )
  t.same(getTimeState(document), time)
})

t.test('setFeatureCollection replaces the given members and retains all others', async (t) => {
  const before = parsePlot('{"type":"FeatureCollection","name":"old","crs":1.0,"features":[]}')
  const { document } = apply(before, {
    command: 'setFeatureCollection',
    payload: { name: 'new', features: [point('a')] },
  })
  t.match(JSON.parse(formatPlot(document)), { name: 'new', crs: 1, features: [{ id: 'a' }] })
})
