import { formatTime } from '@causeway/app-kit/time'
import { type DebriefCommand, formatCount, showData, showText } from '@causeway/plot'
import { z } from 'zod'
import { defineTool, type RunProgress } from '../catalog/vault-tool.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { toCoordinates } from '../domain/track/resampling.ts'
import type { TimedTrack } from '../domain/track/track.ts'
import { findTransits, readZone, type Transit, type Zone } from '../domain/zone/zone-transit.ts'
import { createFeaturesArgument, injectSelectedTracks, requireFeatures, requireTracks } from './arguments.ts'

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
    tracks: injectSelectedTracks(),
    zones: { from: 'selection', kinds: ['annotation', 'zone'], min: 1, max: null },
  },
  *run({ tracks, zones, min_duration_s }) {
    const [parsedTracks, parsedZones] = [requireTracks(tracks), requireFeatures(zones, 'zones').map(readZone)]
    const stays = yield* findStays(parsedTracks, parsedZones)
    const longStays = stays.filter(
      ({ transit }) => transit.exit_ms - transit.enter_ms >= min_duration_s * 1000,
    )
    return createReport(
      `${formatCount(parsedTracks.length, 'track')}, ${formatCount(parsedZones.length, 'zone')}`,
      longStays,
    )
  },
})

interface Stay {
  readonly track: TimedTrack
  readonly zone: Zone
  readonly transit: Transit
}

const legsPerStep = 256

function* findStays(
  tracks: readonly TimedTrack[],
  zones: readonly Zone[],
): Generator<RunProgress, readonly Stay[]> {
  const stays: Stay[] = []
  const total = tracks.length * zones.length
  let finishedPairs = 0
  for (const track of tracks) {
    for (const zone of zones) {
      const iterator = findTransits(track, zone)
      let result = iterator.next()
      for (let leg = 0; !result.done; leg++, result = iterator.next())
        if (leg % legsPerStep === 0) yield { done: finishedPairs, total }
      stays.push(...result.value.map((transit) => ({ track, zone, transit })))
      finishedPairs++
    }
  }
  return stays
}

function createReport(scopeText: string, stays: readonly Stay[]): DebriefCommand {
  const [first] = stays
  if (first === undefined) return showText(`No track was in a zone (${scopeText}).`)
  return showData({
    title: 'Zone transits',
    summary: `${formatCount(stays.length, 'stay')} (${scopeText}). ${describeStay(first)}`,
    transits: stays.map(toFigures),
    ...createTable(
      stays,
      { name: 'stay', key: ({ track, zone }) => `${track.name} in ${zone.name}` },
      {
        enter: ({ transit }) => formatTime(transit.enter_ms),
        exit: ({ transit }) => formatTime(transit.exit_ms),
        duration_s: ({ transit }) => roundTo((transit.exit_ms - transit.enter_ms) / 1000, 1),
        fixes_inside: ({ transit }) => transit.fixes_inside,
      },
    ),
  })
}

function describeStay({ track, zone, transit }: Stay): string {
  const enterText = transit.begins_inside
    ? `was in ${zone.name} from its first fix`
    : `entered ${zone.name} at ${formatTime(Math.round(transit.enter_ms))}`
  const exitText = transit.ends_inside
    ? 'stayed until its last fix'
    : `left it at ${formatTime(Math.round(transit.exit_ms))}`
  const minutes = (transit.exit_ms - transit.enter_ms) / 60_000
  return `${track.name} ${enterText} and ${exitText}, ${minutes.toFixed(1)} minutes.`
}

/** Entry or exit time is `null` (unknown) if the track begins or ends inside the zone. */
const toFigures = ({ track, zone, transit }: Stay) => ({
  track: track.id,
  zone: zone.id,
  names: [track.name, zone.name],
  enter_time: transit.begins_inside ? null : formatTime(transit.enter_ms),
  exit_time: transit.ends_inside ? null : formatTime(transit.exit_ms),
  enter_after_s: (transit.enter_ms - (track.times[0] ?? 0)) / 1000,
  exit_after_s: (transit.exit_ms - (track.times[0] ?? 0)) / 1000,
  duration_s: (transit.exit_ms - transit.enter_ms) / 1000,
  enter_place: toCoordinates(transit.enter),
  exit_place: toCoordinates(transit.exit),
  begins_inside: transit.begins_inside,
  ends_inside: transit.ends_inside,
  fixes_inside: transit.fixes_inside,
})
