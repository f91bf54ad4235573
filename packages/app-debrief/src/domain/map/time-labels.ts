import { formatTime, parseTime } from '@causeway/app-kit/time'
import type { LonLat } from '@causeway/plot'

export const timeStyles = ['rn-short', 'rn-long', 'plain', 'iso'] as const

/** `rn-short` is a date-time group without month, `151430Z`, and `rn-long` is `151430ZNOV24`. */
export type TimeStyle = (typeof timeStyles)[number]

export interface TimeTick {
  readonly position: LonLat
  readonly from: LonLat
  readonly to: LonLat
  readonly text: string
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Intervals of ticks by maximum time span, in milliseconds. */
const tickIntervals: readonly (readonly [maxSpanMs: number, stepMs: number])[] = [
  [10 * minuteMs, minuteMs],
  [hourMs, 5 * minuteMs],
  [6 * hourMs, 30 * minuteMs],
  [dayMs, 2 * hourMs],
  [7 * dayMs, 6 * hourMs],
  [30 * dayMs, dayMs],
  [90 * dayMs, 7 * dayMs],
]

const chooseTickInterval = (spanMs: number): number =>
  tickIntervals.find(([max]) => spanMs <= max)?.[1] ?? 30 * dayMs

const maxTicks = 400

/** Returns ticks at round times, interpolated between the vertices of each part. */
export function listTimeTicks(
  paths: readonly (readonly LonLat[])[],
  timestamps: readonly unknown[],
  style: TimeStyle,
): TimeTick[] {
  const times = timestamps.map(parseTime)
  const knownTimes = times.filter((time) => time !== undefined)
  if (knownTimes.length < 2 || times.length !== knownTimes.length) return []
  const spanMs = Math.max(...[knownTimes[0] ?? 0, knownTimes.at(-1) ?? 0]) - (knownTimes[0] ?? 0)
  const stepMs = chooseTickInterval(spanMs)
  const ticks: TimeTick[] = []
  let vertex = 0
  for (const path of paths) {
    for (const [index, to] of path.entries()) {
      const [from, start, end] = [path[index - 1], times[vertex - 1] ?? 0, times[vertex] ?? 0]
      vertex++
      if (from === undefined || end <= start) continue
      for (
        let time = (Math.floor(start / stepMs) + 1) * stepMs;
        time <= end && ticks.length < maxTicks;
        time += stepMs
      ) {
        const fraction = (time - start) / (end - start)
        const position: LonLat = [
          from[0] + (to[0] - from[0]) * fraction,
          from[1] + (to[1] - from[1]) * fraction,
        ]
        ticks.push({ position, from, to, text: formatTimeLabel(time, style) })
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
  const dateTimeGroup = `${date}${clock.replace(':', '')}Z`
  switch (style) {
    case 'rn-short':
      return dateTimeGroup
    case 'rn-long':
      return `${dateTimeGroup}${months[month - 1]}${year}`
    case 'plain':
      return clock
    case 'iso':
      return iso
  }
}
