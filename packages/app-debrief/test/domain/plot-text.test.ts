import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { applyCommands } from '../../src/domain/apply-command.ts'
import { readCommands } from '../../src/domain/command.ts'
import { parsePlot, textOf } from '../../src/domain/plot-document.ts'
import { plots } from '../debrief-kit.ts'

const after = (text: string, command: string, payload: unknown): string =>
  textOf(applyCommands(parsePlot(text), readCommands({ command, payload }), { idPrefix: 'new' }).document)

const point = (id: string) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [1, 2] },
  properties: {},
})

verifies('debrief:round-trip', 'every plot of the fixtures is written as it was read', async (t) => {
  for (const name of readdirSync(plots).filter((file) => file.endsWith('.plot.json'))) {
    const text = readFileSync(join(plots, name), 'utf8')
    t.ok(textOf(parsePlot(text)) === text, name)
  }
})

verifies(
  'debrief:round-trip',
  'numbers, order, repeated and unknown members stay as they were written',
  async (t) => {
    const odd =
      '{"type":"FeatureCollection","crs":{"a":1.0},"features":[ {"type":"Feature","id":7,"x":1e2,"x":12345678901234567890,"geometry":null,"properties":{"2":-0.0,"1":[1.50,  2]}} ,{"type":"Feature","id":"b","geometry":null,"properties":null}],"z":[{"features":[]}]}'
    t.equal(textOf(parsePlot(odd)), odd)
    const text = after(odd, 'deleteFeatures', ['b'])
    t.ok(text.includes('"x":1e2,"x":12345678901234567890'))
    t.ok(text.includes('{"2":-0.0,"1":[1.50,  2]}'))
    t.ok(text.endsWith('"z":[{"features":[]}]}'))
  },
)

verifies('debrief:round-trip', 'the white space of a list without features stays too', async (t) => {
  for (const space of ['', ' ', '\n    \n  ', '\r\n\t']) {
    const hollow = `{"type":"FeatureCollection","features":[${space}],"a":1}`
    t.equal(textOf(parsePlot(hollow)), hollow)
    const one = after(hollow, 'addFeatures', [point('a')])
    t.same(JSON.parse(one).features, [point('a')])
    t.same(JSON.parse(after(one, 'deleteFeatures', ['a'])), JSON.parse(hollow))
  }
})

t.test('plot text: a feature is added in the manner of its neighbours', async (t) => {
  const of = (value: object, indent?: number | string) => JSON.stringify(value, null, indent)
  for (const indent of [undefined, 2, 4, '\t']) {
    const before = of({ type: 'FeatureCollection', features: [point('a')] }, indent)
    const wanted = of({ type: 'FeatureCollection', features: [point('a'), point('b')] }, indent)
    t.equal(after(before, 'addFeatures', [point('b')]), wanted, `indent ${JSON.stringify(indent)}`)
    const none = of({ type: 'FeatureCollection', features: [] }, indent)
    t.equal(
      after(none, 'addFeatures', [point('a')]),
      before,
      `first feature, indent ${JSON.stringify(indent)}`,
    )
  }
  const windows = of({ type: 'FeatureCollection', features: [point('a')] }, 2).replaceAll('\n', '\r\n')
  t.notMatch(after(windows, 'addFeatures', [point('b')]), /[^\r]\n/)
})

t.test('plot text: an empty file is an empty collection, and a byte order mark is kept', async (t) => {
  t.same(parsePlot('').items, [])
  t.match(JSON.parse(after(' \n', 'addFeatures', [point('a')])), { features: [{ id: 'a' }] })
  const marked = `\uFEFF${JSON.stringify({ type: 'FeatureCollection', features: [point('a')] })}`
  t.equal(textOf(parsePlot(marked)), marked)
})

t.test('plot text: whatever JSON the features hold, cutting and joining gives the text back', async (t) => {
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
      return textOf(parsePlot(text)) === text
    }),
    { numRuns: 200 },
  )
  t.pass('200 texts')
})

t.test('plot text: what is no plot is refused with its place', async (t) => {
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
    'a feature that is none': '{"type":"FeatureCollection","features":[5]}',
    'features twice': '{"features":[],"features":[]}',
    'text behind': '{"type":"FeatureCollection","features":[]} x',
    'a feature with a fault': '{"type":"FeatureCollection","features":[{},{"a":01}]}',
  }
  for (const [name, text] of Object.entries(bad))
    t.throws(() => parsePlot(text), { code: 'INVALID_PLOT' }, name)
  t.throws(() => parsePlot(bad['a feature with a fault']), { code: 'INVALID_PLOT', data: { index: 1 } })
})

verifies('debrief:metadata', 'states keep their place; a new time gets a ring around the data', async (t) => {
  const text = readFileSync(join(plots, 'gibraltar.plot.json'), 'utf8')
  const time = { current: '2024-11-14T20:00:00Z', start: '2024-11-14T16:16:53Z', end: '2024-11-15T10:17:00Z' }
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
  t.ok(near(ring[0][0], west) && near(ring[0][1], south) && near(ring[2][0], east) && near(ring[2][1], north))
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
})
