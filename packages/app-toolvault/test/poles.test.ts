/** Figures at poles, at the antimeridian and between opposite places. */
import { execFileSync, spawnSync } from 'node:child_process'
import t from 'tap'
import { createDice } from '../../../fixtures/generate/generated/dice.ts'
import { verifies } from '../../../test/verifies.ts'
import { destination, distance, normalizeAngle, type Place } from '../src/domain/geodesy/geodesic.ts'
import { computeBearing } from '../src/domain/geodesy/range-bearing.ts'
import { readTimedTrack } from '../src/domain/track/track.ts'
import { computeStatistics } from '../src/domain/track/track-statistics.ts'
import { findTransits, readZone } from '../src/domain/zone/zone-transit.ts'
import { feature, near, openVault, track } from './vault-kit.ts'

const still = { course_deg: null, speed_kn: null }

const measure = (a: Place, b: Place, line: 'geodesic' | 'rhumb' = 'geodesic') =>
  computeBearing({ place: a, ...still }, { place: b, ...still }, line)

verifies('toolvault:bearing:undefined', async (t) => {
  const at = (lat: number, lon: number): Place => ({ lat, lon })
  for (const [a, b] of [
    [at(10, 20), at(10, 20)],
    [at(10, 180), at(10, -180)],
    [at(90, 0), at(90, 120)],
    [at(90, 0), at(-90, 50)],
    [at(30, 10), at(-30, -170)],
    [at(0, 0), at(0, 180)],
    [at(0, 0), at(0, 179.5)],
  ] as const) {
    const found = measure(a, b)
    t.match(
      found,
      { bearing_deg: null, reciprocal_deg: null, bearing_problem: /^the places are/ },
      `${a.lat} ${a.lon}`,
    )
    t.ok(Number.isFinite(found.range_m))
  }
  for (const [a, b] of [
    [at(0, 0), at(0, 1)],
    [at(89, 0), at(89, 180)],
    [at(90, 0), at(10, 20)],
    [at(10, 20), at(-90, 0)],
    [at(10, 0), at(30, 180)],
    [at(10, 0), at(-10, 0)],
  ] as const)
    t.equal(typeof measure(a, b).bearing_deg, 'number', `${a.lat} ${a.lon} to ${b.lat} ${b.lon}`)
  t.match(measure(at(10, 0), at(20, 180), 'rhumb'), { bearing_deg: null, bearing_problem: /east and west/ })
  const { data } = await openVault(t)
  const point = feature('p', 'Point', [5, 5], { dataType: 'reference-point', name: 'P' })
  const { summary, bearing_deg } = await data('range_bearing', { features: [point, { ...point, id: 'q' }] })
  t.equal(bearing_deg, null)
  t.match(summary, /has no bearing from P \(the places are the same\), range 0\.000 nm/)
})

verifies(
  'toolvault:geodesic',
  'paths at poles and across the antimeridian agree with GeodSolve',
  async (t) => {
    if (spawnSync('GeodSolve', ['--version']).error !== undefined) {
      t.pass('GeodSolve', { skip: 'install the Debian package geographiclib-tools' })
      return
    }
    const dice = createDice(11)
    const pairs = Array.from({ length: 600 }, (_, index) => {
      const lat = [dice.between(89, 90), dice.between(-90, -89.9), dice.between(-60, 60)][index % 3] ?? 0
      const lon = index % 2 === 0 ? dice.between(179.9, 180) : dice.between(-180, 180)
      const b = { lat: lat + dice.between(-0.5, 0) * Math.sign(lat), lon: -lon + dice.between(-0.1, 0.1) }
      return [{ lat, lon }, b] as const
    })
    const input = pairs.map(([a, b]) => `${a.lat} ${a.lon} ${b.lat} ${b.lon}`).join('\n')
    const lines = execFileSync('GeodSolve', ['-i', '-p', '9'], { input, encoding: 'utf8' }).trim().split('\n')
    const errors = pairs.map(([a, b], index) => {
      const [azimuth = 0, , metres = 0] = (lines[index] ?? '').split(' ').map(Number)
      const { range_m, bearing_deg } = measure(a, b)
      return [Math.abs(range_m - metres), Math.abs(normalizeAngle((bearing_deg ?? 0) - azimuth))] as const
    })
    t.ok(Math.max(...errors.map(([metres]) => metres)) < 1e-6)
    t.ok(Math.max(...errors.map(([, degrees]) => degrees)) < 1e-8)
  },
)

const runToEnd = <T>(steps: Generator<number, T>): T => {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** A vessel that crosses a pole on a meridian, with a fix each minute, 600 m apart, and its distance from the pole in metres. */
function crossPole(side: 1 | -1, meridian: number, offset: number) {
  const pole = { lat: side * 90, lon: 0 }
  const course = side > 0 ? meridian : 180 - meridian
  const from = destination(pole, course, 30_000)
  const to = destination(destination(pole, course + 180, 30_000), course + 90, offset)
  const fixes = Array.from({ length: 101 }, (_, index) => {
    const share = index / 100
    const far = distance(from, to)
    return destination(from, bearing(from, to), far * share)
  })
  return readTimedTrack(
    track(
      'over',
      fixes.map(({ lon, lat }) => [lon, lat]),
    ),
  )
}

const bearing = (a: Place, b: Place): number => measure(a, b).bearing_deg ?? 0

verifies('toolvault:zone', 'tracks over the poles and zones around them', async (t) => {
  for (const side of [1, -1] as const)
    for (const meridian of [0, 37, 180, -120]) {
      const over = crossPole(side, meridian, 3)
      const edge = side * 89.9
      const rings = {
        cap: [
          [-180, edge],
          [180, edge],
          [180, side * 90],
          [-180, side * 90],
          [-180, edge],
        ],
        circle: [
          [-180, edge],
          [-90, edge],
          [0, edge],
          [90, edge],
          [-180, edge],
        ],
        coarse: [
          [0, edge],
          [120, edge],
          [240, edge],
          [0, edge],
        ],
      }
      const pole = { lat: side * 90, lon: 0 }
      const radius = distance(pole, { lat: edge, lon: 0 })
      for (const [name, ring] of Object.entries(rings)) {
        const zone = readZone(feature('z', 'Polygon', [ring], { dataType: 'annotation' }))
        const stays = runToEnd(findTransits(over, zone))
        t.equal(stays.length, 1, `${name} ${side} ${meridian}`)
        for (const place of [stays[0]?.enter, stays[0]?.exit])
          t.ok(near(distance(pole, place ?? pole), radius, 5), `${name}: the vessel enters at the edge`)
      }
    }
  // A zone next to the pole, on the other side of which the track passes.
  const neighbour = readZone(
    feature(
      'b',
      'Polygon',
      [
        [
          [80, 89.95],
          [100, 89.95],
          [100, 89.99],
          [80, 89.99],
          [80, 89.95],
        ],
      ],
      { dataType: 'annotation' },
    ),
  )
  t.same(runToEnd(findTransits(crossPole(1, 0, 3), neighbour)), [])
  t.equal(runToEnd(findTransits(crossPole(1, 90, 3), neighbour)).length, 1)
})

verifies('toolvault:stats', 'the mean speed never exceeds the maximum', async (t) => {
  for (let seed = 0; seed < 60; seed++) {
    const dice = createDice(seed)
    let second = 0
    const times = Array.from({ length: 20 }, () => {
      second += dice.pick([0, 0, 10, 60, 600])
      return new Date(Date.UTC(2024, 0, 1) + second * 1000).toISOString()
    })
    const places = times.map(() => [dice.between(-0.2, 0.2), dice.between(-0.2, 0.2)])
    const one = { ...track('e', places), properties: { dataType: 'track', timestamps: times } }
    const { mean_speed_kn, max_speed_kn } = computeStatistics(readTimedTrack(one))
    t.ok((mean_speed_kn ?? 0) <= (max_speed_kn ?? 0) + 1e-9, `seed ${seed}`)
  }
})

t.test('tracks that meet have no bearing at their closest approach', async (t) => {
  const { data } = await openVault(t)
  const a = track('a', [
    [0, 0],
    [0.1, 0],
  ])
  const b = track('b', [
    [0, 0],
    [0, 0.1],
  ])
  const { approaches, summary } = await data('cpa_tcpa', { tracks: [a, b] })
  t.match(approaches, [{ cpa_m: 0, bearing_deg: null }])
  t.match(summary, /where they meet/)
})
