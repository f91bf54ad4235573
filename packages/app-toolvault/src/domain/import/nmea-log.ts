/**
 * NMEA 0183 logs of one vessel: GLL, GGA, GNS and RMC give positions, VTG course and speed, RMC and ZDA the date. Times of
 * day that fall back by half a day begin the next one. A log without any date needs it from the caller.
 */

import { dayStart } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import type { DebriefCommand } from '../command.ts'
import { importAnswer, skipping } from './import-answer.ts'
import { featureOf, keep, type LogFix, type TrackMaking } from './log-fix.ts'

const dayMs = 86_400_000

/** What the log does not say itself. */
export interface NmeaOptions extends TrackMaking {
  /** midnight UTC of the day on which the log begins, ms */
  readonly date: number | undefined
}

/** Reads sentence after sentence. */
export interface NmeaLog {
  take(line: string): void
  finish(): DebriefCommand
}

/** A fix whose day is counted from the first. */
type DayFix = LogFix & { readonly day: number; readonly clock: number }

/** Opens a log. */
export function nmeaLog(options: NmeaOptions): NmeaLog {
  const fixes: DayFix[] = []
  const skipped = skipping()
  const state = {
    lines: 0,
    day: 0,
    clock: -1,
    /** midnight of day 0 by the log itself */
    base: undefined as number | undefined,
  }

  const advance = (clock: number): void => {
    if (clock < state.clock - dayMs / 2) state.day++
    state.clock = clock
  }
  const dated = (midnight: number | undefined): void => {
    if (midnight === undefined) return
    if (state.base === undefined) state.base = midnight - state.day * dayMs
    else state.day = Math.round((midnight - state.base) / dayMs)
  }
  const position = (clock: number | undefined, place: Fix | undefined): void => {
    if (clock === undefined) {
      skipped.add('position without time')
      return
    }
    advance(clock)
    if (place === undefined) {
      skipped.add('position out of range or empty')
      return
    }
    const last = fixes.at(-1)
    const fix = { ...place, time: null, day: state.day, clock }
    // Sentences of one cycle say the same position several times.
    if (last === undefined || last.clock !== clock || last.day !== state.day) keep(fixes, fix)
    else fixes[fixes.length - 1] = joined(last, fix)
  }

  return {
    take(line) {
      if (line.trim() === '') return
      state.lines++
      const fields = sentence(line)
      if (typeof fields === 'string') {
        skipped.add(fields)
        return
      }
      const [id = ''] = fields
      const read = readers[id.slice(-3)]
      if (read === undefined) return
      const told = read(fields)
      if (typeof told === 'string') {
        skipped.add(told)
        return
      }
      if (told.date !== undefined && told.clock !== undefined) {
        advance(told.clock)
        dated(told.date)
      }
      if ('place' in told) position(told.clock, told.place)
      const last = fixes.at(-1)
      if (told.motion !== undefined && last !== undefined)
        fixes[fixes.length - 1] = joined(last, { ...last, ...told.motion })
    },
    finish() {
      const base = state.base ?? options.date
      if (base === undefined && fixes.length > 0)
        throw new CausewayError('DATE_NEEDED', 'no sentence of the log has a date', {
          data: { positions: fixes.length },
        })
      const timed = fixes.map(({ day, clock, ...fix }) => ({
        ...fix,
        time: (base ?? 0) + day * dayMs + clock,
      }))
      const feature = featureOf(timed, options)
      const notes = state.base === undefined ? ['The date is the one given.'] : []
      return importAnswer({
        format: options.source,
        features: feature === undefined ? [] : [feature],
        lines: state.lines,
        skipped,
        notes,
      })
    },
  }
}

type Fix = Omit<LogFix, 'time'>

/** What a sentence says. */
interface Told {
  /** ms since midnight UTC */
  readonly clock: number | undefined
  /** present in sentences of positions; undefined where the position cannot be read */
  readonly place?: Fix | undefined
  readonly date?: number | undefined
  readonly motion?: Partial<Pick<LogFix, 'speed_kn' | 'course_deg'>>
}

/** Fields of a sentence whose checksum, if it has one, is right; else why it is left out. */
function sentence(line: string): readonly string[] | string {
  const start = line.indexOf('$')
  if (start < 0) return line.includes('!') ? 'AIS sentence' : 'no NMEA sentence'
  const [body = '', given] = line
    .slice(start + 1)
    .trim()
    .split('*')
  if (given !== undefined && checksum(body) !== Number.parseInt(given.slice(0, 2), 16))
    return 'wrong checksum'
  return body.split(',')
}

/** Exclusive or of the characters between `$` and `*`. */
export function checksum(body: string): number {
  let sum = 0
  for (let index = 0; index < body.length; index++) sum ^= body.charCodeAt(index)
  return sum
}

const noFix = 'receiver had no fix'

/** By the last three letters of the sentence id; a text says why the sentence is left out. */
const readers: Readonly<Record<string, (fields: readonly string[]) => Told | string>> = {
  GLL: ([, lat, ns, lon, ew, clock, status]) =>
    status === 'V' ? noFix : { clock: clockOf(clock), place: placeOf([lat, ns], [lon, ew]) },
  GGA: ([, clock, lat, ns, lon, ew, quality]) =>
    quality === '0' ? noFix : { clock: clockOf(clock), place: placeOf([lat, ns], [lon, ew]) },
  GNS: ([, clock, lat, ns, lon, ew, mode = '']) =>
    /^N+$/.test(mode) ? noFix : { clock: clockOf(clock), place: placeOf([lat, ns], [lon, ew]) },
  RMC: ([, clock, status, lat, ns, lon, ew, speed, course, date]) =>
    status === 'V'
      ? noFix
      : {
          clock: clockOf(clock),
          place: placeOf([lat, ns], [lon, ew]),
          date: rmcDate(date),
          motion: motionOf(speed, course),
        },
  ZDA: ([, clock, day, month, year]) => ({
    clock: clockOf(clock),
    date: day && month && year ? dayStart(Number(year), Number(month), Number(day)) : undefined,
  }),
  VTG: ([, course, , , , speed]) => ({ clock: undefined, motion: motionOf(speed, course) }),
}

/** `hhmmss.ss` */
function clockOf(text: string | undefined): number | undefined {
  const found = /^(\d\d)(\d\d)(\d\d(?:\.\d+)?)$/.exec(text ?? '')
  if (found === null) return undefined
  const [hours, minutes, seconds] = found.slice(1).map(Number) as [number, number, number] // three groups
  if (hours > 23 || minutes > 59 || seconds >= 61) return undefined
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000)
}

/** `ddmmyy`; GPS began in 1980. */
function rmcDate(text = ''): number | undefined {
  const found = /^(\d\d)(\d\d)(\d\d)$/.exec(text)
  if (found === null) return undefined
  const [day, month, year] = found.slice(1).map(Number) as [number, number, number] // three groups
  return dayStart(year < 80 ? 2000 + year : 1900 + year, month, day)
}

type Angle = readonly [value: string | undefined, hemisphere: string | undefined]

function placeOf(latitude: Angle, longitude: Angle): Fix | undefined {
  const lat = degrees(latitude, ['N', 'S'], 90)
  const lon = degrees(longitude, ['E', 'W'], 180)
  return lat === undefined || lon === undefined
    ? undefined
    : { lon, lat, speed_kn: null, course_deg: null, elevation_m: null }
}

/** `dddmm.mmm`, read as a number: leading zeros may be missing. */
function degrees(
  [text, hemisphere]: Angle,
  [positive, negative]: readonly [string, string],
  most: number,
): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text)) return undefined
  if (hemisphere !== positive && hemisphere !== negative) return undefined
  const value = Number(text)
  const whole = Math.floor(value / 100)
  const minutes = value - whole * 100
  const angle = whole + minutes / 60
  if (minutes >= 60 || angle > most) return undefined
  return Number((hemisphere === negative ? -angle : angle).toFixed(9))
}

const motionOf = (speed: string | undefined, course: string | undefined) => ({
  ...(numeric(speed) === null ? {} : { speed_kn: numeric(speed) }),
  ...(numeric(course) === null ? {} : { course_deg: numeric(course) }),
})

const numeric = (text: string | undefined): number | null =>
  text === undefined || text.trim() === '' || !Number.isFinite(Number(text)) ? null : Number(text)

/** What the first did not say, the second says. */
const joined = (first: DayFix, second: DayFix): DayFix => ({
  ...first,
  speed_kn: second.speed_kn ?? first.speed_kn,
  course_deg: second.course_deg ?? first.course_deg,
})
