import { execFileSync, spawnSync } from 'node:child_process'
import type { Feature } from '@causeway/plot'
import t from 'tap'
import { createDice } from '../../../fixtures/generate/generated/dice.ts'
import { verifies } from '../../../test/verifies.ts'
import { toggleColour } from '../src/domain/feature/colour.ts'
import { readFeatures } from '../src/domain/feature/read-features.ts'
import {
  formatBearing,
  formatBowAngle,
  formatPosition,
  formatRange,
  formatRangeIn,
} from '../src/domain/geodesy/format-figures.ts'
import {
  computeDistance,
  createLine,
  findDestination,
  type LatLon,
  normalizeAngle,
  solveInverse,
} from '../src/domain/geodesy/geodesic.ts'
import { computeBearing } from '../src/domain/geodesy/range-bearing.ts'
import { solveRhumb } from '../src/domain/geodesy/rhumb.ts'
import { readTimedTrack } from '../src/domain/track/track.ts'
import { computeStatistics } from '../src/domain/track/track-statistics.ts'
import { findTransits, readZone } from '../src/domain/zone/zone-transit.ts'
import { feature, near, openVault, track } from './vault-kit.ts'

/** An object that cannot be converted to text: `toString` is not a function. */
const hostile = { toString: 'x' }

t.test('an error about a geometry type contains its JSON if the type is an object', async (t) => {
  const value = { type: 'Feature', geometry: { type: hostile, coordinates: [] }, properties: {} }
  t.throws(() => readFeatures([value], 'features'), {
    code: 'INVALID_ARGUMENTS',
    message: /geometry type \{"toString":"x"\} is not one of Point/,
  })
})

t.test('a colour that is an object is replaced', async (t) => {
  const value = { type: 'Feature', geometry: null, properties: { color: hostile } } as unknown as Feature
  t.match(toggleColour(value).properties, { color: '#FF0000' })
})

const isNear = (found: number, wanted: number, tolerance: number): boolean =>
  Math.abs(found - wanted) <= tolerance

verifies('toolvault:geodesic', async (t) => {
  // From the manual of GeodSolve: JFK to Singapore Changi, and 5850 km from JFK on 051 degrees.
  const jfk = { lat: 40 + 38 / 60 + 23 / 3600, lon: -(73 + 46 / 60 + 44 / 3600) }
  const changi = { lat: 1 + 21 / 60 + 33 / 3600, lon: 103 + 59 / 60 + 22 / 3600 }
  const flight = solveInverse(jfk, changi)
  t.ok(isNear(flight.distance_m, 15_347_628, 0.5))
  t.ok(isNear(flight.bearing_deg, 3 + 18 / 60 + 29.9 / 3600, 0.05 / 3600))
  t.ok(isNear(flight.final_bearing_deg, 177 + 29 / 60 + 9.2 / 3600, 0.05 / 3600))
  // From the documentation of geographiclib for Python: Wellington to Salamanca, and 20,000 km from Perth on 225
  // degrees.
  t.ok(
    isNear(
      computeDistance({ lat: -41.32, lon: 174.81 }, { lat: 40.96, lon: -5.5 }),
      19_959_679.26735382,
      1e-6,
    ),
  )
  const far = findDestination({ lat: -32.06, lon: 115.74 }, 225, 20_000_000)
  t.ok(isNear(far.lat, 32.11195529, 1e-8) && isNear(far.lon, -63.95925278, 1e-8))
  // From GeodSolve -i and RhumbSolve -i, version 2.1.2.
  const paris = solveInverse({ lat: 51.5074, lon: -0.1278 }, { lat: 48.8566, lon: 2.3522 })
  t.ok(isNear(paris.distance_m, 343_923.120091, 1e-5) && isNear(paris.bearing_deg, 148.04592803931, 1e-10))
  const rhumb = solveRhumb({ lat: 40.6, lon: -73.8 }, { lat: 51.6, lon: -0.5 })
  t.ok(isNear(rhumb.distance_m, 5_771_083.3833, 1e-3) && isNear(rhumb.bearing_deg, 77.76838971, 1e-8))
})

verifies('toolvault:geodesic', 'a parallel is a rhumb line with bearing 090, not a geodesic', async (t) => {
  const [from, to] = [
    { lat: 36, lon: -5 },
    { lat: 36, lon: -4.5 },
  ]
  t.ok(isNear(solveRhumb(from, to).bearing_deg, 90, 1e-9))
  t.ok(isNear(solveInverse(from, to).bearing_deg, 89.853, 0.001))
  t.ok(solveRhumb(from, to).distance_m > solveInverse(from, to).distance_m)
  t.ok(isNear(solveRhumb({ lat: 0, lon: 179 }, { lat: 0, lon: -179 }).distance_m, 222_638.98, 0.01))
})

/** Runs a program of Debian's geographiclib-tools. Returns `undefined` if it is not installed. */
function solve(program: string, lines: readonly string[]): number[][] | undefined {
  if (spawnSync(program, ['--version']).error !== undefined) return undefined
  return execFileSync(program, ['-i', '-p', '9'], { input: lines.join('\n'), encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
}

verifies('toolvault:geodesic', 'a thousand random paths agree with GeodSolve and RhumbSolve', async (t) => {
  const dice = createDice(7)
  const pairs = Array.from({ length: 1000 }, (_, index) => {
    const a = { lat: dice.between(-89, 89), lon: dice.between(-180, 180) }
    // Half of the paths are a few miles long, like most in a plot.
    const near = { lat: a.lat + dice.between(-0.3, 0.3), lon: a.lon + dice.between(-0.3, 0.3) }
    const b = index % 2 === 0 ? near : { lat: dice.between(-89, 89), lon: dice.between(-180, 180) }
    return { a, b }
  })
  const lines = pairs.map(({ a, b }) => `${a.lat} ${a.lon} ${b.lat} ${b.lon}`)
  const geodesics = solve('GeodSolve', lines)
  const rhumbs = solve('RhumbSolve', lines)
  if (geodesics === undefined || rhumbs === undefined) {
    t.pass('GeodSolve', { skip: 'install the Debian package geographiclib-tools' })
    return
  }
  for (const [index, { a, b }] of pairs.entries()) {
    const [azimuth = 0, , metres = 0] = geodesics[index] ?? []
    const ours = solveInverse(a, b)
    if (!isNear(ours.distance_m, metres, 1e-6)) t.fail(`distance of ${lines[index]}`)
    if (Math.abs(normalizeAngle(ours.bearing_deg - azimuth)) > 1e-9) t.fail(`bearing of ${lines[index]}`)
    const [course = 0, long = 0] = rhumbs[index] ?? []
    const line = solveRhumb(a, b)
    if (!isNear(line.distance_m, long, 1e-3))
      t.fail(`rhumb length of ${lines[index]}: ${line.distance_m} ${long}`)
    if (Math.abs(normalizeAngle(line.bearing_deg - course)) > 1e-7) t.fail(`rhumb course of ${lines[index]}`)
  }
  t.equal(geodesics.length, 1000)
})

t.test('createLine returns exact ends, and the middle at half the length', async (t) => {
  const [a, b] = [
    { lat: 36, lon: 179.9 },
    { lat: 36.2, lon: -179.8 },
  ]
  const line = createLine(a, b)
  t.same(line.at(0), a)
  t.same(line.at(1), b)
  t.ok(isNear(computeDistance(a, line.at(0.5)), line.length_m / 2, 1e-6))
})

t.test('figures are formatted as in charts and logs', async (t) => {
  t.same([0.4, 21.6, 229.97, 359.6].map(formatBearing), ['000°T', '022°T', '230°T', '000°T'])
  t.same([0, -45.2, 119.7, -180, 179.8].map(formatBowAngle), [
    'ahead',
    'Red 045°',
    'Green 120°',
    'astern',
    'astern',
  ])
  t.equal(formatPosition({ lat: 36.1179328, lon: -4.8545405 }), '36°07.076′N 004°51.272′W')
  t.equal(formatPosition({ lat: -0.99999999, lon: 190 }), '01°00.000′S 170°00.000′W')
  t.same([4.25, 209.5, 1853, 25_000, 343_923].map(formatRange), [
    '4.3 m',
    '210 m',
    '1.00 nm',
    '13.5 nm',
    '186 nm',
  ])
  t.same(
    [formatRangeIn(8765.58, 'yd'), formatRangeIn(0.11312, 'nm'), formatRangeIn(343.9231, 'km')],
    ['8766 yd', '0.113 nm', '343.9 km'],
  )
})

const still = { course_deg: null, speed_kn: null }

const measure = (a: LatLon, b: LatLon, line: 'geodesic' | 'rhumb' = 'geodesic') =>
  computeBearing({ position: a, ...still }, { position: b, ...still }, line)

verifies('toolvault:bearing:undefined', async (t) => {
  const at = (lat: number, lon: number): LatLon => ({ lat, lon })
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
  'paths near the poles and across the antimeridian agree with GeodSolve',
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

/**
 * Returns a vessel that crosses a pole along a meridian, with a fix every minute and 600 m, and its distance from the
 * pole in metres.
 */
function crossPole(side: 1 | -1, meridian: number, offset: number) {
  const pole = { lat: side * 90, lon: 0 }
  const course = side > 0 ? meridian : 180 - meridian
  const from = findDestination(pole, course, 30_000)
  const to = findDestination(findDestination(pole, course + 180, 30_000), course + 90, offset)
  const fixes = Array.from({ length: 101 }, (_, index) => {
    const share = index / 100
    const far = computeDistance(from, to)
    return findDestination(from, bearing(from, to), far * share)
  })
  return readTimedTrack(
    track(
      'over',
      fixes.map(({ lon, lat }) => [lon, lat]),
    ),
  )
}

const bearing = (a: LatLon, b: LatLon): number => measure(a, b).bearing_deg ?? 0

verifies(
  'toolvault:zone',
  'transits are correct for tracks over the poles and zones around them',
  async (t) => {
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
        const radius = computeDistance(pole, { lat: edge, lon: 0 })
        for (const [name, ring] of Object.entries(rings)) {
          const zone = readZone(feature('z', 'Polygon', [ring], { dataType: 'annotation' }))
          const stays = runToEnd(findTransits(over, zone))
          t.equal(stays.length, 1, `${name} ${side} ${meridian}`)
          for (const place of [stays[0]?.enter, stays[0]?.exit])
            t.ok(
              near(computeDistance(pole, place ?? pole), radius, 5),
              `${name}: the transit begins at the edge of the zone`,
            )
        }
      }
    // A zone next to the pole, which the track passes on the other side.
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
  },
)

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

t.test('the bearing at the closest approach is null if the tracks meet', async (t) => {
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
