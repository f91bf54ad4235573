import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureText } from '@causeway/picture'
import type { LonLat } from '@causeway/plot'
import t from 'tap'
import { createDice } from '../../../fixtures/generate/generated/dice.ts'
import { sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { findDestination, type LatLon } from '../../app-toolvault/src/domain/geodesy/geodesic.ts'
import { ChartRenderer } from '../src/chart/chart-renderer.ts'
import { clipLand, createLandRing, selectLand } from '../src/domain/map/coast.ts'
import { drawGraticule, drawScaleBar, formatAngle } from '../src/domain/map/graticule.ts'
import { placeLabels } from '../src/domain/map/labels.ts'
import { createMapData } from '../src/domain/map/map-data.ts'
import { chooseFrameHeight, createProjection } from '../src/domain/map/projection.ts'
import { formatTimeLabel, listTimeTicks } from '../src/domain/map/time-labels.ts'
import { openDebrief, parsePlot } from './debrief-kit.ts'

const start = Date.UTC(2024, 10, 14, 23, 10)

const feature = (id: string, type: string, coordinates: unknown, properties: object) => ({
  type: 'Feature',
  id,
  geometry: { type, coordinates },
  properties: { name: id, ...properties },
})

interface Leg {
  readonly course: number
  readonly metres: number
  readonly fixes: number
}

/** Returns a track of geodesic legs, with a fix each `stepS` seconds. */
function track(id: string, from: LatLon, legs: readonly Leg[], stepS = 60) {
  const places = [from]
  for (const { course, metres, fixes } of legs) {
    const origin = places.at(-1) ?? from
    for (let fix = 1; fix <= fixes; fix++)
      places.push(findDestination(origin, course, (metres * fix) / fixes))
  }
  const timestamps = places.map((_, index) => new Date(start + index * stepS * 1000).toISOString())
  const coordinates = places.map(({ lon, lat }) => [lon, lat])
  return feature(id, 'LineString', coordinates, { dataType: 'track', timestamps })
}

const zone = (id: string, centre: LatLon, radiusM: number) => {
  const ring = Array.from({ length: 37 }, (_, index) => findDestination(centre, index * 10, radiusM))
  const coordinates = [ring.map(({ lon, lat }) => [lon, lat])]
  return feature(id, 'Polygon', coordinates, { dataType: 'annotation', annotationType: 'area' })
}

const point = (id: string, { lon, lat }: LatLon) =>
  feature(id, 'Point', [lon, lat], { dataType: 'reference-point' })

const alpha = { lon: -4.99, lat: 36 }
const bravo = { lon: -4.9, lat: 35.92 }

const charts: Readonly<Record<string, readonly object[]>> = {
  harbour: [
    track('Pilot 3', { lon: -5.362, lat: 36.139 }, [
      { course: 190, metres: 700, fixes: 12 },
      { course: 265, metres: 900, fixes: 15 },
      { course: 330, metres: 600, fixes: 10 },
    ]),
    point('Berth 4', { lon: -5.3605, lat: 36.1385 }),
    point('Berth 5', { lon: -5.361, lat: 36.1378 }),
    zone('Anchorage A', { lon: -5.374, lat: 36.134 }, 260),
  ],
  crossing: [
    track('Ferry', alpha, [{ course: 90, metres: 22_000, fixes: 60 }]),
    track('Bulk carrier', { lon: -4.85, lat: 35.93 }, [{ course: 335, metres: 18_000, fixes: 60 }]),
    zone('Separation', { lon: -4.87, lat: 36 }, 4000),
  ],
  antimeridian: [
    track('Aleut', { lon: 179.4, lat: 51.6 }, [{ course: 80, metres: 120_000, fixes: 240 }]),
    zone('Box', { lon: -179.9, lat: 51.7 }, 15_000),
  ],
  pole: [
    track(
      'Over',
      findDestination({ lat: 90, lon: 0 }, 0, 90_000),
      [{ course: 0, metres: 180_000, fixes: 60 }],
      600,
    ),
    track('Past', { lat: 89.2, lon: 60 }, [{ course: 300, metres: 150_000, fixes: 60 }], 600),
    zone('Ice camp', { lat: 89.5, lon: -120 }, 12_000),
  ],
  'long-track': [
    track('Liner', { lon: -5.2, lat: 48.6 }, [{ course: 287, metres: 5_200_000, fixes: 400 }], 1800),
  ],
  'many-zones': [
    ...Array.from({ length: 18 }, (_, index) =>
      zone(
        `Zone ${index + 1}`,
        { lon: 10.4 + (index % 6) * 0.21, lat: 54.4 + Math.floor(index / 6) * 0.15 },
        5200,
      ),
    ),
    track('Survey', { lon: 10.3, lat: 54.35 }, [
      { course: 70, metres: 90_000, fixes: 90 },
      { course: 300, metres: 60_000, fixes: 60 },
    ]),
  ],
  'cpa-close': [
    track('Alpha', alpha, [{ course: 90, metres: 18_000, fixes: 60 }]),
    track('Bravo', bravo, [{ course: 0, metres: 20_000, fixes: 60 }]),
    feature(
      'cpa',
      'LineString',
      [
        [-4.9012, 36],
        [-4.9, 36.0024],
      ],
      {
        dataType: 'annotation',
        annotationType: 'measurement',
        name: 'CPA Alpha / Bravo',
        text: '287 m, 022°T',
        time: '2024-11-14T23:37:04Z',
        color: '#CC0066',
      },
    ),
  ],
  empty: [],
}

t.test('render_map returns a PNG of each chart', async (t) => {
  const { client, folder } = await openDebrief(t, [])
  const target = process.env.CAUSEWAY_PICTURES
  if (target !== undefined) mkdirSync(target, { recursive: true })
  const one = client()
  for (const [name, features] of sample(Object.entries(charts), 4)) {
    const filename = `${name}.plot.json`
    writeFileSync(join(folder, filename), JSON.stringify({ type: 'FeatureCollection', features }))
    await one.ask('open_plot', { filename })
    const { content } = await one.answer('render_map', { filename })
    const [image] = content.flatMap((part) => (part.type === 'image' ? part : []))
    const png = Buffer.from(image?.data ?? '', 'base64')
    t.equal(png.toString('latin1', 1, 4), 'PNG', name)
    if (target !== undefined) writeFileSync(join(target, `debrief-${name}.png`), png)
  }
})

const frame = (bounds: readonly [number, number, number, number]) => {
  const width = 800
  return { left: 64, top: 56, width, height: chooseFrameHeight(bounds, width) }
}

verifies('debrief:chart:scale', async (t) => {
  for (let seed = 0; seed < 80; seed++) {
    const dice = createDice(seed)
    const [lon, lat] = [dice.between(-180, 180), dice.between(-86, 86)]
    const [width, height] = [dice.between(0.01, 6), dice.between(0.01, 3)]
    const bounds = [lon, lat - height, lon + width, lat + height] as const
    const view = createProjection(bounds, frame(bounds))
    const { scale } = view
    if (scale === null) {
      t.same(drawScaleBar(view), [], 'draws no scale bar without a scale')
      continue
    }
    const middle = (view.bounds[0] + view.bounds[2]) / 2
    for (const course of [0, 90, 225]) {
      const from = { lon: middle, lat: scale.latitude }
      const to = findDestination(from, course, 185.2)
      const turn = 360 * Math.round((middle - to.lon) / 360)
      const [a, b] = [view.point([from.lon, from.lat]), view.point([to.lon + turn, to.lat])]
      const measured = Math.hypot(a[0] - b[0], a[1] - b[1]) / 0.1
      // The chart is spherical: its scale differs by up to 0.7 % from the ellipsoid.
      t.ok(Math.abs(measured / scale.pxPerMile - 1) < 0.01, `seed ${seed}, ${view.name}, course ${course}`)
    }
  }
  const both = createProjection([-60, -40, 60, 89], frame([-60, -40, 60, 89]))
  t.equal(both.scale, null, 'a chart that is not conformal has no scale')
  const tall = createProjection([0, 0, 40, 70], frame([0, 0, 40, 70]))
  t.match(JSON.stringify(drawScaleBar(tall)), /nm at \d+°N/, 'the scale bar shows its latitude')
})

verifies('debrief:chart:polar', async (t) => {
  for (const side of [1, -1]) {
    const bounds = side > 0 ? ([0, 88, 180, 90] as const) : ([0, -90, 180, -88] as const)
    const view = createProjection(bounds, frame(bounds))
    t.equal(view.name, 'polar stereographic')
    const { left, top, width, height } = view.frame
    // A straight path over the pole stays straight and inside the frame.
    const path = [-2, -1, 0, 1, 2].map(
      (offset): LonLat => [offset < 0 ? 90 - 90 : 180, side * (90 - Math.abs(offset))],
    )
    const points = path.map(view.point)
    for (const [x, y] of points) {
      t.ok(x >= left - 1 && x <= left + width + 1 && y >= top - 1 && y <= top + height + 1)
      t.ok(Math.abs(y - (points[0]?.[1] ?? 0)) < 1e-6, 'draws the meridians 0 and 180 as one line')
    }
    const whole = createProjection([-180, 85, 180, 90], frame([-180, 85, 180, 90]))
    t.same([whole.bounds[2] - whole.bounds[0], whole.bounds[3]], [360, 90])
    t.ok(drawGraticule(whole).length > 12)
  }
  t.equal(createProjection([0, 60, 20, 79], frame([0, 60, 20, 79])).name, 'Mercator')
})

verifies('debrief:chart:times', async (t) => {
  const start = Date.UTC(2024, 10, 15, 14, 27, 13)
  const path = Array.from({ length: 100 }, (_, index): LonLat => [index / 100, 50])
  const stamps = path.map((_, index) => new Date(start + index * 60_000).toISOString())
  const ticks = listTimeTicks([path], stamps, 'rn-short')
  t.same(
    ticks.map(({ text }) => text),
    ['151430Z', '151500Z', '151530Z', '151600Z'],
  )
  t.ok(Math.abs((ticks[0]?.position[0] ?? 0) - (167 / 60) * 0.01) < 1e-9, 'interpolates ticks between fixes')
  const parts = listTimeTicks([path.slice(0, 10), path.slice(10)], stamps, 'plain')
  t.same(
    parts.map(({ text }) => text),
    ['14:30', '15:00', '15:30', '16:00'],
  )
  t.equal(formatTimeLabel(start, 'rn-long'), '151427ZNOV24')
  t.equal(formatTimeLabel(start, 'iso'), '2024-11-15T14:27:13Z')
})

t.test('a measurement is labelled with its value and time', async (t) => {
  const { client, folder } = await openDebrief(t, [])
  const line = (id: string, coordinates: number[][], properties: object) => ({
    type: 'Feature',
    id,
    geometry: { type: 'LineString', coordinates },
    properties,
  })
  const cpa = line(
    'cpa',
    [
      [0, 0],
      [0.01, 0.01],
    ],
    {
      dataType: 'annotation',
      annotationType: 'measurement',
      name: 'CPA A / B',
      text: '209 m',
      time: '2024-01-01T00:29:56Z',
    },
  )
  const track = line(
    'a',
    [
      [0, 0],
      [1, 1],
    ],
    { dataType: 'track', name: 'A' },
  )
  const collection = { type: 'FeatureCollection', features: [cpa, track] }
  writeFileSync(join(folder, 'cpa.plot.json'), JSON.stringify(collection))
  const one = client()
  await one.ask('open_plot', { filename: 'cpa.plot.json' })
  const { summary } = await one.ask('render_map', { filename: 'cpa.plot.json' })
  t.match(summary, /CPA A \/ B, 209 m, 010029Z/)
})

t.test(
  'a ring of land that crosses the antimeridian is not drawn with an edge across the chart',
  async (t) => {
    const ring: LonLat[] = [
      [-180, 65],
      [179, 64],
      [170, 66],
      [179, 68],
      [-180, 69],
      [-180, 65],
    ]
    const land = createLandRing(ring)
    t.same(land.bounds, [-190, 64, -180, 69])
    const { areas, coast } = clipLand([land], [-180, -80, 180, 80])
    for (const path of [...areas, ...coast])
      for (const [index, [lon]] of path.entries())
        t.ok(Math.abs(lon - (path[index - 1]?.[0] ?? lon)) < 20, `longitude ${lon}`)
    t.ok(areas.length > 0 && coast.length > 0)
  },
)

t.test('a zone next to a pole retains more than 12 vertices', async (t) => {
  const ring = Array.from({ length: 37 }, (_, index) =>
    findDestination({ lat: 89.5, lon: -120 }, index * 10, 12_000),
  )
  const zone = {
    id: 'zone',
    geometry: { type: 'Polygon', coordinates: [ring.map(({ lon, lat }) => [lon, lat])] },
    properties: {},
  }
  const features = [{ type: 'Feature', ...zone }]
  const document = parsePlot(JSON.stringify({ type: 'FeatureCollection', features }))
  const { drawables } = createMapData(document, { bounds: [-180, 88.5, 180, 90], width: 900 })
  t.ok((drawables[0]?.paths[0]?.length ?? 0) > 12)
})

t.test('formatAngle returns the given number of decimals and omits zero minutes', async (t) => {
  t.equal(formatAngle(36.5, 'NS'), '36°30′N')
  t.equal(formatAngle(-5.37, 'EW', 1), '5°22.2′W')
  t.equal(formatAngle(36 + 2.03 / 60, 'NS', 2), '36°02.03′N')
  t.equal(formatAngle(36.9999, 'NS', 1), '37°N')
  t.equal(formatAngle(-0.00001, 'NS', 1), '0°')
})

t.test('labels avoid lines, each other and the scale bar', async (t) => {
  const frame = { left: 0, top: 0, width: 400, height: 300 }
  const points = Array.from({ length: 51 }, (_, index): [number, number] => [index * 8, 150])
  const label = { lines: ['Alpha'], color: '#000000', isImportant: false, isOptional: false }
  const bar = { left: 200, top: 256, right: 400, bottom: 300 }
  const anchors: [number, number][] = [
    [100, 150],
    [104, 150],
    [300, 290],
  ]
  const drawn = placeLabels(
    anchors.map((anchor) => ({ ...label, anchor })),
    frame,
    { points, boxes: [bar] },
  ).filter(({ name }) => name === 'text')
  const boxes = drawn.map(({ attributes: { x, y } }) => ({
    left: Number(x),
    right: Number(x) + measureText('Alpha', 13),
    top: Number(y) - 10,
    bottom: Number(y),
  }))
  t.equal(boxes.length, 3)
  for (const [index, box] of boxes.entries()) {
    t.notOk(points.some(([x, y]) => x > box.left && x < box.right && y > box.top && y < box.bottom))
    for (const other of [bar, ...boxes.slice(0, index)])
      t.ok(
        box.right <= other.left ||
          box.left >= other.right ||
          box.bottom <= other.top ||
          box.top >= other.bottom,
      )
  }
})

t.test(
  'selectLand includes a ring around the pole of a chart, but not a ring around the other pole',
  async (t) => {
    const points = Array.from({ length: 360 }, (_, index): LonLat => [index - 180, -84])
    const ring = { points, bounds: [-180, -84, 179.5, -70] } as const
    t.same(selectLand([ring], [-180, -90, 180, -87]).areas, [points])
    t.same(selectLand([ring], [-180, 87, 180, 90]).areas, [])
  },
)

verifies('debrief:coast', async (t) => {
  const charts = new ChartRenderer({ warn() {} })
  t.teardown(() => charts.close())
  const caller = { clientKey: 'test', signal: new AbortController().signal }
  for (const [west, south, east, north] of [
    [-6, 35, -4, 37],
    [170, -20, 190, -10],
  ] as const) {
    const land = JSON.parse(await charts.clipLand([west, south, east, north], caller))
    t.equal(land.type, 'MultiPolygon')
    const positions: readonly LonLat[] = land.coordinates.flat(2)
    t.ok(positions.length > 20, `${positions.length} positions`)
    const margin = 1.1
    for (const [lon, lat] of positions)
      if (lon < west - margin || lon > east + margin || lat < south - margin || lat > north + margin)
        t.fail(`${lon}, ${lat} is outside`)
  }
})
