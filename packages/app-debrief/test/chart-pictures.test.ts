/** Draws eight charts of different situations. With `CAUSEWAY_PICTURES`, writes them into that folder, so that people can look at them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { destination, type Place } from '../../app-toolvault/src/domain/geodesy/geodesic.ts'
import { openDebrief } from './debrief-kit.ts'

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

/** A track of geodesic legs, with a fix each `stepS` seconds. */
function track(id: string, from: Place, legs: readonly Leg[], stepS = 60) {
  const places = [from]
  for (const { course, metres, fixes } of legs) {
    const origin = places.at(-1) ?? from
    for (let fix = 1; fix <= fixes; fix++) places.push(destination(origin, course, (metres * fix) / fixes))
  }
  const timestamps = places.map((_, index) => new Date(start + index * stepS * 1000).toISOString())
  const coordinates = places.map(({ lon, lat }) => [lon, lat])
  return feature(id, 'LineString', coordinates, { dataType: 'track', timestamps })
}

const zone = (id: string, centre: Place, radiusM: number) => {
  const ring = Array.from({ length: 37 }, (_, index) => destination(centre, index * 10, radiusM))
  const coordinates = [ring.map(({ lon, lat }) => [lon, lat])]
  return feature(id, 'Polygon', coordinates, { dataType: 'annotation', annotationType: 'area' })
}

const point = (id: string, { lon, lat }: Place) =>
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
      destination({ lat: 90, lon: 0 }, 0, 90_000),
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

t.test('draws eight charts', async (t) => {
  const { client, folder } = await openDebrief(t, [])
  const target = process.env.CAUSEWAY_PICTURES
  if (target !== undefined) mkdirSync(target, { recursive: true })
  const one = client()
  for (const [name, features] of Object.entries(charts)) {
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
