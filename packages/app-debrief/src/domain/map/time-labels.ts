import { formatTime, parseTime } from '@causeway/app-kit/time'
import type { LonLat } from '@causeway/plot'

export const timeStyles = ['rn-short', 'rn-long', 'plain', 'iso'] as const

/** `rn-short` is a date-time group without month, `151430Z`, and `rn-long` is `151430ZNOV24`. */
export type TimeStyle = (typeof timeStyles)[number]

export interface TimeTick {
  readonly place: LonLat
  readonly from: LonLat
  readonly to: LonLat
  readonly text: string
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Intervals of ticks by maximum time span, in milliseconds. */
const intervals: readonly (readonly [maxSpan: number, step: number])[] = [
  [10 * minute, minute],
  [hour, 5 * minute],
  [6 * hour, 30 * minute],
  [day, 2 * hour],
  [7 * day, 6 * hour],
  [30 * day, day],
  [90 * day, 7 * day],
]

/** Returns the interval in milliseconds. */
const chooseTickInterval = (span: number): number => intervals.find(([max]) => span <= max)?.[1] ?? 30 * day

const maxTicks = 400

/** Returns ticks at round times, interpolated between the vertices of each part. */
export function listTimeTicks(
  paths: readonly (readonly LonLat[])[],
  timestamps: readonly unknown[],
  style: TimeStyle,
): TimeTick[] {
  const times = timestamps.map(parseTime)
  const known = times.filter((time) => time !== undefined)
  if (known.length < 2 || times.length !== known.length) return []
  const span = Math.max(...[known[0] ?? 0, known.at(-1) ?? 0]) - (known[0] ?? 0)
  const step = chooseTickInterval(span)
  const ticks: TimeTick[] = []
  let vertex = 0
  for (const path of paths) {
    for (const [index, to] of path.entries()) {
      const [from, start, end] = [path[index - 1], times[vertex - 1] ?? 0, times[vertex] ?? 0]
      vertex++
      if (from === undefined || end <= start) continue
      for (let at = (Math.floor(start / step) + 1) * step; at <= end && ticks.length < maxTicks; at += step) {
        const share = (at - start) / (end - start)
        const place: LonLat = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]
        ticks.push({ place, from, to, text: formatTimeLabel(at, style) })
      }
    }
  }
  return ticks
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']

export function formatTimeLabel(time: number, style: TimeStyle): string {
  const iso = formatTime(time)
  const [year, month, date, clock] = [
    iso.slice(2, 4),
    Number(iso.slice(5, 7)),
    iso.slice(8, 10),
    iso.slice(11, 16),
  ]
  const group = `${date}${clock.replace(':', '')}Z`
  switch (style) {
    case 'rn-short':
      return group
    case 'rn-long':
      return `${group}${months[month - 1]}${year}`
    case 'plain':
      return clock
    case 'iso':
      return iso
  }
}
