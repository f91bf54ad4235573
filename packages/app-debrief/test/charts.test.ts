/** Charts: scales, polar projection and times along tracks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LonLat } from '@causeway/plot'
import t from 'tap'
import { createDice } from '../../../fixtures/generate/generated/dice.ts'
import { verifies } from '../../../test/verifies.ts'
import { destination } from '../../app-toolvault/src/domain/geodesy/geodesic.ts'
import { selectLand } from '../src/domain/map/coast.ts'
import { drawGraticule, drawScaleBar } from '../src/domain/map/graticule.ts'
import { chooseFrameHeight, createProjection } from '../src/domain/map/projection.ts'
import { formatTimeLabel, listTimeTicks } from '../src/domain/map/time-labels.ts'
import { openDebrief } from './debrief-kit.ts'

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
      t.same(drawScaleBar(view), [], 'no bar without a scale')
      continue
    }
    const middle = (view.bounds[0] + view.bounds[2]) / 2
    for (const course of [0, 90, 225]) {
      const from = { lon: middle, lat: scale.latitude }
      const to = destination(from, course, 185.2)
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
  t.match(JSON.stringify(drawScaleBar(tall)), /nm at \d+°\d+′N/, 'the bar has its latitude')
})

verifies('debrief:chart:polar', async (t) => {
  for (const side of [1, -1]) {
    const bounds = side > 0 ? ([0, 88, 180, 90] as const) : ([0, -90, 180, -88] as const)
    const view = createProjection(bounds, frame(bounds))
    t.equal(view.name, 'polar stereographic')
    const { left, top, width, height } = view.frame
    // A straight path over the pole stays straight and inside.
    const path = [-2, -1, 0, 1, 2].map(
      (offset): LonLat => [offset < 0 ? 90 - 90 : 180, side * (90 - Math.abs(offset))],
    )
    const points = path.map(view.point)
    for (const [x, y] of points) {
      t.ok(x >= left - 1 && x <= left + width + 1 && y >= top - 1 && y <= top + height + 1)
      t.ok(Math.abs(y - (points[0]?.[1] ?? 0)) < 1e-6, 'the meridians 0 and 180 are one line')
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
  t.ok(Math.abs((ticks[0]?.place[0] ?? 0) - (167 / 60) * 0.01) < 1e-9, 'ticks are between fixes')
  const parts = listTimeTicks([path.slice(0, 10), path.slice(10)], stamps, 'plain')
  t.same(
    parts.map(({ text }) => text),
    ['14:30', '15:00', '15:30', '16:00'],
  )
  t.equal(formatTimeLabel(start, 'rn-long'), '151427ZNOV24')
  t.equal(formatTimeLabel(start, 'iso'), '2024-11-15T14:27:13Z')
})

t.test('a measurement has its value and time', async (t) => {
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
  'selectLand includes the ring around the pole of a chart, and not that around the other pole',
  async (t) => {
    const points = Array.from({ length: 360 }, (_, index): LonLat => [index - 180, -84])
    const ring = { points, bounds: [-180, -84, 179.5, -70] } as const
    t.same(selectLand([ring], [-180, -90, 180, -87]).areas, [points])
    t.same(selectLand([ring], [-180, 87, 180, 90]).areas, [])
  },
)
