import { retainVertices } from '@causeway/plot'
import { isCausewayError } from '@causeway/protocol'
import fc from 'fast-check'
import t from 'tap'
import {
  type ClosestPoint,
  findClosestApproach,
  findClosestPointInSpan,
} from '../src/domain/approach/closest-approach.ts'
import { type IndexedTrack, indexTrack } from '../src/domain/approach/indexed-track.ts'
import { listIntervals } from '../src/domain/approach/intervals.ts'
import {
  computeDistance,
  createLine,
  findDestination,
  type LatLon,
  normalizeAngle,
  solveInverse,
} from '../src/domain/geodesy/geodesic.ts'
import { AisLogReader } from '../src/domain/import/ais-log.ts'
import { NmeaLogReader } from '../src/domain/import/nmea-log.ts'
import { RepFileReader } from '../src/domain/import/rep-file.ts'
import { XmlFileReader } from '../src/domain/import/xml-file.ts'
import { findCommonSpan, interpolatePosition } from '../src/domain/track/motion.ts'
import { resampleTrack } from '../src/domain/track/resampling.ts'
import { simplifyTrack } from '../src/domain/track/simplification.ts'
import { readTimedTrack, type TimedTrack } from '../src/domain/track/track.ts'

const runs = { numRuns: process.env.CAUSEWAY_LONG === undefined ? 60 : 1000 }

const place = fc.record({
  lat: fc.double({ min: -84, max: 84, noNaN: true }),
  // About half of all voyages begin near the antimeridian.
  lon: fc.oneof(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: 179.9, max: 180, noNaN: true }),
  ),
})

const leg = fc.record({
  course: fc.double({ min: 0, max: 359.9, noNaN: true }),
  metres: fc.double({ min: 0, max: 8000, noNaN: true }),
  seconds: fc.integer({ min: 1, max: 1200 }),
})

/** Generates a track of up to 25 fixes, with longitudes as in GeoJSON. */
const track = (id: string, maxLegs = 24) =>
  fc
    .record({ from: place, legs: fc.array(leg, { minLength: 1, maxLength: maxLegs }) })
    .map(({ from, legs }) => {
      const places: LatLon[] = [from]
      const times = [0]
      for (const { course, metres, seconds } of legs) {
        places.push(findDestination(places.at(-1) ?? from, course, metres))
        times.push((times.at(-1) ?? 0) + seconds)
      }
      return readTimedTrack({
        type: 'Feature',
        id,
        geometry: { type: 'LineString', coordinates: places.map(({ lon, lat }) => [lon, lat]) },
        properties: {
          dataType: 'track',
          timestamps: times.map((second) => new Date(Date.UTC(2024, 0, 1) + second * 1000).toISOString()),
          marks: times.map((_, index) => index),
        },
      })
    })

const all = (kept: Generator<number, number[]>): number[] => {
  let step = kept.next()
  while (!step.done) step = kept.next()
  return step.value
}

t.test('solveInverse inverts findDestination', async (t) => {
  fc.assert(
    fc.property(
      place,
      fc.double({ min: 0, max: 359.99, noNaN: true }),
      fc.double({ min: 1, max: 1e6, noNaN: true }),
      (from, bearing, metres) => {
        const found = solveInverse(from, findDestination(from, bearing, metres))
        t.ok(Math.abs(found.distance_m - metres) < 1e-6)
        t.ok(Math.abs(normalizeAngle(found.bearing_deg - bearing)) * metres < 1e-3)
      },
    ),
    runs,
  )
})

t.test('interpolatePosition returns a position on the geodesic of the leg', async (t) => {
  fc.assert(
    fc.property(track('a'), fc.double({ min: 0, max: 1, noNaN: true }), (one, share) => {
      const [start = 0, end = 0] = [one.times[0], one.times.at(-1)]
      const time = start + (end - start) * share
      const found = interpolatePosition(one, time)
      const index = Math.min(
        one.fixes.length - 2,
        one.times.findLastIndex((known) => known <= time),
      )
      const [from, to] = [one.fixes[index], one.fixes[index + 1]]
      if (found === undefined || from === undefined || to === undefined)
        return t.fail('interpolatePosition returned undefined')
      t.ok(
        Math.abs(computeDistance(from, found) + computeDistance(found, to) - computeDistance(from, to)) <
          1e-6,
      )
    }),
    runs,
  )
})

t.test('simplifyTrack retains ends and alignment, and no deviation exceeds the tolerance', async (t) => {
  fc.assert(
    fc.property(track('a'), fc.double({ min: 1, max: 3000, noNaN: true }), (one, tolerance_m) => {
      const kept = all(simplifyTrack(one, { tolerance_m, kind: 'time' }))
      t.equal(kept[0], 0)
      t.equal(kept.at(-1), one.fixes.length - 1)
      const cut = retainVertices(one.feature, kept)
      t.same(cut.properties.marks, kept)
      for (const [row, to] of kept.slice(1).entries()) t.ok(worst(one, kept[row] ?? 0, to) <= tolerance_m)
    }),
    runs,
  )
})

t.test('simplifyTrack reads each timestamp of a zigzag line at most 250 times', async (t) => {
  const positions = Array.from({ length: 2000 }, (_, index) => ({ lon: index / 1e4, lat: index % 2 }))
  let reads = 0
  const times = new Proxy(
    positions.map((_, index) => index * 1000),
    {
      get(target, name) {
        reads += 1
        return Reflect.get(target, name)
      },
    },
  )
  const zigzag = { positions, times, breaks: new Set() } as unknown as TimedTrack
  const retained = all(simplifyTrack(zigzag, { tolerance_m: 50, kind: 'time' }))
  t.equal(retained.length, positions.length, 'every corner is farther than the tolerance')
  t.ok(reads <= 250 * positions.length, `${reads} reads`)
})

/** Returns the greatest geodesic distance in metres between a vertex and its position after simplification. */
function worst({ fixes }: TimedTrack, from: number, to: number): number {
  const [a, b] = [fixes[from], fixes[to]]
  if (a === undefined || b === undefined) return Number.POSITIVE_INFINITY
  const line = createLine(a, b)
  return fixes
    .slice(from + 1, to)
    .reduce(
      (max, fix) => Math.max(max, computeDistance(fix, line.at((fix.time - a.time) / (b.time - a.time)))),
      0,
    )
}

t.test('findClosestApproach returns at most the shortest sampled distance', async (t) => {
  fc.assert(
    fc.property(track('a'), track('b'), fc.boolean(), (one, other, isNear) => {
      // Two random positions are far apart, so half of the pairs are moved together.
      const [a, b] = isNear ? [one, shifted(other, one)] : [one, other]
      const found = findClosestApproach(indexTrack(a), indexTrack(b))
      if (found === undefined) return t.fail('findClosestApproach returned undefined')
      const end = Math.min(a.times.at(-1) ?? 0, b.times.at(-1) ?? 0)
      const start = a.times[0] ?? 0
      for (let sample = 0; sample <= 200; sample++) {
        const time = start + ((end - start) * sample) / 200
        const [p, q] = [interpolatePosition(a, time), interpolatePosition(b, time)]
        if (p !== undefined && q !== undefined) t.ok(found.distance_m <= computeDistance(p, q) + 1e-3)
      }
      t.ok(Math.abs(found.distance_m - computeDistance(found.a, found.b)) < 1e-6)
    }),
    { numRuns: runs.numRuns / 2 },
  )
})

t.test('findClosestApproach agrees with a search of all intervals', async (t) => {
  const part = fc.option(fc.integer({ min: 1, max: 60 }))
  fc.assert(
    fc.property(
      track('a', 80),
      track('b', 80),
      part,
      fc.integer({ min: 0, max: 4 }),
      (one, other, cut, turns) => {
        const near = shifted(other, one)
        const [a, b] = [indexTrack(parted(one, cut)), indexTrack(turns === 0 ? other : near)]
        const plain = everyInterval(a, b)
        const found = findClosestApproach(a, b)
        t.equal(found?.distance_m, plain?.distance_m)
        t.equal(found?.time, plain?.time)
      },
    ),
    runs,
  )
})

function everyInterval(a: IndexedTrack, b: IndexedTrack): ClosestPoint | undefined {
  const [start = 0, end = 0] = findCommonSpan([a.track, b.track]) ?? []
  const spans = listIntervals(a, b, { start, end, likelyTime: start, min_m: 0 })
  let best: ClosestPoint | undefined
  for (let span = spans.first; span !== undefined; span = spans.first) {
    const found = findClosestPointInSpan(a.track, b.track, span)
    if (found !== undefined && (best === undefined || found.distance_m < best.distance_m)) best = found
    spans.removeFirst()
  }
  return best
}

/** Returns the track split into two parts, with no position between them. */
function parted(track: TimedTrack, at: number | null): TimedTrack {
  const coordinates = track.fixes.map(({ lon, lat }) => [lon, lat])
  if (at === null || at >= coordinates.length) return track
  const lines = [coordinates.slice(0, at), coordinates.slice(at)]
  return readTimedTrack({
    ...track.feature,
    geometry: { type: 'MultiLineString', coordinates: lines },
  })
}

/** Moves the track to start 2 km north-east of the start of `onto`. */
function shifted(track: TimedTrack, onto: TimedTrack): TimedTrack {
  const [from, to] = [track.fixes[0], onto.fixes[0]]
  if (from === undefined || to === undefined) return track
  const coordinates = track.fixes.map((fix) => {
    const { bearing_deg, distance_m } = solveInverse(from, fix)
    const { lon, lat } = findDestination(findDestination(to, 45, 2000), bearing_deg, distance_m)
    return [lon, lat]
  })
  return readTimedTrack({ ...track.feature, geometry: { type: 'LineString', coordinates } })
}

t.test('resampleTrack returns the positions of the track at all times', async (t) => {
  fc.assert(
    fc.property(track('a'), fc.integer({ min: 5, max: 600 }), (one, interval_s) => {
      const even = readTimedTrack(resampleTrack(one, { interval_s, max_gap_s: 1e6 }).feature)
      for (const fix of even.fixes) {
        const wanted = interpolatePosition(one, fix.time)
        t.ok(wanted !== undefined && computeDistance(wanted, fix) < 1e-6)
      }
      t.equal(even.times.at(-1), one.times.at(-1))
    }),
    runs,
  )
})

t.test('importers accept any text or fail with an error code', async (t) => {
  const readers = {
    nmea: () => new NmeaLogReader({ date: 0, id: 'x', name: 'x', source: 'NMEA' }),
    ais: () => new AisLogReader({ start: 0, min_interval_s: undefined, newId: (prefix) => prefix }),
    rep: () => new RepFileReader({ pivot_year: 70, newId: (prefix) => prefix }),
    gpx: () => new XmlFileReader({ format: 'GPX', min_interval_s: undefined, newId: (prefix) => prefix }),
    kml: () => new XmlFileReader({ format: 'KML', min_interval_s: undefined, newId: (prefix) => prefix }),
  }
  const fragments = [
    ...[
      '$GPGLL,',
      '$GPRMC,',
      '!AIVDM,',
      '1,1,,A,',
      '5951.5',
      'N',
      'E',
      ',',
      '*00',
      '*4D',
      '0000',
      '\\c:1704067200*58\\',
    ],
    ...[
      '951212 ',
      '050000.000 ',
      'NELSON @C ',
      '22 11 10.63 N ',
      '21 41 52.37 W ',
      '269.7 2.0 NaN',
      ';TEXT: ',
    ],
    ...[
      '<gpx>',
      '</gpx>',
      '<trk>',
      '<trkpt lat="1" lon="999">',
      '<kml>',
      '<coordinates>',
      '0,0 1',
      '&#0;',
      '<!DOCTYPE',
    ],
  ]
  const line = fc.array(fc.oneof(fc.constantFrom(...fragments), fc.string({ maxLength: 8 })), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      for (const [name, open] of Object.entries(readers)) {
        try {
          const reader = open()
          for (const parts of lines) reader.readLine(parts.join(''))
          t.ok(reader.finish().command, name)
        } catch (error) {
          if (!isCausewayError(error)) t.fail(`${name}: ${error} for ${JSON.stringify(lines)}`)
        }
      }
    }),
    { numRuns: runs.numRuns * 3 },
  )
})
