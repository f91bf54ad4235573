import { verifies } from '../../../test/verifies.ts'
import { destination, distance } from '../src/domain/geodesic.ts'
import { feature, featuresOf, near, openVault, straight, track, xa, xb } from './vault-kit.ts'

verifies('toolvault:cpa', async (t) => {
  const { data, client } = await openVault(t)
  const { approaches } = await data('cpa_tcpa', { tracks: [xa, xb] })
  const [found] = approaches
  t.ok(near(found.cpa_m, 209.5, 0.02), `${found.cpa_m} m; 211.73 m at a fix would be wrong`)
  t.ok(near(Date.parse(found.time) - Date.UTC(2024, 0, 1), 29.935 * 60_000, 200), found.time)
  // At its least the distance is square to the relative motion: 9.9316 knots east, 11.8626 knots north.
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

verifies('toolvault:cpa', 'it crosses the antimeridian, and a line can be drawn', async (t) => {
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
  t.ok(near(found.cpa_m, distance({ lon: 180, lat: 0 }, { lon: 180, lat: 0.005 }), 0.01))
  const [drawn] = featuresOf(await command('cpa_tcpa', args))
  t.match(drawn, { geometry: { type: 'LineString' }, properties: { annotationType: 'measurement' } })
})

verifies('toolvault:cpa:predicted', async (t) => {
  const { data } = await openVault(t)
  const predicted = async (a: unknown, b: unknown, more = {}) =>
    (await data('cpa_tcpa', { tracks: [a, b], ...more })).approaches[0].predicted
  const a = straight('a', [-5, 36], { course: 90, knots: 10 })
  const abeam = straight('b', [-5, 36.01], { course: 90, knots: 10 })
  t.match(await predicted(a, abeam), { tcpa_s: null }, 'side by side')
  t.ok(near((await predicted(a, abeam)).dcpa_m, (await predicted(a, abeam)).range_m, 1))
  // Head on, 10 knots each, 5 nm apart: a quarter of an hour.
  const ahead = destination({ lon: -5, lat: 36 }, 90, 5 * 1852)
  const towards = straight('c', [ahead.lon, ahead.lat], { course: 270, knots: 10 })
  const meeting = await predicted(a, towards)
  t.ok(near(meeting.tcpa_s, 900, 1) && meeting.dcpa_m < 20, JSON.stringify(meeting))
  t.ok(near(meeting.relative_speed_kn, 20, 0.01))
  const gone = straight('d', [ahead.lon, ahead.lat], { course: 90, knots: 20 })
  t.ok((await predicted(a, gone)).tcpa_s < 0, 'it is over')
  // At anchor, its course is noise: the prediction is of the other one alone.
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
  t.match(await predicted(both, still, { motion: 'recorded' }), { tcpa_s: null }, 'both at anchor')
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
  // A goes east, B goes north.
  t.ok(near(start.relative_bearing_deg, 140.856 - 90, 0.01), 'relative to the course of the first')
  t.ok(near(start.atb_deg, start.reciprocal_deg - 360, 0.01), 'port bow of the second')
  const series = await data('range_bearing', { ...pair, step_s: 600 })
  t.same(series.shape, [7, 5])
  t.match(series.axes[0], { name: 'time', values: { 6: '2024-01-01T01:00:00Z' } })
  await t.rejects(client.call('range_bearing', { ...pair, at: '2024-01-01T02:00:00Z' }), {
    code: 'NO_OVERLAP',
    remedy: /between 2024-01-01T00:00:00Z and 2024-01-01T01:00:00Z/,
  })
  await t.rejects(client.call('range_bearing', { features: [xa] }), { code: 'FEATURES_NEEDED' })
})

verifies('toolvault:cpa', 'an approach that a position jump makes is told to be in doubt', async (t) => {
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
