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
  formatPlace,
  formatRange,
  formatRangeIn,
} from '../src/domain/geodesy/format-figures.ts'
import {
  createLine,
  destination,
  distance,
  normalizeAngle,
  solveInverse,
} from '../src/domain/geodesy/geodesic.ts'
import { solveRhumb } from '../src/domain/geodesy/rhumb.ts'

/** An object that cannot be converted to text: `toString` is not a function. */
const hostile = { toString: 'x' }

t.test('reports a geometry type that is an object as JSON', async (t) => {
  const value = { type: 'Feature', geometry: { type: hostile, coordinates: [] }, properties: {} }
  t.throws(() => readFeatures([value], 'features'), {
    code: 'INVALID_ARGUMENTS',
    message: /geometry type \{"toString":"x"\} is not one of Point/,
  })
})

t.test('replaces a colour that is an object', async (t) => {
  const value = { type: 'Feature', geometry: null, properties: { color: hostile } } as unknown as Feature
  t.match(toggleColour(value).properties, { color: '#FF0000' })
})

const near = (found: number, wanted: number, tolerance: number): boolean =>
  Math.abs(found - wanted) <= tolerance

verifies('toolvault:geodesic', async (t) => {
  // The manual of GeodSolve: from JFK to Singapore Changi; from JFK 5850 km on 051 degrees.
  const jfk = { lat: 40 + 38 / 60 + 23 / 3600, lon: -(73 + 46 / 60 + 44 / 3600) }
  const changi = { lat: 1 + 21 / 60 + 33 / 3600, lon: 103 + 59 / 60 + 22 / 3600 }
  const flight = solveInverse(jfk, changi)
  t.ok(near(flight.distance_m, 15_347_628, 0.5))
  t.ok(near(flight.bearing_deg, 3 + 18 / 60 + 29.9 / 3600, 0.05 / 3600))
  t.ok(near(flight.final_bearing_deg, 177 + 29 / 60 + 9.2 / 3600, 0.05 / 3600))
  // The documentation of geographiclib for Python: Wellington to Salamanca; from Perth 20,000 km on 225 degrees.
  t.ok(near(distance({ lat: -41.32, lon: 174.81 }, { lat: 40.96, lon: -5.5 }), 19_959_679.26735382, 1e-6))
  const far = destination({ lat: -32.06, lon: 115.74 }, 225, 20_000_000)
  t.ok(near(far.lat, 32.11195529, 1e-8) && near(far.lon, -63.95925278, 1e-8))
  // GeodSolve -i and RhumbSolve -i, version 2.1.2.
  const paris = solveInverse({ lat: 51.5074, lon: -0.1278 }, { lat: 48.8566, lon: 2.3522 })
  t.ok(near(paris.distance_m, 343_923.120091, 1e-5) && near(paris.bearing_deg, 148.04592803931, 1e-10))
  const rhumb = solveRhumb({ lat: 40.6, lon: -73.8 }, { lat: 51.6, lon: -0.5 })
  t.ok(near(rhumb.distance_m, 5_771_083.3833, 1e-3) && near(rhumb.bearing_deg, 77.76838971, 1e-8))
})

verifies('toolvault:geodesic', 'a parallel is a rhumb line on 090 degrees, not a geodesic', async (t) => {
  const [from, to] = [
    { lat: 36, lon: -5 },
    { lat: 36, lon: -4.5 },
  ]
  t.ok(near(solveRhumb(from, to).bearing_deg, 90, 1e-9))
  t.ok(near(solveInverse(from, to).bearing_deg, 89.853, 0.001))
  t.ok(solveRhumb(from, to).distance_m > solveInverse(from, to).distance_m)
  t.ok(near(solveRhumb({ lat: 0, lon: 179 }, { lat: 0, lon: -179 }).distance_m, 222_638.98, 0.01))
})

/** Runs a program of Debian's geographiclib-tools; undefined where it is not installed. */
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
    // Half of them a few miles long, as most are in a plot.
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
    if (!near(ours.distance_m, metres, 1e-6)) t.fail(`distance of ${lines[index]}`)
    if (Math.abs(normalizeAngle(ours.bearing_deg - azimuth)) > 1e-9) t.fail(`bearing of ${lines[index]}`)
    const [course = 0, long = 0] = rhumbs[index] ?? []
    const line = solveRhumb(a, b)
    if (!near(line.distance_m, long, 1e-3))
      t.fail(`rhumb length of ${lines[index]}: ${line.distance_m} ${long}`)
    if (Math.abs(normalizeAngle(line.bearing_deg - course)) > 1e-7) t.fail(`rhumb course of ${lines[index]}`)
  }
  t.equal(geodesics.length, 1000)
})

t.test('createLine returns the ends exactly and the middle at half of the length', async (t) => {
  const [a, b] = [
    { lat: 36, lon: 179.9 },
    { lat: 36.2, lon: -179.8 },
  ]
  const line = createLine(a, b)
  t.same(line.at(0), a)
  t.same(line.at(1), b)
  t.ok(near(distance(a, line.at(0.5)), line.length_m / 2, 1e-6))
})

t.test('figures have the form of charts and logs', async (t) => {
  t.same([0.4, 21.6, 229.97, 359.6].map(formatBearing), ['000°T', '022°T', '230°T', '000°T'])
  t.same([0, -45.2, 119.7, -180, 179.8].map(formatBowAngle), [
    'ahead',
    'Red 045°',
    'Green 120°',
    'astern',
    'astern',
  ])
  t.equal(formatPlace({ lat: 36.1179328, lon: -4.8545405 }), '36°07.076′N 004°51.272′W')
  t.equal(formatPlace({ lat: -0.99999999, lon: 190 }), '01°00.000′S 170°00.000′W')
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
