import { formatTime } from '@causeway/app-kit/time'
import { ToolVaultError } from '../../errors.ts'
import { createFeatureError } from '../feature/read-features.ts'
import {
  deriveMotion,
  findCommonSpan,
  findFixBefore,
  getTimeSpan,
  interpolatePlace,
  type Motion,
} from '../track/motion.ts'
import type { TimedTrack } from '../track/track.ts'
import { type Approach, findClosestApproach } from './closest-approach.ts'
import { indexTrack } from './indexed-track.ts'
import { type Prediction, predictApproach, type Vessel } from './predicted-approach.ts'

export interface ApproachOptions {
  /** Time of the prediction in Unix milliseconds. The default is the first time that both tracks cover. */
  readonly at_ms: number | undefined
  readonly motion: 'derived' | 'recorded'
}

export interface PairApproach {
  readonly a: TimedTrack
  readonly b: TimedTrack
  readonly approach: Approach
  /** Unix milliseconds. */
  readonly predicted_at: number
  /** `null` if a track has no position at `predicted_at`. */
  readonly predicted: Prediction | null
}

/** Yields after each pair. Returns the pairs, closest first. Throws `NO_OVERLAP` if no two tracks overlap in time. */
export function* findApproaches(
  tracks: readonly TimedTrack[],
  { at_ms, motion }: ApproachOptions,
): Generator<{ done: number; total: number }, readonly PairApproach[]> {
  const vessels = new VesselCache(motion)
  const all = tracks.map(indexTrack)
  const total = (all.length * (all.length - 1)) / 2
  const found: PairApproach[] = []
  let done = 0
  for (const [index, a] of all.entries()) {
    for (const b of all.slice(index + 1)) {
      const approach = findClosestApproach(a, b)
      if (approach !== undefined) {
        const predicted_at = at_ms ?? findCommonSpan([a.track, b.track])?.[0] ?? 0
        const [one, other] = [vessels.get(a.track, predicted_at), vessels.get(b.track, predicted_at)]
        const predicted = one && other ? predictApproach(one, other) : null
        found.push({ a: a.track, b: b.track, approach, predicted_at, predicted })
      }
      yield { done: ++done, total }
    }
  }
  if (found.length > 0) return found.sort((one, other) => one.approach.distance_m - other.approach.distance_m)
  throw new ToolVaultError('NO_OVERLAP', 'the tracks have no time in common', {
    data: {
      spans: tracks.map((track) => {
        const [start, end] = getTimeSpan(track)
        return { name: track.name, start: formatTime(start), end: formatTime(end) }
      }),
    },
  })
}

class VesselCache {
  readonly #known = new Map<TimedTrack, Map<number, Vessel | undefined>>()
  readonly #getMotion: (track: TimedTrack, time: number) => Motion

  constructor(motion: ApproachOptions['motion']) {
    this.#getMotion = motion === 'derived' ? deriveMotion : readRecordedMotion
  }

  get(track: TimedTrack, time: number): Vessel | undefined {
    const times = this.#known.get(track) ?? new Map<number, Vessel | undefined>()
    this.#known.set(track, times)
    if (times.has(time)) return times.get(time)
    const place = interpolatePlace(track, time)
    const vessel = place && { place, ...this.#getMotion(track, time) }
    times.set(time, vessel)
    return vessel
  }
}

function readRecordedMotion({ speeds, courses, times, feature }: TimedTrack, time: number): Motion {
  if (speeds === undefined || courses === undefined)
    throw createFeatureError(feature, 'has no recorded speeds and courses; pass motion: derived')
  const index = Math.max(0, findFixBefore(times, time))
  return { course_deg: courses[index] ?? null, speed_kn: speeds[index] ?? null }
}
