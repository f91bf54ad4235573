import { formatTime } from '@causeway/app-kit/time'
import { ToolVaultError } from '../../errors.ts'
import { createFeatureError } from '../feature/read-features.ts'
import {
  deriveMotion,
  findCommonSpan,
  findFixBefore,
  getTimeSpan,
  interpolatePosition,
  type Motion,
} from '../track/motion.ts'
import type { TimedTrack } from '../track/track.ts'
import { type Approach, findClosestApproach } from './closest-approach.ts'
import { indexTrack } from './indexed-track.ts'
import { type Prediction, predictApproach, type Vessel } from './predicted-approach.ts'

export interface ApproachOptions {
  /** Time of the prediction in Unix milliseconds. The default is the first time that both tracks cover. */
  readonly atMs: number | undefined
  readonly motion: 'derived' | 'recorded'
}

export interface PairApproach {
  readonly a: TimedTrack
  readonly b: TimedTrack
  readonly approach: Approach
  /** Unix milliseconds. */
  readonly predictedAt: number
  /** `null` if a track has no position at `predictedAt`. */
  readonly prediction: Prediction | null
}

/** Yields after each pair. Returns pairs that overlap in time, closest first. Throws `NO_OVERLAP` without such pairs. */
export function* findApproaches(
  tracks: readonly TimedTrack[],
  { atMs, motion }: ApproachOptions,
): Generator<{ done: number; total: number }, readonly PairApproach[]> {
  const vessels = new VesselCache(motion)
  const indexedTracks = tracks.map(indexTrack)
  const total = (indexedTracks.length * (indexedTracks.length - 1)) / 2
  const approaches: PairApproach[] = []
  let doneCount = 0
  for (const [index, a] of indexedTracks.entries()) {
    for (const b of indexedTracks.slice(index + 1)) {
      const approach = findClosestApproach(a, b)
      if (approach !== undefined) {
        const predictedAt = atMs ?? findCommonSpan([a.track, b.track])?.[0] ?? 0
        const [vesselA, vesselB] = [vessels.get(a.track, predictedAt), vessels.get(b.track, predictedAt)]
        const prediction = vesselA && vesselB ? predictApproach(vesselA, vesselB) : null
        approaches.push({ a: a.track, b: b.track, approach, predictedAt, prediction })
      }
      yield { done: ++doneCount, total }
    }
  }
  if (approaches.length > 0)
    return approaches.sort((first, second) => first.approach.distance_m - second.approach.distance_m)
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
  readonly #vessels = new Map<TimedTrack, Map<number, Vessel | undefined>>()
  readonly #getMotion: (track: TimedTrack, time: number) => Motion

  constructor(motion: ApproachOptions['motion']) {
    this.#getMotion = motion === 'derived' ? deriveMotion : readRecordedMotion
  }

  get(track: TimedTrack, time: number): Vessel | undefined {
    const vesselsByTime = this.#vessels.get(track) ?? new Map<number, Vessel | undefined>()
    this.#vessels.set(track, vesselsByTime)
    if (vesselsByTime.has(time)) return vesselsByTime.get(time)
    const position = interpolatePosition(track, time)
    const vessel = position && { position, ...this.#getMotion(track, time) }
    vesselsByTime.set(time, vessel)
    return vessel
  }
}

function readRecordedMotion({ speeds, courses, times, feature }: TimedTrack, time: number): Motion {
  if (speeds === undefined || courses === undefined)
    throw createFeatureError(feature, 'has no recorded speeds and courses; pass motion: derived')
  const index = Math.max(0, findFixBefore(times, time))
  return { course_deg: courses[index] ?? null, speed_kn: speeds[index] ?? null }
}
