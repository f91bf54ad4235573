import t from 'tap'
import { findMatches } from '../src/domain/matches.ts'
import { formatGameTime } from '../src/domain/minds.ts'
import {
  applyEvent,
  formatPosition,
  getId,
  listPaths,
  measureRangeAndBearing,
  type PlotFeature,
} from '../src/domain/plot.ts'
import { listScores, type TrmSession } from '../src/domain/trm.ts'
import { findTrackPoint } from '../src/views/debrief/track.ts'

const createPoint = (id: string, name = id): PlotFeature => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [1, 2] },
  properties: { name },
})

const snapshot = applyEvent(undefined, 'snapshot', {
  rev: 3,
  dirty: false,
  file: 'ok',
  features: ['a', 'b', 'c'].map((id) => createPoint(id)),
  selectedIds: ['a'],
  timeState: null,
  viewportState: { bounds: [0, 0, 1, 1] },
})

t.test('applyEvent removes, adds and updates features and preserves their order', async (t) => {
  const { geometry: _, ...update } = createPoint('c', 'renamed')
  const state = applyEvent(snapshot, 'patch', {
    rev: 4,
    added: [createPoint('d')],
    added_at: [1],
    updated: [update],
    removed: ['a'],
    removed_at: [0],
  })
  t.same(state?.features.map(getId), ['b', 'd', 'c'])
  t.match(state, { rev: 4, dirty: true })
  t.same(state?.features[2], createPoint('c', 'renamed'), 'an update without a geometry preserves it')
})

t.test('applyEvent changes selection, time, viewport and file state', async (t) => {
  const time = { current: '2024-01-01T00:00:00Z', start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z' }
  t.match(applyEvent(snapshot, 'selection', { rev: 4, selectedIds: ['b'] }), { selected: ['b'], rev: 4 })
  t.match(applyEvent(snapshot, 'time', { rev: 4, timeState: time }), { time })
  t.match(applyEvent(snapshot, 'viewport', { rev: 4, viewportState: null }), { viewport: null })
  const conflict = applyEvent(snapshot, 'doc', { rev: 4, dirty: true, file: 'conflict', message: 'changed' })
  t.match(conflict, { dirty: true, file: 'conflict', message: 'changed' })
  const saved = applyEvent(conflict, 'doc', { rev: 4, dirty: false, file: 'ok' })
  t.match(saved, { dirty: false, file: 'ok' })
  t.equal(saved?.message, undefined)
  t.equal(applyEvent(snapshot, 'reloaded', { rev: 5, feature_count: 1 }), undefined)
})

t.test('findTrackPoint interpolates position, course and speed', async (t) => {
  const track: PlotFeature = {
    type: 'Feature',
    geometry: {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [0, 1],
        [0, 2],
      ],
    },
    properties: { timestamps: ['2024-01-01T00:00:00Z', '2024-01-01T06:00:00Z', '2024-01-01T12:00:00Z'] },
  }
  const at = (time: string) => findTrackPoint(track, Date.parse(time))
  const point = at('2024-01-01T03:00:00Z')
  t.same(point?.position, [0, 0.5])
  t.equal(point?.course, 0)
  // On a sphere with the mean radius, one degree of latitude is 60.04 nautical miles.
  t.ok(Math.abs((point?.speed ?? 0) - 60.04 / 6) < 0.001, `${point?.speed} kn`)
  t.same(at('2024-01-01T12:00:00Z')?.position, [0, 2])
  t.equal(at('2024-01-01T12:00:01Z'), undefined)
  t.equal(findTrackPoint(createPoint('a'), 0), undefined)
})

t.test('listPaths continues across the antimeridian and skips malformed parts', async (t) => {
  const line = (coordinates: unknown): PlotFeature => ({
    type: 'Feature',
    geometry: { type: 'LineString', coordinates },
  })
  t.same(
    listPaths(
      line([
        [179, 0],
        [-179, 0],
      ]),
    ),
    [
      [
        [179, 0],
        [181, 0],
      ],
    ],
  )
  t.same(listPaths(line([['x', 0], null])), [])
  t.same(listPaths({ type: 'Feature', geometry: null }), [])
})

t.test('measure and formatPosition use nautical miles, degrees and minutes', async (t) => {
  const { range, bearing } = measureRangeAndBearing([0, 0], [1, 0])
  t.ok(Math.abs(range - 60.04) < 0.01, `${range}`)
  t.equal(bearing, 90)
  t.equal(formatPosition([-5.35, 36.12]), '36°07.2′N 005°21.0′W')
  t.equal(formatPosition([190, -0.999999]), '01°00.0′S 170°00.0′W')
})

t.test('findMatches marks words of the query without changing the text', async (t) => {
  const text = 'Limits of their request; unlimited'
  const parts = findMatches(text, 'limit the (request')
  t.equal(parts.map((part) => part.text).join(''), text)
  t.same(
    parts.filter(({ isMatch }) => isMatch).map((part) => part.text),
    ['Limits', 'request'],
  )
  t.same(findMatches('a', '.*'), [{ text: 'a', isMatch: false }])
  t.same(findMatches('who', 'who'), [{ text: 'who', isMatch: true }])
})

t.test('listScores averages candidates that were not undone and marks the best one', async (t) => {
  const step = (number: number, score: number | null, undone = false, kind = 'submit') => ({
    step: number,
    kind,
    status: 'done',
    undone,
    reason: null,
    score,
    filesChanged: [],
    commands: [],
  })
  const session = {
    config: { ema: 0.5, halt: { max: 8, threshold: 0.9, patience: 3 } },
    standing: { best_step: 2 },
    steps: [step(0, 0.2, false, 'baseline'), step(1, 0.4), step(2, 0.1, true), step(2, 0.8), step(3, null)],
  } as unknown as TrmSession
  t.match(listScores(session), [
    { step: 0, average: null, isBest: false },
    { step: 1, average: 0.4, isBest: false },
    { step: 2, average: null, isUndone: true, isBest: false },
    { step: 2, average: 0.6000000000000001, isUndone: false, isBest: true },
  ])
})

t.test('formatGameTime counts days from 1', async (t) => {
  t.equal(formatGameTime(0), 'day 1, 00:00')
  t.equal(formatGameTime(1930), 'day 2, 08:10')
})
