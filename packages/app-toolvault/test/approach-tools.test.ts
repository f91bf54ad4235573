import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { play, scenes } from '../../../fixtures/generate/tracks/scene.ts'
import { scoreScene } from '../../../fixtures/generate/tracks/score.ts'
import { trackDifferences } from '../../../fixtures/generate/tracks/tracks.ts'
import { verifies } from '../../../test/verifies.ts'
import { computeDistance, findDestination } from '../src/domain/geodesy/geodesic.ts'
import { feature, listFeatures, near, openVault, straight, track, xa, xb } from './vault-kit.ts'

verifies('toolvault:cpa', async (t) => {
  const { data, client } = await openVault(t)
  const { approaches } = await data('cpa_tcpa', { tracks: [xa, xb] })
  const [found] = approaches
  t.ok(near(found.cpa_m, 209.5, 0.02), `${found.cpa_m} m; 211.73 m at a fix would be wrong`)
  t.ok(near(Date.parse(found.time) - Date.UTC(2024, 0, 1), 29.935 * 60_000, 200), found.time)
  // The closest approach is perpendicular to the relative motion, 9.9316 knots east and 11.8626 knots north.
  const square = 180 + (Math.atan2(11.8626, 9.9316) * 180) / Math.PI
  t.ok(near(found.bearing_deg, square, 0.01), `${found.bearing_deg} ${square}`)
  const later = track(
    'later',
    [
      [0, 0],
      [1, 1],
    ],
    { start: '2025-01-01T00:00:00Z' },
  )
  await t.rejects(client.call('cpa_tcpa', { tracks: [xa, later] }), { code: 'NO_OVERLAP' })
  const three = await data('cpa_tcpa', { tracks: [xa, later, xb] })
  t.match(three, { pairs: 3, without_overlap: 2, approaches: { length: 1 } })
  const none = await data('cpa_tcpa', { tracks: [xa, xb], within_nm: 0.1 })
  t.match(none, { approaches: { length: 0 }, summary: /No two tracks/ })
})

verifies('toolvault:cpa', 'cpa_tcpa finds approaches across the antimeridian and draws a line', async (t) => {
  const { command, data } = await openVault(t)
  const a = track('a', [
    [179.99, 0],
    [-179.99, 0],
  ])
  const b = track('b', [
    [180, 0.005],
    [180, 0.005],
  ])
  const args = { tracks: [a, b], draw: true }
  const [found] = (await data('cpa_tcpa', args)).approaches
  t.ok(near(found.cpa_m, computeDistance({ lon: 180, lat: 0 }, { lon: 180, lat: 0.005 }), 0.01))
  const [drawn] = listFeatures(await command('cpa_tcpa', args))
  t.match(drawn, { geometry: { type: 'LineString' }, properties: { annotationType: 'measurement' } })
})

verifies('toolvault:cpa:predicted', async (t) => {
  const { data } = await openVault(t)
  const predicted = async (a: unknown, b: unknown, more = {}) =>
    (await data('cpa_tcpa', { tracks: [a, b], ...more })).approaches[0].predicted
  const a = straight('a', [-5, 36], { course: 90, knots: 10 })
  const abeam = straight('b', [-5, 36.01], { course: 90, knots: 10 })
  t.match(await predicted(a, abeam), { tcpa_s: null }, 'predicts no time for vessels on parallel courses')
  t.ok(near((await predicted(a, abeam)).dcpa_m, (await predicted(a, abeam)).range_m, 1))
  // Head on at 10 knots each, 5 nm apart, they meet after a quarter of an hour.
  const ahead = findDestination({ lon: -5, lat: 36 }, 90, 5 * 1852)
  const towards = straight('c', [ahead.lon, ahead.lat], { course: 270, knots: 10 })
  const meeting = await predicted(a, towards)
  t.ok(near(meeting.tcpa_s, 900, 1) && meeting.dcpa_m < 20, JSON.stringify(meeting))
  t.ok(near(meeting.relative_speed_kn, 20, 0.01))
  const gone = straight('d', [ahead.lon, ahead.lat], { course: 90, knots: 20 })
  t.ok((await predicted(a, gone)).tcpa_s < 0, 'predicts a negative time after the approach')
  // The course at anchor is noise, so the prediction uses only the other vessel's motion.
  const noise = Array.from({ length: 11 }, (_, index) => (index * 77) % 360)
  const anchored = {
    ...straight('e', [ahead.lon, ahead.lat], { course: 0, knots: 0 }),
  }
  const recorded = { speeds: Array(11).fill(0.15), courses: noise }
  const still = { ...anchored, properties: { ...anchored.properties, ...recorded } }
  const under = {
    ...a,
    properties: { ...a.properties, speeds: Array(11).fill(10), courses: Array(11).fill(90) },
  }
  const expected = await predicted(under, still, { motion: 'recorded' })
  t.ok(near(expected.tcpa_s, 1800, 2) && expected.dcpa_m < 20, JSON.stringify(expected))
  const both = { ...still, id: 'f', geometry: a.geometry }
  t.match(
    await predicted(both, still, { motion: 'recorded' }),
    { tcpa_s: null },
    'predicts no time for two anchored vessels',
  )
})

verifies('toolvault:range-bearing', async (t) => {
  const { data, client } = await openVault(t)
  const [london, paris] = [
    feature('l', 'Point', [-0.1278, 51.5074], { dataType: 'reference-point', name: 'London' }),
    feature('p', 'Point', [2.3522, 48.8566], { dataType: 'reference-point', name: 'Paris' }),
  ]
  const places = { features: [london, paris] }
  const way = await data('range_bearing', places)
  t.ok(near(way.range_m, 343_923.12, 0.5) && near(way.bearing_deg, 148.0459, 0.001))
  const ranges = { m: 343_923.12, km: 343.923, nm: 185.7036, yd: 343_923.12 / 0.9144 }
  for (const [unit, range] of Object.entries(ranges))
    t.ok(near((await data('range_bearing', { ...places, unit })).range, range, range * 1e-6), unit)
  const rhumb = await data('range_bearing', { ...places, line: 'rhumb' })
  t.ok(rhumb.range_m > way.range_m && rhumb.line === 'rhumb' && /rhumb/.test(rhumb.summary))

  const pair = { features: [xa, xb] }
  const start = await data('range_bearing', { ...pair, at: '2024-01-01T00:00:00Z' })
  t.ok(near(start.range_m, 14_300.85, 0.01) && near(start.bearing_deg, 140.856, 0.001))
  const end = await data('range_bearing', { ...pair, at: '2024-01-01T01:00:00Z' })
  t.ok(near(end.range_m, 14_354.97, 0.01) && near(end.bearing_deg, 319.276, 0.001))
  // a goes east, and b goes north.
  t.ok(
    near(start.relative_bearing_deg, 140.856 - 90, 0.01),
    'relative_bearing_deg refers to the course of the first feature',
  )
  t.ok(
    near(start.atb_deg, start.reciprocal_deg - 360, 0.01),
    'atb_deg is negative on the port bow of the second feature',
  )
  const series = await data('range_bearing', { ...pair, step_s: 600 })
  t.same(series.shape, [7, 5])
  t.match(series.axes[0], { name: 'time', values: { 6: '2024-01-01T01:00:00Z' } })
  await t.rejects(client.call('range_bearing', { ...pair, at: '2024-01-01T02:00:00Z' }), {
    code: 'NO_OVERLAP',
    remedy: /between 2024-01-01T00:00:00Z and 2024-01-01T01:00:00Z/,
  })
  await t.rejects(client.call('range_bearing', { features: [xa] }), { code: 'FEATURES_NEEDED' })
})

verifies('toolvault:cpa', 'cpa_tcpa reports an approach in a position jump as doubtful', async (t) => {
  const { data } = await openVault(t)
  const a = straight('a', [-5, 36], { course: 90, knots: 10, fixes: 60 })
  const b = straight('b', [-5, 36.2], { course: 90, knots: 10, fixes: 60 })
  const jumped = b.geometry.coordinates.map(([lon = 0, lat = 0], index) => [
    lon,
    index === 30 ? lat - 0.19 : lat,
  ])
  const jumping = { ...b, geometry: { ...b.geometry, coordinates: jumped } }
  t.match((await data('cpa_tcpa', { tracks: [a, jumping] })).summary, /In doubt: b has a position jump/)
  t.notMatch((await data('cpa_tcpa', { tracks: [a, b] })).summary, /In doubt/)
})

const point = (id: string, at: readonly number[], properties = {}) =>
  feature(id, 'Point', at, { dataType: 'reference-point', name: id, ...properties })

verifies(
  'toolvault:range-bearing',
  'a point has a position while it is valid, and a track has positions between its fixes',
  async (t) => {
    const { data, client } = await openVault(t)
    const window = { time: '2024-01-01T00:10:00Z', timeEnd: '2024-01-01T00:20:00Z' }
    const buoy = point('buoy', [-5, 36.1], window)
    const found = await data('range_bearing', { features: [xa, buoy] })
    t.equal(found.time, '2024-01-01T00:10:00Z', 'uses the start of the common time by default')
    t.match(found, { atb_deg: null, relative_bearing_deg: Number })
    const at = (time: string) => client.call('range_bearing', { features: [xa, buoy], at: time })
    await t.rejects(at('2024-01-01T00:30:00Z'), { code: 'NO_OVERLAP', data: { spans: { length: 2 } } })
    await t.rejects(at('noon'), { code: 'INVALID_ARGUMENTS' })
    const late = point('late', [0, 0], { time: '2025-01-01T00:00:00Z', timeEnd: '2025-01-02T00:00:00Z' })
    await t.rejects(client.call('range_bearing', { features: [xa, late] }), { code: 'NO_OVERLAP' })
    await t.rejects(client.call('range_bearing', { features: [xa, xb], step_s: 0.01 }), {
      code: 'INVALID_ARGUMENTS',
    })
    const area = feature('area', 'Polygon', [[]], { dataType: 'annotation' })
    await t.rejects(client.call('range_bearing', { features: [xa, area] }), { code: 'FEATURE_UNUSABLE' })
    const current = {
      current: '2024-01-01T00:30:00Z',
      start: '2024-01-01T00:00:00Z',
      end: '2024-01-01T01:00:00Z',
    }
    t.equal(
      (await data('range_bearing', { features: [xa, xb], current_time_state: current })).time,
      current.current,
      'uses the current time of the plot',
    )
  },
)

verifies(
  'toolvault:cpa:predicted',
  'cpa_tcpa uses the requested time and motion for its prediction',
  async (t) => {
    const { data, client } = await openVault(t)
    const at = (time: string) => ({ tracks: [xa, xb], at: time })
    const [later] = (await data('cpa_tcpa', at('2024-01-01T00:20:00Z'))).approaches
    t.ok(near(later.predicted.tcpa_s, 9.936 * 60, 5), 'predicts the approach ten minutes ahead')
    const [outside] = (await data('cpa_tcpa', at('2024-01-01T09:00:00Z'))).approaches
    t.equal(outside.predicted, null, 'predicts nothing without a position at this time')
    await t.rejects(client.call('cpa_tcpa', at('soon')), { code: 'INVALID_ARGUMENTS' })
    await t.rejects(client.call('cpa_tcpa', { tracks: [xa, xb], motion: 'recorded' }), {
      code: 'FEATURE_UNUSABLE',
      message: /no recorded speeds/,
    })
    await t.rejects(client.call('cpa_tcpa', { tracks: [xa] }), {
      code: 'FEATURES_NEEDED',
      data: { needed: 2, given: 1 },
    })
  },
)

verifies(
  'toolvault:simplify',
  'simplify_track uses the line of a track without times, and simplifies each part separately',
  async (t) => {
    const { command, client } = await openVault(t)
    const coordinates = [
      [
        [0, 50],
        [0.01, 50.00001],
        [0.02, 50],
      ],
      [
        [1, 50],
        [1.01, 50.1],
        [1.02, 50],
        [1.03, 50.00001],
        [1.04, 50],
      ],
    ]
    const parts = feature('p', 'MultiLineString', coordinates, {
      dataType: 'track',
      marks: [0, 1, 2, 3, 4, 5, 6, 7],
    })
    const args = { tracks: [parts], tolerance_m: 20 }
    const [cut] = listFeatures(await command('simplify_track', { ...args, deviation: 'line' }))
    t.match(cut?.geometry, { type: 'MultiLineString', coordinates: [{ length: 2 }, { length: 4 }] })
    t.same(cut?.properties.marks, [0, 2, 3, 4, 5, 7])
    await t.rejects(client.call('simplify_track', args), { code: 'NO_TIME_DATA' })
  },
)

verifies(
  'toolvault:resample',
  'interpolate_position adds points, and resample_track does not interpolate between parts',
  async (t) => {
    const { command, client } = await openVault(t)
    const points = listFeatures(
      await command('interpolate_position', {
        tracks: [xa, xb],
        at: '2024-01-01T00:30:00Z',
        add_points: true,
      }),
    )
    t.match(points, [
      {
        geometry: { type: 'Point' },
        properties: { dataType: 'reference-point', time: '2024-01-01T00:30:00Z' },
      },
      { properties: { name: /XB/ } },
    ])
    const parts = {
      ...xa,
      geometry: {
        type: 'MultiLineString',
        coordinates: [xa.geometry.coordinates.slice(0, 30), xa.geometry.coordinates.slice(30)],
      },
    }
    const between = { tracks: [parts], at: '2024-01-01T00:29:30Z' }
    await t.rejects(client.call('interpolate_position', between), { code: 'NO_OVERLAP' })
    await t.rejects(client.call('interpolate_position', { tracks: [xa], at: 'noon' }), {
      code: 'INVALID_ARGUMENTS',
    })
    await t.rejects(client.call('interpolate_position', { tracks: [xa] }), { code: 'FEATURES_NEEDED' })
    const [even] = listFeatures(await command('resample_track', { tracks: [parts], interval_s: 30 }))
    const times = even?.properties.timestamps
    t.notOk(Array.isArray(times) && times.includes('2024-01-01T00:29:30Z'))
    const still = track('still', [
      [1, 1],
      [1, 1],
    ])
    const [derived] = listFeatures(await command('derive_speed_course', { tracks: [still] }))
    t.match(derived?.properties, { speeds: [0, 0], courses: [null, null] })
  },
)

verifies('toolvault:jumps', 'find_jumps with remove rejects a track without an id', async (t) => {
  const { client } = await openVault(t)
  const places = Array.from({ length: 40 }, (_, index) => [index * 0.004, index === 20 ? 51 : 50])
  await t.rejects(client.call('find_jumps', { tracks: [track(undefined, places)], remove: true }), {
    code: 'FEATURE_UNUSABLE',
  })
})

verifies(
  'toolvault:import:ais',
  'import_ais rejects invalid arguments and input without positions',
  async (t) => {
    const { client } = await openVault(t)
    await t.rejects(client.call('import_ais', { text: 'x', start: 'soon' }), { code: 'INVALID_ARGUMENTS' })
    await t.rejects(client.call('import_ais', { text: '!AIVDM,broken' }), { code: 'NOTHING_IMPORTED' })
    await t.rejects(client.call('import_ais', { text: 'x', path: 'y' }), { code: 'INVALID_ARGUMENTS' })
  },
)

const fixtures = join(import.meta.dirname, '../../../fixtures/tracks')

t.test('the generator creates the committed fixtures', async (t) => {
  t.same(trackDifferences(), [])
})

verifies('toolvault:scenes', async (t) => {
  for (const spec of scenes) {
    const score = scoreScene(play(spec))
    t.same(score.jumps, { ...score.jumps, missed: 0, invented: 0 }, `${spec.name}: ${JSON.stringify(score)}`)
    t.ok(score.approach_error_m <= 4 * spec.noise_m, `${spec.name}: closest approaches within the noise`)
    t.ok(score.stays.missed + score.stays.invented === 0, `${spec.name}: stays in the zone`)
    t.ok(score.stay_error_s <= 20, `${spec.name}: times of stays, ${score.stay_error_s} s`)
    t.ok(score.length_error_m / score.length_m < 0.03, `${spec.name}: lengths`)
    t.equal(score.gaps.missed + score.gaps.invented, 0, `${spec.name}: gaps`)
  }
})

t.test('the sample plot has 17 features and about 3,000 vertices', async (t) => {
  const plot = JSON.parse(readFileSync(join(fixtures, 'gibraltar.plot.json'), 'utf8'))
  t.equal(plot.features.length, 17)
  const count = (value: unknown): number =>
    Array.isArray(value)
      ? typeof value[0] === 'number'
        ? 1
        : value.reduce((sum, one) => sum + count(one), 0)
      : 0
  const vertices = plot.features.reduce(
    (sum: number, { geometry }: { geometry: { coordinates: unknown } }) => sum + count(geometry.coordinates),
    0,
  )
  t.ok(vertices > 2900 && vertices < 3600, `${vertices} vertices`)
})
