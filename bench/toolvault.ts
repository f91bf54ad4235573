/** Measures how accurately the ToolVault tools detect events in generated scenes, and their speed. */

import { createTrackWithBadFixes } from '../fixtures/generate/tracks/bad-fixes.ts'
import { play, scenes } from '../fixtures/generate/tracks/scene.ts'
import { type Hits, scoreScene } from '../fixtures/generate/tracks/score.ts'
import { findClosestApproach } from '../packages/app-toolvault/src/domain/approach/closest-approach.ts'
import { indexTrack } from '../packages/app-toolvault/src/domain/approach/indexed-track.ts'
import { readFeatures } from '../packages/app-toolvault/src/domain/feature/read-features.ts'
import { findDestination } from '../packages/app-toolvault/src/domain/geodesy/geodesic.ts'
import { findJumps } from '../packages/app-toolvault/src/domain/track/position-jump.ts'
import { simplifyTrack } from '../packages/app-toolvault/src/domain/track/simplification.ts'
import { readTimedTrack } from '../packages/app-toolvault/src/domain/track/track.ts'
import selectAllVisible from '../packages/app-toolvault/src/tools/select-all-visible.ts'
import { compareGeodesics, countOddImports } from './exactness.ts'
import { held, type Limit, limitText, number, type Section } from './report.ts'

/** Scenes for evaluation; the detectors were written without them. */
const judged = 30

const firstSeed = 1000

const percent = (part: number, whole: number): string =>
  whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`

/** Returns precision, recall and times. */
export function measureToolvault(): readonly Section[] {
  return [scores(), badFixes(), countOddImports(), ...compareGeodesics(), times()]
}

function scores(): Section {
  const all = Array.from({ length: judged }, (_, index) => {
    const spec = scenes[index % scenes.length]
    if (spec === undefined) throw new Error('no scene')
    return scoreScene(play({ ...spec, seed: firstSeed + index }))
  })
  const row = (name: string, of: (score: (typeof all)[number]) => Hits): string[] => {
    const [found, missed, invented] = (['found', 'missed', 'invented'] as const).map((key) =>
      all.reduce((sum, score) => sum + of(score)[key], 0),
    ) as [number, number, number]
    return [name, `${found + missed}`, percent(found, found + invented), percent(found, found + missed), '']
  }
  const approaches = all.map(({ approach_error_m }) => approach_error_m).sort((a, b) => a - b)
  return {
    title: `Detections of ToolVault in ${judged} scenes of generated tracks`,
    about:
      'Three vessels each, a third of the scenes on the antimeridian and a third at 80 degrees north; reports at AIS intervals, 7 m of noise, gaps. Events during gaps are not evaluated.',
    head: ['detector', 'true events', 'precision', 'recall', 'median error'],
    rows: [
      row('position jumps', ({ jumps }) => jumps),
      row('gaps', ({ gaps }) => gaps),
      row('stays in a zone', ({ stays }) => stays),
      ['closest approaches', `${judged * 3}`, '', '', `${(approaches[judged >> 1] ?? 0).toFixed(1)} m`],
    ],
  }
}

/** Random tracks for the jump finder. */
const randomTracks = 200

function badFixes(): Section {
  const judgedTracks = Array.from({ length: randomTracks }, (_, index) => {
    const { fixes, bad } = createTrackWithBadFixes(firstSeed + index)
    const geometry = { type: 'LineString', coordinates: fixes.map(({ lon, lat }) => [lon, lat]) }
    const timestamps = fixes.map(({ time }) => new Date(time).toISOString())
    const track = readTimedTrack({ type: 'Feature', geometry, properties: { dataType: 'track', timestamps } })
    const steps = findJumps(track, 100)
    let step = steps.next()
    while (!step.done) step = steps.next()
    const reported = step.value.flatMap(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, offset) => first + offset),
    )
    const found = reported.filter((fix) => bad.has(fix)).length
    return { fixes: fixes.length, bad: bad.size, found, wrong: reported.length - found }
  })
  const sum = (key: 'fixes' | 'bad' | 'found' | 'wrong'): number =>
    judgedTracks.reduce((total, one) => total + one[key], 0)
  const [bad, found] = [sum('bad'), sum('found')]
  return {
    title: `Bad fixes in ${randomTracks} random tracks`,
    about:
      'Runs of one to five bad fixes, most of them next to gaps or at the ends, on tracks from the equator to 30 km from the pole.',
    head: ['fixes', 'bad', 'found', 'missed', 'good fixes reported', 'tracks with one'],
    rows: [
      [
        sum('fixes'),
        bad,
        found,
        bad - found,
        sum('wrong'),
        judgedTracks.filter(({ wrong }) => wrong > 0).length,
      ].map((count) => count.toLocaleString('en')),
    ],
  }
}

function times(): Section {
  const tracks = Array.from({ length: 100 }, (_, index) => readTimedTrack(wandering(index, 1000)))
  const all = tracks.map(indexTrack)
  const long = readTimedTrack(wandering(7, 10_000))
  const collection = {
    type: 'FeatureCollection',
    features: Array.from({ length: 10_000 }, (_, index) => wandering(index, 4)),
  }
  readFeatures(collection.features, 'features')
  return {
    title: 'Execution times of ToolVault',
    about:
      'On one thread, without the calls to it; the first run, before the code is compiled, and the third.',
    head: ['work', 'target', 'first, ms', 'third, ms'],
    rows: [
      [
        'closest approach of every pair of 100 tracks of 1,000 fixes',
        ...took({ most: 2000 }, () => {
          for (const [index, a] of all.entries())
            for (const b of all.slice(index + 1)) findClosestApproach(a, b)
        }),
      ],
      [
        'simplify a track of 10,000 fixes to 50 m',
        ...took(undefined, () => {
          const steps = simplifyTrack(long, { tolerance_m: 50, kind: 'time' })
          while (!steps.next().done);
        }),
      ],
      [
        'select_all_visible on 10,000 features',
        ...took({ most: 30 }, () => {
          if (!('run' in selectAllVisible)) return
          selectAllVisible.run(
            { feature_collection: collection, viewport_state: { bounds: [-5, 35, -4, 37] } },
            () => '',
          )
        }),
      ],
    ],
  }
}

/** Returns the target and the milliseconds of the first and the third run. */
function took(limit: Limit | undefined, work: () => void): readonly string[] {
  const [first = 0, , third = 0] = [1, 2, 3].map(() => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  return [
    limit === undefined ? '' : limitText(limit),
    ...[first, third].map((ms) => (limit === undefined ? number(ms) : held(ms, limit))),
  ]
}

/** Creates a track with one fix per minute on a winding course. */
function wandering(index: number, fixes: number) {
  let place = { lon: -5 + (index % 10) * 0.2, lat: 35 + Math.floor(index / 10) * 0.002 }
  const coordinates = Array.from({ length: fixes }, (_, fix) => {
    place = findDestination(place, (index * 37 + 60 * Math.sin(fix / 30)) % 360, 250)
    return [place.lon, place.lat]
  })
  return {
    type: 'Feature' as const,
    id: `t${index}`,
    geometry: { type: 'LineString', coordinates },
    properties: {
      dataType: 'track',
      timestamps: coordinates.map((_, fix) => new Date(Date.UTC(2024, 0, 1) + fix * 60_000).toISOString()),
    },
  }
}
