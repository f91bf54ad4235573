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
import { nauticalMile } from '../domain/geodesy/geodesic.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { isInJump } from '../domain/track/position-jump.ts'
import { toPosition } from '../domain/track/resampling.ts'
import { createFeaturesArgument, readTime, requireTracks, selectedTracks } from './arguments.ts'

/** An approach within a position jump of at least this many metres is doubtful. */
const minDoubtfulJump = 100

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
  inject: { tracks: selectedTracks(2, 200) },
  *run({ tracks, at, within_nm, draw, motion }, newId) {
    const all = requireTracks(tracks, 2)
    const at_ms = at === undefined ? undefined : readTime('at', at)
    const pairs = yield* findApproaches(all, { at_ms, motion })
    const near = pairs.filter(
      ({ approach }) => within_nm === undefined || approach.distance_m <= within_nm * nauticalMile,
    )
    const possible = (all.length * (all.length - 1)) / 2
    const figures = report(near, { motion, within_nm, overlapping: pairs.length, possible })
    if (!draw || near.length === 0) return figures
    return createComposite([addFeatures(near.map((pair) => createLineFeature(pair, newId))), figures])
  },
})

interface ReportScope {
  readonly motion: ApproachOptions['motion']
  readonly within_nm: number | undefined
  readonly overlapping: number
  readonly possible: number
}

function report(near: readonly PairApproach[], scope: ReportScope): DebriefCommand {
  const { motion, overlapping, possible } = scope
  return showData({
    title: 'Closest points of approach',
    summary: summarize(near, scope),
    pairs: possible,
    without_overlap: possible - overlapping,
    motion,
    approaches: near.map(toFigures),
    ...createTable(
      near,
      { name: 'pair', key: ({ a, b }) => `${a.name} / ${b.name}` },
      {
        time: ({ approach }) => formatTime(approach.time),
        cpa_m: ({ approach }) => roundTo(approach.distance_m, 2),
        cpa_nm: ({ approach }) => roundTo(approach.distance_m / nauticalMile, 4),
        bearing_deg: ({ approach }) => roundTo(approach.bearing_deg, 2),
        tcpa_s: ({ predicted }) => roundTo(predicted?.tcpa_s ?? null, 1),
        dcpa_m: ({ predicted }) => roundTo(predicted?.dcpa_m ?? null, 1),
      },
    ),
  })
}

const toFigures = ({ a, b, approach, predicted, predicted_at }: PairApproach) => ({
  a: a.id,
  b: b.id,
  names: [a.name, b.name],
  time: formatTime(approach.time),
  cpa_m: approach.distance_m,
  cpa_nm: approach.distance_m / nauticalMile,
  bearing_deg: approach.bearing_deg,
  place_a: toPosition(approach.a),
  place_b: toPosition(approach.b),
  predicted: predicted === null ? null : { at: formatTime(predicted_at), ...predicted },
})

function summarize(near: readonly PairApproach[], { within_nm, overlapping, possible }: ReportScope): string {
  const [closest] = near
  const others =
    overlapping < possible ? ` ${formatCount(possible - overlapping, 'pair')} without a common time.` : ''
  if (closest === undefined) return `No two tracks came closer than ${within_nm} nm.${others}`
  const { a, b, approach } = closest
  const metres = approach.distance_m.toFixed(approach.distance_m < 10_000 ? 1 : 0)
  const miles = (approach.distance_m / nauticalMile).toFixed(3)
  const bearing =
    approach.bearing_deg === null
      ? ', where they meet'
      : `, ${b.name} bearing ${formatBearing(approach.bearing_deg)} from ${a.name}`
  const rank = possible === 1 ? '' : ` The closest of ${near.length} of ${possible} pairs.`
  const jumping = [a, b]
    .filter((track) => isInJump(track, approach.time, minDoubtfulJump))
    .map(({ name }) => name)
  const doubt =
    jumping.length === 0
      ? ''
      : ` In doubt: ${jumping.join(' and ')} has a position jump there; run find_jumps first.`
  return `${a.name} and ${b.name} were closest at ${formatTime(Math.round(approach.time))}: ${metres} m (${miles} nm, geodesic)${bearing}.${doubt}${rank}${others}`
}

const describeApproach = ({ distance_m, bearing_deg }: PairApproach['approach']): string =>
  [formatRange(distance_m), ...(bearing_deg === null ? [] : [formatBearing(bearing_deg)])].join(', ')

const createLineFeature = ({ a, b, approach }: PairApproach, newId: NewId): Feature => ({
  type: 'Feature',
  id: newId('cpa'),
  geometry: { type: 'LineString', coordinates: [toPosition(approach.a), toPosition(approach.b)] },
  properties: {
    dataType: 'annotation',
    annotationType: 'measurement',
    name: `CPA ${a.name} / ${b.name}`,
    text: describeApproach(approach),
    color: '#CC0066',
    time: formatTime(Math.round(approach.time)),
  },
})
