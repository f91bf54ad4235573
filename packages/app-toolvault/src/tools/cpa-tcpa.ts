import { formatTime } from '@causeway/app-kit/time'
import {
  addFeatures,
  createComposite,
  type DebriefCommand,
  type Feature,
  formatCount,
  showData,
} from '@causeway/plot'
import { z } from 'zod'
import { defineTool, type NewId } from '../catalog/vault-tool.ts'
import { type ApproachOptions, findApproaches, type PairApproach } from '../domain/approach/pair-approach.ts'
import { formatBearing, formatRange } from '../domain/geodesy/format-figures.ts'
import { metresPerNauticalMile } from '../domain/geodesy/geodesic.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { isInJump } from '../domain/track/position-jump.ts'
import { toCoordinates } from '../domain/track/resampling.ts'
import { createFeaturesArgument, injectSelectedTracks, readTime, requireTracks } from './arguments.ts'

/** An approach during a position jump of at least this many metres is doubtful. */
const minDoubtfulJumpM = 100

export default defineTool({
  name: 'cpa_tcpa',
  category: 'track-analysis',
  title: 'Compute CPA and TCPA',
  about:
    'Compute the closest point of approach of every pair of tracks: as recorded, also between fixes, and as predicted from course and speed at a time. Returns time, range and bearing of each pair, closest first. Use it to find encounters and collision risks.',
  searchHint: 'how close did ships get, collision, encounter',
  input: {
    tracks: createFeaturesArgument('2 to 200 tracks'),
    at: z.string().optional().describe('Time of the prediction, ISO 8601. Default: start of the common time'),
    motion: z
      .enum(['derived', 'recorded'])
      .default('derived')
      .describe('Course and speed from positions, or from properties.courses and properties.speeds'),
    within_nm: z.number().positive().optional().describe('Only pairs that came closer, in nautical miles'),
    draw: z.boolean().default(false).describe('Also add a line for each approach'),
  },
  inject: { tracks: injectSelectedTracks(2, 200) },
  *run({ tracks, at, within_nm, draw, motion }, newId) {
    const parsedTracks = requireTracks(tracks, 2)
    const atMs = at === undefined ? undefined : readTime('at', at)
    const pairs = yield* findApproaches(parsedTracks, { atMs, motion })
    const approaches = pairs.filter(
      ({ approach }) => within_nm === undefined || approach.distance_m <= within_nm * metresPerNauticalMile,
    )
    const pairCount = (parsedTracks.length * (parsedTracks.length - 1)) / 2
    const report = createReport(approaches, { motion, within_nm, overlappingCount: pairs.length, pairCount })
    if (!draw || approaches.length === 0) return report
    return createComposite([addFeatures(approaches.map((pair) => createLineFeature(pair, newId))), report])
  },
})

interface ReportOptions {
  readonly motion: ApproachOptions['motion']
  readonly within_nm: number | undefined
  readonly overlappingCount: number
  readonly pairCount: number
}

function createReport(approaches: readonly PairApproach[], options: ReportOptions): DebriefCommand {
  const { motion, overlappingCount, pairCount } = options
  return showData({
    title: 'Closest points of approach',
    summary: summarize(approaches, options),
    pairs: pairCount,
    without_overlap: pairCount - overlappingCount,
    motion,
    approaches: approaches.map(toFigures),
    ...createTable(
      approaches,
      { name: 'pair', key: ({ a, b }) => `${a.name} / ${b.name}` },
      {
        time: ({ approach }) => formatTime(approach.time),
        cpa_m: ({ approach }) => roundTo(approach.distance_m, 2),
        cpa_nm: ({ approach }) => roundTo(approach.distance_m / metresPerNauticalMile, 4),
        bearing_deg: ({ approach }) => roundTo(approach.bearing_deg, 2),
        tcpa_s: ({ prediction }) => roundTo(prediction?.tcpa_s ?? null, 1),
        dcpa_m: ({ prediction }) => roundTo(prediction?.dcpa_m ?? null, 1),
      },
    ),
  })
}

const toFigures = ({ a, b, approach, prediction, predictedAt }: PairApproach) => ({
  a: a.id,
  b: b.id,
  names: [a.name, b.name],
  time: formatTime(approach.time),
  cpa_m: approach.distance_m,
  cpa_nm: approach.distance_m / metresPerNauticalMile,
  bearing_deg: approach.bearing_deg,
  place_a: toCoordinates(approach.a),
  place_b: toCoordinates(approach.b),
  predicted: prediction === null ? null : { at: formatTime(predictedAt), ...prediction },
})

function summarize(
  approaches: readonly PairApproach[],
  { within_nm, overlappingCount, pairCount }: ReportOptions,
): string {
  const [closest] = approaches
  const overlapText =
    overlappingCount < pairCount
      ? ` ${formatCount(pairCount - overlappingCount, 'pair')} without a common time.`
      : ''
  if (closest === undefined) return `No two tracks came closer than ${within_nm} nm.${overlapText}`
  const { a, b, approach } = closest
  const metresText = approach.distance_m.toFixed(approach.distance_m < 10_000 ? 1 : 0)
  const milesText = (approach.distance_m / metresPerNauticalMile).toFixed(3)
  const bearingText =
    approach.bearing_deg === null
      ? ', where they meet'
      : `, ${b.name} bearing ${formatBearing(approach.bearing_deg)} from ${a.name}`
  const rankText = pairCount === 1 ? '' : ` The closest of ${approaches.length} of ${pairCount} pairs.`
  const jumpingTracks = [a, b]
    .filter((track) => isInJump(track, approach.time, minDoubtfulJumpM))
    .map(({ name }) => name)
  const doubtText =
    jumpingTracks.length === 0
      ? ''
      : ` In doubt: ${jumpingTracks.join(' and ')} has a position jump there; run find_jumps first.`
  return `${a.name} and ${b.name} were closest at ${formatTime(Math.round(approach.time))}: ${metresText} m (${milesText} nm, geodesic)${bearingText}.${doubtText}${rankText}${overlapText}`
}

const describeApproach = ({ distance_m, bearing_deg }: PairApproach['approach']): string =>
  [formatRange(distance_m), ...(bearing_deg === null ? [] : [formatBearing(bearing_deg)])].join(', ')

const createLineFeature = ({ a, b, approach }: PairApproach, newId: NewId): Feature => ({
  type: 'Feature',
  id: newId('cpa'),
  geometry: { type: 'LineString', coordinates: [toCoordinates(approach.a), toCoordinates(approach.b)] },
  properties: {
    dataType: 'annotation',
    annotationType: 'measurement',
    name: `CPA ${a.name} / ${b.name}`,
    text: describeApproach(approach),
    color: '#CC0066',
    time: formatTime(Math.round(approach.time)),
  },
})
