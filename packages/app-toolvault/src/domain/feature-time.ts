/** When features are: their timestamps, or the one time or the window of a point. */

import { parseTime } from '@causeway/app-kit/time'
import type { Feature } from './feature.ts'

/** Every time of a feature, ms; what is no time is left out. */
function timesOf({ properties }: Feature): number[] {
  const { timestamps, times, time, timeStart, timeEnd } = properties
  const lists = [timestamps, times].filter(Array.isArray).flat()
  return [...lists, time, timeStart, timeEnd].map(parseTime).filter((found) => found !== undefined)
}

/** The earliest time of features, ms; undefined where none has one. */
export function startOf(features: readonly Feature[]): number | undefined {
  let earliest: number | undefined
  for (const time of features.flatMap(timesOf)) if (earliest === undefined || time < earliest) earliest = time
  return earliest
}
