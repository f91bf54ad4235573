/** What callers do beside the usual: other kinds, other times, nothing to work on. */
import { verifies } from '../../../test/verifies.ts'
import { feature, featuresOf, near, openVault, track, xa, xb } from './vault-kit.ts'

const point = (id: string, at: readonly number[], properties = {}) =>
  feature(id, 'Point', at, { dataType: 'reference-point', name: id, ...properties })

verifies(
  'toolvault:range-bearing',
  'a point is there while it is valid, and a track while it has fixes',
  async (t) => {
    const { data, client } = await openVault(t)
    const window = { time: '2024-01-01T00:10:00Z', timeEnd: '2024-01-01T00:20:00Z' }
    const buoy = point('buoy', [-5, 36.1], window)
    const found = await data('range_bearing', { features: [xa, buoy] })
    t.equal(found.time, '2024-01-01T00:10:00Z', 'the begin of the common time')
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
      'the current time of the plot',
    )
  },
)

verifies('toolvault:cpa:predicted', 'the time and the motion can be chosen', async (t) => {
  const { data, client } = await openVault(t)
  const at = (time: string) => ({ tracks: [xa, xb], at: time })
  const [later] = (await data('cpa_tcpa', at('2024-01-01T00:20:00Z'))).approaches
  t.ok(near(later.predicted.tcpa_s, 9.936 * 60, 5), 'ten minutes before the approach')
  const [outside] = (await data('cpa_tcpa', at('2024-01-01T09:00:00Z'))).approaches
  t.equal(outside.predicted, null, 'nobody is there then')
  await t.rejects(client.call('cpa_tcpa', at('soon')), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(client.call('cpa_tcpa', { tracks: [xa, xb], motion: 'recorded' }), {
    code: 'FEATURE_UNUSABLE',
    message: /no recorded speeds/,
  })
  await t.rejects(client.call('cpa_tcpa', { tracks: [xa] }), {
    code: 'FEATURES_NEEDED',
    data: { needed: 2, given: 1 },
  })
})

verifies(
  'toolvault:simplify',
  'tracks without times are simplified by their line, parts each by themselves',
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
    const [cut] = featuresOf(await command('simplify_track', { ...args, deviation: 'line' }))
    t.match(cut?.geometry, { type: 'MultiLineString', coordinates: [{ length: 2 }, { length: 4 }] })
    t.same(cut?.properties.marks, [0, 2, 3, 4, 5, 7])
    await t.rejects(client.call('simplify_track', args), { code: 'NO_TIME_DATA' })
  },
)

verifies(
  'toolvault:resample',
  'places become points where that is asked, and nothing lies between parts',
  async (t) => {
    const { command, client } = await openVault(t)
    const points = featuresOf(
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
    const [even] = featuresOf(await command('resample_track', { tracks: [parts], interval_s: 30 }))
    const times = even?.properties.timestamps
    t.notOk(Array.isArray(times) && times.includes('2024-01-01T00:29:30Z'))
    const still = track('still', [
      [1, 1],
      [1, 1],
    ])
    const [derived] = featuresOf(await command('derive_speed_course', { tracks: [still] }))
    t.match(derived?.properties, { speeds: [0, 0], courses: [null, null] })
  },
)

verifies('toolvault:jumps', 'what is to be replaced needs an id', async (t) => {
  const { client } = await openVault(t)
  const places = Array.from({ length: 40 }, (_, index) => [index * 0.004, index === 20 ? 51 : 50])
  await t.rejects(client.call('find_jumps', { tracks: [track(undefined, places)], remove: true }), {
    code: 'FEATURE_UNUSABLE',
  })
})

verifies('toolvault:import:ais', 'a start must be a time', async (t) => {
  const { client } = await openVault(t)
  await t.rejects(client.call('import_ais', { text: 'x', start: 'soon' }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(client.call('import_ais', { text: '!AIVDM,broken' }), { code: 'NOTHING_IMPORTED' })
  await t.rejects(client.call('import_ais', { text: 'x', path: 'y' }), { code: 'INVALID_ARGUMENTS' })
})
