import type { Feature } from '@causeway/plot'
import { countVertices, listParts } from '@causeway/plot'
import { createDice } from '../../../fixtures/generate/generated/dice.ts'
import { oddImports } from '../../../fixtures/generate/generated/odd-imports.ts'
import { verifies } from '../../../test/verifies.ts'
import { computeDistance } from '../src/domain/geodesy/geodesic.ts'
import { feature, listFeatures, openVault, track } from './vault-kit.ts'

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0)

const list = (one: Feature | undefined, name: string): string[] => (one?.properties[name] ?? []) as string[]

const count = (features: readonly Feature[]): number =>
  features.reduce((total, one) => total + countVertices(one), 0)

const kmlDamages = ['1', 'x,2', '1,2,3,4', '181,0', '0,-91', '1,,2', '1;2', 'NaN,1'] as const
const gpxDamages = [
  'lat="x" lon="1"',
  'lon="1"',
  'lat="91" lon="1"',
  'lat="1" lon="-180.5"',
  'lat="1e" lon="2"',
] as const

verifies(
  'toolvault:import:complete',
  'every KML position is imported, or reported as skipped with its line number',
  async (t) => {
    const { command, data } = await openVault(t)
    for (let seed = 0; seed < 30; seed++) {
      const dice = createDice(seed)
      const damaged: number[] = []
      const lines = Array.from({ length: 40 }, (_, index) => {
        if (index % 8 === 7 && dice.between(0, 1) < 0.7) {
          damaged.push(index + 2)
          return dice.pick(kmlDamages)
        }
        const blank = dice.pick(['', '', ' ', '  '])
        return `${dice.between(-180, 180)}${blank},${blank}${dice.between(-90, 90)}${dice.pick(['', ',5', ` , ${index}`])}`
      })
      const text = `<kml><Placemark><LineString><coordinates>\n${lines.join('\n')}\n</coordinates></LineString></Placemark></kml>`
      const report = await data('import_kml', { text })
      t.equal(count(listFeatures(await command('import_kml', { text }))), 40 - damaged.length, `seed ${seed}`)
      t.equal(sum(report.skipped), damaged.length)
      t.same(
        (report.skipped_lines ?? []).map(({ line }: { line: number }) => line),
        damaged,
      )
    }
  },
)

verifies(
  'toolvault:import:complete',
  'every GPX position is imported into its segment, or reported as skipped with its line number',
  async (t) => {
    const { command, data } = await openVault(t)
    for (let seed = 0; seed < 30; seed++) {
      const dice = createDice(seed)
      const damaged: number[] = []
      const lines = ['<gpx><trk><name>T</name><trkseg>']
      for (let fix = 0; fix < 40; fix++) {
        if (fix === 20) lines.push('</trkseg><trkseg>')
        const time = `<time>${new Date(Date.UTC(2024, 0, 1) + fix * 1000).toISOString()}</time>`
        const isDamaged = fix % 6 === 3 && dice.between(0, 1) < 0.6
        lines.push(
          `<trkpt ${isDamaged ? dice.pick(gpxDamages) : `lat="${fix}" lon="${-fix}"`}>${time}</trkpt>`,
        )
        if (isDamaged) damaged.push(lines.length)
      }
      const text = [...lines, '</trkseg></trk></gpx>'].join('\n')
      const [one, ...more] = listFeatures(await command('import_gpx', { text }))
      t.equal(more.length, 0)
      t.equal(one?.geometry?.type, 'MultiLineString')
      t.equal(one === undefined ? 0 : countVertices(one), 40 - damaged.length)
      t.equal(list(one, 'timestamps').length, 40 - damaged.length, 'keeps times aligned with positions')
      const report = await data('import_gpx', { text })
      t.same(
        (report.skipped_lines ?? []).map(({ line }: { line: number }) => line),
        damaged,
      )
    }
  },
)

verifies(
  'toolvault:import:complete',
  'imports report short lines, bad coordinates and repeated times as skipped',
  async (t) => {
    const { command, data } = await openVault(t)
    const gx = `<kml xmlns:gx="http://www.google.com/kml/ext/2.2"><Placemark><gx:Track>
    ${[0, 1, 2, 3].map((minute) => `<when>2024-01-01T00:0${minute}:00Z</when>`).join('')}
    <gx:coord>1 1 0</gx:coord>
    <gx:coord>1 b 0</gx:coord>
    <gx:coord></gx:coord>
    <gx:coord>1 4 0</gx:coord></gx:Track></Placemark></kml>`
    const [timed] = listFeatures(await command('import_kml', { text: gx }))
    t.same(timed?.properties.timestamps, ['2024-01-01T00:00:00Z', '2024-01-01T00:03:00Z'])
    t.same((await data('import_kml', { text: gx })).skipped_lines, [
      { line: 4, reason: 'position is not two or three numbers' },
      { line: 5, reason: 'position is empty' },
    ])
    const single = `<kml><Placemark><LineString><coordinates>1,2</coordinates></LineString></Placemark>
    <Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,1</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>
    <Placemark><Point><coordinates>5,6</coordinates></Point></Placemark></kml>`
    t.match((await data('import_kml', { text: single })).skipped, {
      'LineString with fewer than 2 positions': 1,
      'LinearRing with fewer than 3 positions': 2,
    })
    const fix = (clock: string, seconds: string) => `240101 ${clock} A @A 10 0 ${seconds} N 20 0 0 E 0 5 0`
    const rep = [fix('120000', '0'), fix('120000', '1'), fix('120010', '2'), fix('120100', '99')].join('\n')
    t.match(await data('import_rep', { text: rep, min_interval_s: 5 }), {
      skipped_lines: [
        { line: 4, reason: 'position invalid or out of range' },
        { line: 2, reason: 'another position has the same time' },
      ],
    })
  },
)

verifies(
  'toolvault:import:complete',
  'every position of an unusual document is imported, or reported as skipped with line and reason',
  async (t) => {
    const { command, data } = await openVault(t)
    for (const { name, format, text, positions, kept, skipped } of oddImports) {
      const features = listFeatures(await command(`import_${format}`, { text }))
      const found = await data(`import_${format}`, { text })
      t.equal(count(features), kept, `${name}: imported positions`)
      t.equal(kept + sum(found.skipped), positions, `${name}: positions in the document`)
      const listed = (found.skipped_lines ?? []) as readonly { reason: string; line: number | null }[]
      const lines = Object.keys(skipped).map((reason) => [
        reason,
        listed.filter((one) => one.reason === reason).map(({ line }) => line ?? 0),
      ])
      const reasons = [...new Set(listed.map(({ reason }) => reason))]
      t.same(reasons.sort(), Object.keys(skipped).sort(), `${name}: reasons`)
      t.same(Object.fromEntries(lines), skipped, `${name}: lines`)
    }
  },
)

verifies(
  'toolvault:import:rep',
  'shapes, narratives and sensor contacts of REP files become annotations',
  async (t) => {
    const { command, data } = await openVault(t)
    const text = [
      '240101 120000 OWN @A 10 0 0 N 20 0 0 E 90 5 0',
      '240101 120100 OWN @A 10 0 0 N 20 1 0 E 90 5 0',
      ';RECT: @A 11 0 0 N 20 0 0 E 10 30 0 N 21 0 0 E box',
      ';LINE: @B 10 0 0 N 20 0 0 E 11 0 0 N 20 0 0 E a line',
      ';POLY: @C 10 0 0 N 20 0 0 E 11 0 0 N 20 0 0 E 11 0 0 N 21 0 0 E a polygon',
      ';ELLIPSE: @F[LAYER=TUAs] 240101 120030 10 0 0 N 20 0 0 E 65.0 5000 3000 an ellipse',
      ';NARRATIVE: 240101 120030 OWN Altered course',
      ';SENSOR: 240101 120030 OWN @A NULL 45 2000 "Bow sonar" contact 7',
      ';SENSOR2: 240101 120000 OWN @B 10 0 0 N 20 0 0 E 59.3 300.8 49.96 NULL TOWED contact 8',
      ';SENSOR: 240101 130000 OWN @A NULL 45 2000 Sonar too late',
      ';RECT: @A 11 0 0 N 20 0 0 E box without a corner',
      ';POLY: @C 10 0 0 N 20 0 0 E 11 61 0 N 20 0 0 E 11 0 0 N 21 0 0 E a broken polygon',
      ';TMA_RB: 240101 120000 OWN S@ 124.5 12000 TRACK_061 NULL 050 12.4 100 not supported',
    ].join('\n')
    const found = listFeatures(await command('import_rep', { text }))
    t.match(found.slice(1), [
      { geometry: { type: 'Polygon' }, properties: { annotationType: 'area', text: 'box' } },
      {
        geometry: {
          type: 'LineString',
          coordinates: [
            [20, 10],
            [20, 11],
          ],
        },
        properties: { text: 'a line' },
      },
      { geometry: { type: 'Polygon' }, properties: { text: 'a polygon' } },
      { geometry: { type: 'Polygon' }, properties: { time: '2024-01-01T12:00:30Z', text: 'an ellipse' } },
      { geometry: { type: 'Point' }, properties: { annotationType: 'comment', text: 'Altered course' } },
      {
        properties: {
          text: 'contact 7',
          specifics: { sensor: 'Bow sonar', bearing_deg: 45, range_m: 1828.8 },
        },
      },
      { properties: { specifics: { ambiguous_bearing_deg: 300.8, frequency_hz: 49.96, range_m: null } } },
    ])
    t.equal(found.length, 8)
    const [[a, b] = []] = listParts(found[6]?.geometry ?? null)
    const place = ([lon = 0, lat = 0]: readonly number[] = []) => ({ lon, lat })
    t.ok(Math.abs(computeDistance(place(a), place(b)) - 1828.8) < 0.001, 'draws a line as long as the range')
    t.ok(Math.abs((a?.[0] ?? 0) - (20 + 0.5 / 60)) < 1e-6, 'starts the line at the position of the track')
    const lengths =
      listParts(found[4]?.geometry ?? null)[0]?.map((at) =>
        computeDistance({ lon: 20, lat: 10 }, place(at)),
      ) ?? []
    t.ok(Math.max(...lengths) <= 4572.001 && Math.min(...lengths) >= 2743.199)
    t.same((await data('import_rep', { text })).skipped_lines, [
      { line: 11, reason: 'position invalid or out of range' },
      { line: 12, reason: 'position invalid or out of range' },
      { line: 13, reason: 'TMA_RB' },
      { line: 10, reason: 'no position, and its track has none at that time' },
    ])
  },
)

verifies('toolvault:export', 'tracks and points are the same after export and import', async (t) => {
  const { command, data } = await openVault(t)
  for (let seed = 0; seed < 20; seed++) {
    const dice = createDice(seed)
    const places = Array.from({ length: 30 }, () => [
      dice.between(-180, 180),
      dice.between(-90, 90),
      dice.whole(-300, 0),
    ])
    const name = dice.pick(['A "quoted" & <odd>, name', 'PLAIN', 'Two words'])
    const one = track('a', places, {
      name,
      speeds: places.map((_, i) => i),
      courses: places.map((_, i) => i),
    })
    const buoy = feature('b', 'Point', places[0], { dataType: 'reference-point', name: 'Buoy' })
    for (const format of ['gpx', 'kml', 'rep'] as const) {
      const { text, written } = await data('export_features', { features: [one, buoy], format })
      t.equal(written, 2)
      const [back, point] = listFeatures(await command(`import_${format}`, { text }))
      t.same(point?.geometry?.type, 'Point')
      t.same(list(back, 'timestamps').map(Date.parse), one.properties.timestamps.map(Date.parse), format)
      const found = (back?.geometry?.coordinates ?? []) as number[][]
      for (const [index, [lon = 0, lat = 0, z]] of found.entries()) {
        const [lonBefore = 0, latBefore = 0, zBefore] = places[index] ?? []
        if (computeDistance({ lon, lat }, { lon: lonBefore, lat: latBefore }) > 0.001)
          t.fail(`${format} did not preserve a position`)
        if (z !== zBefore) t.fail(`${format} did not preserve a height`)
      }
      if (format !== 'rep') t.equal(back?.properties.name, name)
    }
    const { text } = await data('export_features', { features: [one], format: 'csv' })
    t.equal(text.trim().split('\n').length, 31)
  }
})

verifies('toolvault:export', 'export_features reports what a format cannot represent', async (t) => {
  const { data, command } = await openVault(t)
  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ]
  const area = feature('z', 'Polygon', [ring], { dataType: 'annotation', name: 'Zone' })
  const untimed = feature(
    'u',
    'LineString',
    [
      [0, 0],
      [1, 1],
    ],
    { dataType: 'track', name: 'Untimed' },
  )
  t.match(await data('export_features', { features: [area, untimed], format: 'gpx' }), {
    written: 1,
    left_out: [{ feature: 'Zone', reason: 'GPX has no areas' }],
  })
  const rep = await data('export_features', { features: [area, untimed], format: 'rep' })
  t.match(rep, { written: 1, left_out: [{ feature: 'Untimed', reason: /timestamps/ }] })
  t.same(listFeatures(await command('import_rep', { text: rep.text }))[0]?.geometry, area.geometry)
  const segments = feature(
    'm',
    'MultiLineString',
    [
      [
        [0, 0],
        [1, 1],
      ],
      [
        [2, 2],
        [3, 3],
      ],
    ],
    {
      dataType: 'track',
      timestamps: [
        '2024-01-01T00:00:00Z',
        '2024-01-01T00:01:00Z',
        '2024-01-01T01:00:00Z',
        '2024-01-01T01:01:00Z',
      ],
    },
  )
  const { text } = await data('export_features', { features: [segments], format: 'gpx' })
  t.same(listFeatures(await command('import_gpx', { text }))[0]?.geometry, segments.geometry)
})
