import type { Feature } from '@causeway/plot'
import t from 'tap'
import { createTrackWithBadFixes } from '../../../fixtures/generate/tracks/bad-fixes.ts'
import { verifies } from '../../../test/verifies.ts'
import { readFeatures } from '../src/domain/feature/read-features.ts'
import { computeDistance, createLine } from '../src/domain/geodesy/geodesic.ts'
import { findJumps } from '../src/domain/track/position-jump.ts'
import { readTimedTrack } from '../src/domain/track/track.ts'
import { collection, feature, listFeatures, near, openVault, straight, track, xa, xb } from './vault-kit.ts'

const list = <Item = number>(feature: Feature | undefined, name: string) =>
  (feature?.properties[name] ?? []) as Item[]

const listPlaces = (feature: Feature | undefined) => (feature?.geometry?.coordinates ?? []) as number[][]

verifies('toolvault:zone', async (t) => {
  const { data, command } = await openVault(t)
  const zone = feature(
    'z',
    'Polygon',
    [
      [
        [-4.95, 35.95],
        [-4.85, 35.95],
        [-4.85, 36.05],
        [-4.95, 36.05],
        [-4.95, 35.95],
      ],
    ],
    { dataType: 'annotation', name: 'Z' },
  )
  const { transits } = await data('zone_transits', { tracks: [xa, xb], zones: [zone] })
  const minutes = transits.map(({ enter_after_s, exit_after_s }: Record<string, number>) => [
    (enter_after_s ?? 0) / 60,
    (exit_after_s ?? 0) / 60,
  ])
  t.ok(near(minutes[0][0], 14.7059, 0.001) && near(minutes[0][1], 44.1176, 0.001), String(minutes[0]))
  t.ok(near(minutes[1][0], 15.1515, 0.001) && near(minutes[1][1], 45.4545, 0.001), String(minutes[1]))
  t.same(
    transits.map(({ fixes_inside }: { fixes_inside: number }) => fixes_inside),
    [30, 30],
  )

  const through = track('through', [
    [-5, 36],
    [-4.8, 36],
  ])
  const passed = await data('zone_transits', { tracks: [through], zones: [zone] })
  t.match(passed.transits, [{ fixes_inside: 0, enter_after_s: 15, exit_after_s: 45, begins_inside: false }])
  const from = track('from', [
    [-4.9, 36],
    [-4.8, 36],
  ])
  t.match((await data('zone_transits', { tracks: [from], zones: [zone] })).transits, [
    { enter_time: null, begins_inside: true, exit_after_s: 30 },
  ])
  const outside = track('outside', [
    [-5, 37],
    [-4.8, 37],
  ])
  t.match(await command('zone_transits', { tracks: [outside], zones: [zone] }), { command: 'showText' })
})

verifies(
  'toolvault:zone',
  'holes are not part of a zone, and zones can cross the antimeridian',
  async (t) => {
    const { data, client } = await openVault(t)
    const square = (west: number, east: number, south: number, north: number) => [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ]
    const holed = feature('z', 'Polygon', [square(0, 10, -5, 5), square(4, 6, -1, 1)], {
      dataType: 'annotation',
    })
    const line = track('t', [
      [-5, 0],
      [15, 0],
    ])
    const { transits } = await data('zone_transits', { tracks: [line], zones: [holed] })
    t.match(transits, [
      { enter_after_s: 15, exit_after_s: 27 },
      { enter_after_s: 33, exit_after_s: 45 },
    ])
    const crossing = track('c', [
      [178, 0],
      [-178, 0],
    ])
    for (const [west, east] of [
      [179, 181],
      [179, -179],
      [-181, -179],
    ] as const)
      t.match(
        (
          await data('zone_transits', {
            tracks: [crossing],
            zones: [feature('z', 'Polygon', [square(west, east, -1, 1)], { dataType: 'annotation' })],
          })
        ).transits,
        [{ enter_after_s: 15, exit_after_s: 45 }],
        `${west} to ${east}`,
      )
    await t.rejects(client.call('zone_transits', { tracks: [line], zones: [line] }), {
      code: 'FEATURE_UNUSABLE',
    })
    const single = track('single', [[0, 0, 0]])
    await t.rejects(client.call('track_stats', { tracks: [single] }), {
      code: 'FEATURE_UNUSABLE',
      message: /has 1 fix; at least two are required/,
    })
  },
)

verifies('toolvault:stats', async (t) => {
  const { data } = await openVault(t)
  const { tracks } = await data('track_stats', { tracks: [xa, xb] })
  t.ok(near(tracks[0].length_m, 18_393.39, 0.01) && near(tracks[0].median_speed_kn, 9.9316, 0.0001))
  t.ok(near(tracks[1].length_m, 21_969.88, 0.01) && near(tracks[1].median_speed_kn, 11.8626, 0.001))
  const recorded = { ...xa, properties: { ...xa.properties, speeds: Array(61).fill(4.87) } }
  const apart = (await data('track_stats', { tracks: [recorded] })).tracks[0]
  t.match(apart, { recorded_median_speed_kn: 4.87 })
  t.ok(near(apart.mean_speed_kn, 9.9316, 0.001), 'does not mix derived and recorded speeds')
  const times = [0, 60, 120, 1800, 1860].map((second) =>
    new Date(Date.UTC(2024, 0, 1, 0, 0, second)).toISOString(),
  )
  const gapped = track('g', [
    [0, 0],
    [0.001, 0],
    [0.002, 0],
    [0.003, 0],
    [0.004, 0],
  ])
  const withGap = { ...gapped, properties: { ...gapped.properties, timestamps: times } }
  t.match((await data('track_stats', { tracks: [withGap] })).tracks[0], {
    gap_count: 1,
    gaps: [{ duration_s: 1680 }],
  })
  const parts = {
    ...gapped,
    geometry: {
      type: 'MultiLineString',
      coordinates: [
        [
          [0, 0],
          [0.001, 0],
        ],
        [
          [1, 0],
          [1.001, 0],
          [1.002, 0],
        ],
      ],
    },
  }
  const stats = (await data('track_stats', { tracks: [parts] })).tracks[0]
  t.ok(near(stats.length_m, 3 * 111.319, 0.01), 'creates no leg between parts')
})

verifies('toolvault:simplify', async (t) => {
  const { command } = await openVault(t)
  const count = 400
  const bent = track(
    'bent',
    Array.from({ length: count }, (_, i) => [-5 + 0.002 * i, 36 + 0.05 * Math.sin(i / 40)]),
    {
      speeds: Array.from({ length: count }, (_, i) => i),
      extra: Array.from({ length: count }, (_, i) => `v${i}`),
    },
  )
  for (const tolerance_m of [5, 200]) {
    const [simple] = listFeatures(await command('simplify_track', { tracks: [bent], tolerance_m }))
    const timestamps = list<string>(simple, 'timestamps')
    const speeds = list(simple, 'speeds')
    const extra = list<string>(simple, 'extra')
    const places = listPlaces(simple)
    t.ok(places.length < count / 2, `${places.length} vertices remain`)
    t.same([timestamps.length, speeds.length, extra.length], Array(3).fill(places.length))
    t.same([speeds[0], speeds.at(-1)], [0, count - 1], 'retains the ends')
    for (const [row, index] of speeds.entries()) {
      t.same(places[row], bent.geometry.coordinates[index])
      t.equal(extra[row], `v${index}`)
    }
    t.ok(worstDeviation(bent.geometry.coordinates, speeds) <= tolerance_m)
  }
})

/**
 * Returns the greatest distance between a vertex and its position interpolated from the retained vertices. Fixes are
 * a minute apart.
 */
function worstDeviation(places: readonly (readonly number[])[], kept: readonly number[]): number {
  const at = (index: number) => ({ lon: places[index]?.[0] ?? 0, lat: places[index]?.[1] ?? 0 })
  return Math.max(
    ...kept.slice(1).flatMap((to, row) => {
      const from = kept[row] ?? 0
      const line = createLine(at(from), at(to))
      return Array.from({ length: to - from }, (_, step) =>
        computeDistance(at(from + step), line.at(step / (to - from))),
      )
    }),
  )
}

verifies('toolvault:jumps', async (t) => {
  const { data, command } = await openVault(t)
  const clean = straight('clean', [179.95, 36], { course: 80, knots: 15, fixes: 120 })
  t.match(
    await command('find_jumps', { tracks: [clean] }),
    { command: 'showText' },
    'finds no jump in a smooth track',
  )
  const gapped = {
    ...clean,
    properties: {
      ...clean.properties,
      timestamps: clean.properties.timestamps.map((time, index) =>
        new Date(Date.parse(time) + (index > 60 ? 3_600_000 : 0)).toISOString(),
      ),
    },
    geometry: {
      type: 'LineString',
      coordinates: clean.geometry.coordinates.map(([lon = 0, lat = 0], index) => [
        lon + (index > 60 ? 0.3 : 0),
        lat,
      ]),
    },
  }
  t.match(
    await command('find_jumps', { tracks: [gapped] }),
    { command: 'showText' },
    'does not report a gap as a jump',
  )
  const moved = [20, 50, 51, 90]
  const jumpy = {
    ...clean,
    geometry: {
      type: 'LineString',
      coordinates: clean.geometry.coordinates.map(([lon = 0, lat = 0], index) =>
        moved.includes(index) ? [lon, lat + 0.05] : [lon, lat],
      ),
    },
  }
  const { jumps } = await data('find_jumps', { tracks: [jumpy] })
  t.match(jumps, [
    { first_vertex: 20, last_vertex: 20 },
    { first_vertex: 50, last_vertex: 51 },
    { first_vertex: 90, last_vertex: 90 },
  ])
  t.equal(jumps.length, 3)
  const [repaired] = listFeatures(await command('find_jumps', { tracks: [jumpy], remove: true }))
  t.equal(listPlaces(repaired).length, 116)
  t.equal(list<string>(repaired, 'timestamps').length, 116)
})

verifies('toolvault:jumps', 'find_jumps reports only bad fixes on random tracks with gaps', async (t) => {
  let [bad, found] = [0, 0]
  for (let seed = 0; seed < 120; seed++) {
    const generated = createTrackWithBadFixes(seed)
    const feature = toTrack(`t${seed}`, generated.fixes)
    const jumps = runToEnd(findJumps(readTimedTrack(feature), 100))
    const reported = jumps.flatMap(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    )
    const good = reported.filter((index) => !generated.bad.has(index))
    t.same(good, [], `seed ${seed} reports no good fix`)
    bad += generated.bad.size
    found += reported.length
  }
  t.ok(found > 0.94 * bad, `${found} of ${bad} bad fixes are found`)
})

verifies(
  'toolvault:jumps',
  'find_jumps reports bad fixes next to a gap, at either end and at equal times',
  async (t) => {
    const { fixes } = readTimedTrack(straight('s', [179.95, 75], { course: 80, knots: 15, fixes: 60 }))
    const gapped = fixes.map((fix, index) => ({ ...fix, time: fix.time + (index >= 30 ? 3_600_000 : 0) }))
    for (const moved of [[29], [28, 29], [30], [30, 31], [29, 30], [0], [58, 59]]) {
      const bad = gapped.map((fix, index) =>
        moved.includes(index) ? { ...fix, lat: fix.lat + 0.2 - 0.4 * (index % 2) } : fix,
      )
      const jumps = runToEnd(findJumps(readTimedTrack(toTrack('g', bad)), 100))
      t.match(jumps, [{ first: moved[0], last: moved.at(-1) }], moved.join())
      t.equal(jumps.length, 1)
    }
    const doubled = fixes.flatMap((fix, index) =>
      index === 20 ? [fix, { ...fix, lat: fix.lat + 0.1 }] : [fix],
    )
    t.match(runToEnd(findJumps(readTimedTrack(toTrack('d', doubled)), 100)), [{ first: 21, last: 21 }])
    const shifted = fixes.map((fix, index) => (index < 30 ? fix : { ...fix, lat: fix.lat + 0.2 }))
    t.same(
      runToEnd(findJumps(readTimedTrack(toTrack('c', shifted)), 100)),
      [],
      'does not report a permanent shift as a jump',
    )
  },
)

function toTrack(id: string, fixes: readonly { lon: number; lat: number; time: number }[]): Feature {
  const coordinates = fixes.map(({ lon, lat }) => [lon, lat])
  const timestamps = fixes.map(({ time }) => new Date(time).toISOString())
  return { ...track(id, coordinates), properties: { dataType: 'track', timestamps } }
}

function runToEnd<T>(steps: Generator<number, T>): T {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

verifies('toolvault:resample', async (t) => {
  const { command, data, client } = await openVault(t)
  const [even] = listFeatures(await command('resample_track', { tracks: [xa], interval_s: 25 }))
  const times = even?.properties.timestamps as string[]
  t.same(times.slice(0, 3), ['2024-01-01T00:00:00Z', '2024-01-01T00:00:25Z', '2024-01-01T00:00:50Z'])
  t.equal(times.at(-1), '2024-01-01T01:00:00Z', 'retains the last fix')
  t.equal(listPlaces(even).length, times.length)
  const turning = straight('n', [0, 50], {
    course: 0,
    knots: 10,
    courses: Array.from({ length: 11 }, (_, i) => (i % 2) * 350),
  })
  const [turned] = listFeatures(await command('resample_track', { tracks: [turning], interval_s: 30 }))
  t.equal(list(turned, 'courses')[1], 355, 'interpolates from 0 to 350 degrees through north')
  const gapped = {
    ...turning,
    properties: {
      ...turning.properties,
      timestamps: turning.properties.timestamps.map((time, index) =>
        new Date(Date.parse(time) + (index > 5 ? 7_200_000 : 0)).toISOString(),
      ),
    },
  }
  const [open] = listFeatures(await command('resample_track', { tracks: [gapped], interval_s: 60 }))
  const inside = list<string>(open, 'timestamps').filter(
    (time) => time > '2024-01-01T00:05:00Z' && time < '2024-01-01T02:06:00Z',
  )
  t.same(inside, [], 'interpolates nothing in a gap')
  await t.rejects(client.call('resample_track', { tracks: [xa], interval_s: 0.001 }), {
    code: 'IMPORT_TOO_LARGE',
  })

  const place = await data('interpolate_position', { tracks: [xa, xb], at: '2024-01-01T00:29:56.1Z' })
  const [lonA, latA, , , lonB, latB] = place.values
  t.ok(near(computeDistance({ lon: lonA, lat: latA }, { lon: lonB, lat: latB }), 209.5, 0.1))
  await t.rejects(client.call('interpolate_position', { tracks: [xa], at: '2024-01-02T00:00:00Z' }), {
    code: 'NO_OVERLAP',
  })
  const [derived] = listFeatures(await command('derive_speed_course', { tracks: [xb] }))
  t.same(list(derived, 'courses')[30], 0)
  t.ok(near(list(derived, 'speeds')[30] ?? 0, 11.8626, 0.001))
})

t.test(
  'readFeatures accepts a missing geometry and rejects names of Object.prototype as types',
  async (t) => {
    t.match(readFeatures([{ type: 'Feature' }], 'features'), [{ geometry: null, properties: {} }])
    for (const type of ['constructor', '__proto__', ['Point'], null])
      t.throws(
        () => readFeatures([{ type: 'Feature', geometry: { type, coordinates: [0, 0] } }], 'features'),
        {
          code: 'INVALID_ARGUMENTS',
        },
      )
  },
)

t.test('readFeatures replaces null properties with an empty object', async (t) => {
  t.match(readFeatures([{ type: 'Feature', geometry: null, properties: null }], 'features'), [
    { properties: {} },
  ])
  t.ok(collection())
})
