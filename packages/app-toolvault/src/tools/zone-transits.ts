import { formatTime } from '@causeway/app-kit/time'
import { type DebriefCommand, formatCount, showData, showText } from '@causeway/plot'
import { z } from 'zod'
import { defineTool, type RunProgress } from '../catalog/vault-tool.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { toPosition } from '../domain/track/resampling.ts'
import type { TimedTrack } from '../domain/track/track.ts'
import { findTransits, readZone, type Transit, type Zone } from '../domain/zone/zone-transit.ts'
import { createFeaturesArgument, requireFeatures, requireTracks, selectedTracks } from './arguments.ts'

export default defineTool({
  name: 'zone_transits',
  category: 'track-analysis',
  title: 'Find zone transits',
  about:
    'Find when tracks entered and left areas (polygons), also between fixes. Returns times, places and durations of each stay. Use it to check whether vessels were in an area.',
  searchHint: 'ship entered restricted area',
  input: {
    tracks: createFeaturesArgument('Tracks'),
    zones: createFeaturesArgument('Polygons'),
    min_duration_s: z.number().min(0).default(0).describe('Seconds; shorter stays are omitted'),
  },
  inject: {
    tracks: selectedTracks(),
    zones: { from: 'selection', kinds: ['annotation', 'zone'], min: 1, max: null },
  },
  *run({ tracks, zones, min_duration_s }) {
    const [all, areas] = [requireTracks(tracks), requireFeatures(zones, 'zones').map(readZone)]
    const stays = yield* findStays(all, areas)
    const long = stays.filter(({ stay }) => stay.exit_ms - stay.enter_ms >= min_duration_s * 1000)
    return report(`${formatCount(all.length, 'track')}, ${formatCount(areas.length, 'zone')}`, long)
  },
})

interface Stay {
  readonly track: TimedTrack
  readonly zone: Zone
  readonly stay: Transit
}

const legsPerStep = 256

function* findStays(
  tracks: readonly TimedTrack[],
  zones: readonly Zone[],
): Generator<RunProgress, readonly Stay[]> {
  const found: Stay[] = []
  const total = tracks.length * zones.length
  let pairs = 0
  for (const track of tracks) {
    for (const zone of zones) {
      const steps = findTransits(track, zone)
      let step = steps.next()
      for (let leg = 0; !step.done; leg++, step = steps.next())
        if (leg % legsPerStep === 0) yield { done: pairs, total }
      found.push(...step.value.map((stay) => ({ track, zone, stay })))
      pairs++
    }
  }
  return found
}

function report(scope: string, stays: readonly Stay[]): DebriefCommand {
  const [first] = stays
  if (first === undefined) return showText(`No track was in a zone (${scope}).`)
  return showData({
    title: 'Zone transits',
    summary: `${formatCount(stays.length, 'stay')} (${scope}). ${describe(first)}`,
    transits: stays.map(toFigures),
    ...createTable(
      stays,
      { name: 'stay', key: ({ track, zone }) => `${track.name} in ${zone.name}` },
      {
        enter: ({ stay }) => formatTime(stay.enter_ms),
        exit: ({ stay }) => formatTime(stay.exit_ms),
        duration_s: ({ stay }) => roundTo((stay.exit_ms - stay.enter_ms) / 1000, 1),
        fixes_inside: ({ stay }) => stay.fixes_inside,
      },
    ),
  })
}

function describe({ track, zone, stay }: Stay): string {
  const enter = stay.begins_inside
    ? `was in ${zone.name} from its first fix`
    : `entered ${zone.name} at ${formatTime(Math.round(stay.enter_ms))}`
  const exit = stay.ends_inside
    ? 'stayed until its last fix'
    : `left it at ${formatTime(Math.round(stay.exit_ms))}`
  const minutes = (stay.exit_ms - stay.enter_ms) / 60_000
  return `${track.name} ${enter} and ${exit}, ${minutes.toFixed(1)} minutes.`
}

/** Entry or exit time is `null` (unknown) if the track begins or ends inside the zone. */
const toFigures = ({ track, zone, stay }: Stay) => ({
  track: track.id,
  zone: zone.id,
  names: [track.name, zone.name],
  enter_time: stay.begins_inside ? null : formatTime(stay.enter_ms),
  exit_time: stay.ends_inside ? null : formatTime(stay.exit_ms),
  enter_after_s: (stay.enter_ms - (track.times[0] ?? 0)) / 1000,
  exit_after_s: (stay.exit_ms - (track.times[0] ?? 0)) / 1000,
  duration_s: (stay.exit_ms - stay.enter_ms) / 1000,
  enter_place: toPosition(stay.enter),
  exit_place: toPosition(stay.exit),
  begins_inside: stay.begins_inside,
  ends_inside: stay.ends_inside,
  fixes_inside: stay.fixes_inside,
})
