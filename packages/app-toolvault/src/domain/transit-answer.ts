/** Stays of tracks in zones, as an answer. */

import { formatTime } from '@causeway/app-kit/time'
import { type DebriefCommand, showData, showText } from './command.ts'
import { counted } from './counted.ts'
import { positionOf } from './resampling.ts'
import { rounded, table } from './table.ts'
import type { TimedTrack } from './track.ts'
import { type Transit, transits, type Zone } from './zone-transit.ts'

/** A stay of one track in one zone. */
export interface NamedTransit {
  readonly track: TimedTrack
  readonly zone: Zone
  readonly stay: Transit
}

/** Legs between two reports. */
const legsPerStep = 256

/** Every stay of every track in every zone. */
export function* transitsOf(
  tracks: readonly TimedTrack[],
  zones: readonly Zone[],
): Generator<{ done: number; total: number }, readonly NamedTransit[]> {
  const found: NamedTransit[] = []
  const total = tracks.length * zones.length
  let pairs = 0
  for (const track of tracks) {
    for (const zone of zones) {
      const steps = transits(track, zone)
      let step = steps.next()
      for (let leg = 0; !step.done; leg++, step = steps.next())
        if (leg % legsPerStep === 0) yield { done: pairs, total }
      found.push(...step.value.map((stay) => ({ track, zone, stay })))
      pairs++
    }
  }
  return found
}

/** The first stay in words, and all as a table. */
export function transitAnswer(
  { tracks, zones }: { readonly tracks: readonly TimedTrack[]; readonly zones: readonly Zone[] },
  found: readonly NamedTransit[],
): DebriefCommand {
  const [first] = found
  const scope = `${counted(tracks.length, 'track')}, ${counted(zones.length, 'zone')}`
  if (first === undefined) return showText(`No track was in a zone (${scope}).`)
  return showData({
    title: 'Zone transits',
    summary: `${counted(found.length, 'stay')} (${scope}). ${sentence(first)}`,
    transits: found.map(figures),
    ...table(
      found,
      { name: 'stay', key: ({ track, zone }) => `${track.name} in ${zone.name}` },
      {
        enter: ({ stay }) => formatTime(stay.enter_ms),
        exit: ({ stay }) => formatTime(stay.exit_ms),
        duration_s: ({ stay }) => rounded((stay.exit_ms - stay.enter_ms) / 1000, 1),
        fixes_inside: ({ stay }) => stay.fixes_inside,
      },
    ),
  })
}

function sentence({ track, zone, stay }: NamedTransit): string {
  const enter = stay.begins_inside
    ? `was in ${zone.name} from its first fix on`
    : `entered ${zone.name} at ${formatTime(Math.round(stay.enter_ms))}`
  const exit = stay.ends_inside
    ? 'stayed to its last fix'
    : `left it at ${formatTime(Math.round(stay.exit_ms))}`
  const minutes = (stay.exit_ms - stay.enter_ms) / 60_000
  return `${track.name} ${enter} and ${exit}, ${minutes.toFixed(1)} minutes.`
}

/** Times that are not known, because the track begins or ends inside, are null. */
const figures = ({ track, zone, stay }: NamedTransit) => ({
  track: track.id,
  zone: zone.id,
  names: [track.name, zone.name],
  enter_time: stay.begins_inside ? null : formatTime(stay.enter_ms),
  exit_time: stay.ends_inside ? null : formatTime(stay.exit_ms),
  enter_after_s: (stay.enter_ms - (track.times[0] ?? 0)) / 1000,
  exit_after_s: (stay.exit_ms - (track.times[0] ?? 0)) / 1000,
  duration_s: (stay.exit_ms - stay.enter_ms) / 1000,
  enter_place: positionOf(stay.enter),
  exit_place: positionOf(stay.exit),
  begins_inside: stay.begins_inside,
  ends_inside: stay.ends_inside,
  fixes_inside: stay.fixes_inside,
})
