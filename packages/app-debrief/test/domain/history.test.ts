import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { applyCommands } from '../../src/domain/commands/apply-command.ts'
import { parseCommands } from '../../src/domain/commands/command.ts'
import type { PlotDocument } from '../../src/domain/document/plot-document.ts'
import {
  countSteps,
  getEntryKind,
  type History,
  recordEntry,
  redo,
  undo,
} from '../../src/domain/history/history.ts'
import { applyPatch, createPatch, invertPatch } from '../../src/domain/history/patch.ts'
import { formatPlot, parsePlot, plots } from '../debrief-kit.ts'

const point = (id: string, name = id) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [1, 2] },
  properties: { name, unknown: { deep: [1.5] } },
})
const plot = (...ids: readonly string[]): PlotDocument =>
  parsePlot(JSON.stringify({ type: 'FeatureCollection', features: ids.map((id) => point(id)) }, null, 2))

interface Edited {
  readonly document: PlotDocument
  readonly history: History
}

let seq = 0
const edit = ({ document, history }: Edited, command: unknown, { atMs = 0, actor = 'a' } = {}): Edited => {
  const after = applyCommands(document, parseCommands(command), { idPrefix: `n${seq}` }).document
  const patch = createPatch(document, after)
  if (Object.keys(patch).length === 0) return { document, history }
  seq += 1
  const size = JSON.stringify(patch).length
  const entry = { seq, kind: getEntryKind(patch), label: '', actor, atMs, patch, size, isUndone: false }
  return { document: after, history: recordEntry(history, entry) }
}
const back = ({ document, history }: Edited, scope: 'features' | 'all' = 'features'): Edited =>
  undo(history, document, scope) ?? { document, history }
const redoOnce = ({ document, history }: Edited, scope: 'features' | 'all' = 'features'): Edited =>
  redo(history, document, scope) ?? { document, history }

const time = (minute: number) => ({
  command: 'setTimeState',
  payload: {
    current: `2024-01-01T00:${String(minute % 60).padStart(2, '0')}:00Z`,
    start: '2024-01-01T00:00:00Z',
    end: '2024-01-01T01:00:00Z',
  },
})

verifies('debrief:undo', 'undo and redo restore the text before and after each of five edits', async (t) => {
  const start: Edited = { document: plot('a', 'b', 'c', 'd'), history: [] }
  const edits = [
    { command: 'deleteFeatures', payload: ['b', 'd'] },
    { command: 'addFeatures', payload: [point('e')] },
    { command: 'updateFeatures', payload: [point('c', 'C')] },
    {
      command: 'setFeatureCollection',
      payload: { name: 'x', features: [point('e'), point('a'), point('z')] },
    },
    { command: 'deleteFeatures', payload: ['a'] },
  ]
  const states = [start]
  for (const command of edits) states.push(edit(states.at(-1) as Edited, command))
  let now = states.at(-1) as Edited
  for (const state of [...states].reverse()) {
    t.equal(formatPlot(now.document), formatPlot(state.document))
    now = back(now)
  }
  for (const state of states) {
    t.equal(formatPlot(now.document), formatPlot(state.document))
    now = redoOnce(now)
  }
  const undone = back(back(now))
  const branched = edit(undone, { command: 'deleteFeatures', payload: ['c'] })
  t.same(countSteps(branched.history).redo, { features: 0, all: 0 })
  t.equal(undo([], start.document, 'all'), undefined)
  t.equal(redo(branched.history, branched.document, 'all'), undefined)
})

verifies('debrief:undo:states', async (t) => {
  let now: Edited = { document: plot('a', 'b'), history: [] }
  now = edit(now, { command: 'deleteFeatures', payload: ['a'] })
  for (let move = 0; move < 100; move += 1) now = edit(now, time(move), { atMs: move * 15 })
  t.ok(now.history.length <= 3, `${now.history.length} entries`)
  t.same(
    back(now).document.items.map(({ id }) => id),
    ['a', 'b'],
    'undoes features across later changes of time',
  )
  const other = edit(now, time(7), { atMs: 1500, actor: 'other' })
  t.equal(other.history.length, now.history.length + 1, 'separates the changes of two clients')
})

verifies(
  'debrief:selection:pruned',
  'undo of a deletion restores the selection, unless the selection was changed in the meantime',
  async (t) => {
    const start = edit(
      { document: plot('a', 'b'), history: [] },
      { command: 'setSelection', payload: { selectedIds: ['a'] } },
    )
    const deleted = edit(start, { command: 'deleteFeatures', payload: ['a'] })
    t.same(deleted.document.selection, [])
    t.same(back(deleted).document.selection, ['a'])
    const since = edit(deleted, { command: 'setSelection', payload: { selectedIds: ['b'] } })
    t.same(back(since).document.selection, ['b'])
  },
)

t.test(
  'the history has at most a hundred entries, and a change that does not affect features retains their redo steps',
  async (t) => {
    let now: Edited = { document: plot('a'), history: [] }
    for (let count = 0; count < 120; count += 1)
      now = edit(now, { command: 'addFeatures', payload: [point(`n${count}`)] })
    t.equal(now.history.length, 100)
    const moved = edit(back(now), time(3), { atMs: 9e9 })
    t.equal(countSteps(moved.history).redo.features, 1)
    t.equal(countSteps(back(moved, 'all').history).redo.all, 2)
  },
)

t.test('a patch converts a document to the next one, and its inverse converts it back', async (t) => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  const command = fc.oneof(
    fc.uniqueArray(id).map((payload) => ({ command: 'deleteFeatures', payload })),
    fc.uniqueArray(id).map((ids) => ({
      command: 'setFeatureCollection',
      payload: { features: ids.map((one) => point(one, `${one}!`)) },
    })),
    fc.uniqueArray(id).map((selectedIds) => ({ command: 'setSelection', payload: { selectedIds } })),
    fc.tuple(fc.uniqueArray(id), fc.string()).map(([ids, name]) => ({
      command: 'updateFeatures',
      payload: ids.map((one) => point(one, name)),
    })),
    fc.nat(59).map(time),
    fc.nat(9).map((number) => ({ command: 'addFeatures', payload: [point(`n${number}`)] })),
  )
  fc.assert(
    fc.property(fc.array(command, { maxLength: 8 }), (commands) => {
      let document = plot('a', 'b', 'c', 'd', 'e')
      for (const one of commands) {
        const taken = new Set(document.items.map((item) => item.id))
        if (one.command === 'addFeatures' && taken.has((one.payload as { id: string }[])[0]?.id ?? ''))
          continue
        const after = applyCommands(document, parseCommands(one), {
          idPrefix: 'n',
          ignoreMissing: true,
        }).document
        const patch = JSON.parse(JSON.stringify(createPatch(document, after)))
        const made = applyPatch(document, patch)
        const again = applyPatch(made, invertPatch(patch))
        if (formatPlot(made) !== formatPlot(after) || formatPlot(again) !== formatPlot(document)) return false
        if (made.selection.join() !== after.selection.join()) return false
        document = after
      }
      return true
    }),
    { numRuns: 300 },
  )
  t.pass('300 histories')
})

const after = (text: string, command: string, payload: unknown): string =>
  formatPlot(
    applyCommands(parsePlot(text), parseCommands({ command, payload }), { idPrefix: 'new' }).document,
  )

const plotTextPoint = (id: string) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [1, 2] },
  properties: {},
})

verifies('debrief:round-trip', 'every fixture plot is written exactly as it was read', async (t) => {
  for (const name of readdirSync(plots).filter((file) => file.endsWith('.plot.json'))) {
    const text = readFileSync(join(plots, name), 'utf8')
    t.ok(formatPlot(parsePlot(text)) === text, name)
  }
})

verifies(
  'debrief:round-trip',
  'a plot retains the spelling of numbers, the order of members, and repeated and unknown members',
  async (t) => {
    const odd =
      '{"type":"FeatureCollection","crs":{"a":1.0},"features":[ {"type":"Feature","id":7,"x":1e2,"x":12345678901234567890,"geometry":null,"properties":{"2":-0.0,"1":[1.50,  2]}} ,{"type":"Feature","id":"b","geometry":null,"properties":null}],"z":[{"features":[]}]}'
    t.equal(formatPlot(parsePlot(odd)), odd)
    const text = after(odd, 'deleteFeatures', ['b'])
    t.ok(text.includes('"x":1e2,"x":12345678901234567890'))
    t.ok(text.includes('{"2":-0.0,"1":[1.50,  2]}'))
    t.ok(text.endsWith('"z":[{"features":[]}]}'))
  },
)

verifies('debrief:round-trip', 'a plot retains the white space of an empty list', async (t) => {
  for (const space of ['', ' ', '\n    \n  ', '\r\n\t']) {
    const hollow = `{"type":"FeatureCollection","features":[${space}],"a":1}`
    t.equal(formatPlot(parsePlot(hollow)), hollow)
    const one = after(hollow, 'addFeatures', [plotTextPoint('a')])
    t.same(JSON.parse(one).features, [plotTextPoint('a')])
    t.same(JSON.parse(after(one, 'deleteFeatures', ['a'])), JSON.parse(hollow))
  }
})

t.test('a new feature gets the indentation of the file', async (t) => {
  const of = (value: object, indent?: number | string) => JSON.stringify(value, null, indent)
  for (const indent of [undefined, 2, 4, '\t']) {
    const before = of({ type: 'FeatureCollection', features: [plotTextPoint('a')] }, indent)
    const wanted = of(
      { type: 'FeatureCollection', features: [plotTextPoint('a'), plotTextPoint('b')] },
      indent,
    )
    t.equal(after(before, 'addFeatures', [plotTextPoint('b')]), wanted, `indent ${JSON.stringify(indent)}`)
    const none = of({ type: 'FeatureCollection', features: [] }, indent)
    t.equal(
      after(none, 'addFeatures', [plotTextPoint('a')]),
      before,
      `first feature, indent ${JSON.stringify(indent)}`,
    )
  }
  const windows = of({ type: 'FeatureCollection', features: [plotTextPoint('a')] }, 2).replaceAll(
    '\n',
    '\r\n',
  )
  t.notMatch(after(windows, 'addFeatures', [plotTextPoint('b')]), /[^\r]\n/)
})

t.test('an empty file is an empty collection, and a byte order mark is preserved', async (t) => {
  t.same(parsePlot('').items, [])
  t.match(JSON.parse(after(' \n', 'addFeatures', [plotTextPoint('a')])), { features: [{ id: 'a' }] })
  const marked = `\uFEFF${JSON.stringify({ type: 'FeatureCollection', features: [plotTextPoint('a')] })}`
  t.equal(formatPlot(parsePlot(marked)), marked)
})

t.test('parsing and formatting a plot returns the same text for any features and indentation', async (t) => {
  const feature = fc
    .dictionary(fc.string(), fc.jsonValue())
    .map((rest) => ({ ...rest, type: 'Feature', properties: null }))
  fc.assert(
    fc.property(fc.array(feature, { maxLength: 5 }), fc.constantFrom(0, 1, 2, 3), (features, indent) => {
      const text = JSON.stringify(
        { a: '"features": [', type: 'FeatureCollection', features, b: ']' },
        null,
        indent,
      )
      return formatPlot(parsePlot(text)) === text
    }),
    { numRuns: 200 },
  )
  t.pass('200 texts')
})

t.test('an invalid plot is rejected, and an invalid feature is reported by its index', async (t) => {
  const bad = {
    'no object': '[1]',
    'a number': '12',
    'cut short': '{"type":"FeatureCollection","features":[{"type":"Feature"',
    'an open string': '{"type":"FeatureCollection","features":["abc',
    'no features': '{"type":"FeatureCollection"}',
    'features no list': '{"type":"FeatureCollection","features":{}}',
    'another type': '{"type":"Topology","features":[]}',
    'a comma at the end': '{"type":"FeatureCollection","features":[{"type":"Feature"},]}',
    'a comma missing': '{"type":"FeatureCollection","features":[{} {}]}',
    'a feature that is a number': '{"type":"FeatureCollection","features":[5]}',
    'features twice': '{"features":[],"features":[]}',
    'text behind': '{"type":"FeatureCollection","features":[]} x',
    'a feature with a fault': '{"type":"FeatureCollection","features":[{},{"a":01}]}',
  }
  for (const [name, text] of Object.entries(bad))
    t.throws(() => parsePlot(text), { code: 'INVALID_PLOT' }, name)
  t.throws(() => parsePlot(bad['a feature with a fault']), { code: 'INVALID_PLOT', data: { index: 1 } })
})

verifies(
  'debrief:metadata',
  'metadata features retain their position, and setTimeState encloses the data',
  async (t) => {
    const text = readFileSync(join(plots, 'gibraltar.plot.json'), 'utf8')
    const time = {
      current: '2024-11-14T20:00:00Z',
      start: '2024-11-14T16:16:53Z',
      end: '2024-11-15T10:17:00Z',
    }
    const made = JSON.parse(after(text, 'setTimeState', time))
    t.same(
      made.features.map(({ id }: { id: string }) => id),
      JSON.parse(text).features.map(({ id }: { id: string }) => id),
    )
    const [west, south, east, north] = [-5.628, 35.54, -1.678, 36.58]
    const ring = made.features[15].geometry.coordinates[0]
    t.equal(ring.length, 5)
    t.same(ring[0], ring[4])
    const near = (a: number, b: number) => Math.abs(a - b) < 0.2
    t.ok(
      near(ring[0][0], west) && near(ring[0][1], south) && near(ring[2][0], east) && near(ring[2][1], north),
    )
    t.same(made.features[15].properties, { dataType: 'metadata', metadataType: 'time', ...time })
    const seen = JSON.parse(after(text, 'setViewport', { bounds: [-6, 35, -4, 37] }))
    t.same(seen.features[16].geometry.coordinates, [
      [
        [-6, 35],
        [-4, 35],
        [-4, 37],
        [-6, 37],
        [-6, 35],
      ],
    ])
  },
)
