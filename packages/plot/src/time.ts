import { parseTime } from '@causeway/app-kit/time'
import { getProperties } from './feature.ts'

/** ISO 8601 times, `start <= current <= end`. */
export interface TimeState {
  readonly current: string
  readonly start: string
  readonly end: string
}

/** Returns Unix milliseconds, or `null` if no time is valid. */
export function findTimeRange(feature: {
  readonly properties?: unknown
}): readonly [first: number, last: number] | null {
  const { timestamps, times, time, timeStart, timeEnd } = getProperties(feature)
  const timeLists = [timestamps, times].filter((list) => Array.isArray(list))
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const text of [...timeLists.flatMap(selectEarliestAndLatest), time, timeStart, timeEnd]) {
    const ms = parseTime(text)
    if (ms === undefined) continue
    first = Math.min(first, ms)
    last = Math.max(last, ms)
  }
  return first > last ? null : [first, last]
}

/** If all times have the same format, compares them as text and returns the extremes. Otherwise, returns all times. */
function selectEarliestAndLatest(times: readonly unknown[]): readonly unknown[] {
  const [first] = times
  if (typeof first !== 'string' || !first.endsWith('Z')) return times
  let [min, max] = [first, first]
  for (const time of times) {
    if (typeof time !== 'string' || time.length !== first.length || !time.endsWith('Z')) return times
    if (time < min) min = time
    if (time > max) max = time
  }
  return [min, max]
}
