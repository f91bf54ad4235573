import { dayStart } from '@causeway/app-kit/time'
import type { DebriefCommand } from '@causeway/plot'
import { ToolVaultError } from '../../errors.ts'
import { reportImport, SkipCounter } from './import-report.ts'
import { addFix, type FeatureOptions, type LogFix, toFeature } from './log-fix.ts'

const dayMs = 86_400_000

interface NmeaOptions extends Omit<FeatureOptions, 'skipped'> {
  /** Midnight UTC of the first day in Unix milliseconds, for a log without dates. */
  readonly date: number | undefined
}

type DayFix = LogFix & { readonly day: number; readonly clock: number }

/** Reads NMEA 0183 logs of one vessel. If the time of day decreases by more than 12 hours, the next day has started. */
export class NmeaLogReader {
  readonly #options: NmeaOptions
  readonly #fixes: DayFix[] = []
  readonly #skipped = new SkipCounter()
  #lines = 0
  #number = 0
  #day = 0
  #clock = -1
  /** Midnight UTC of day 0 in Unix milliseconds, if the log has a date. */
  #base: number | undefined

  constructor(options: NmeaOptions) {
    this.#options = options
  }

  readLine(line: string): void {
    this.#number++
    if (line.trim() === '') return
    this.#lines++
    const reason = this.#read(line)
    if (reason !== undefined) this.#skipped.add(reason, this.#number)
  }

  #read(line: string): string | undefined {
    const fields = splitSentence(line)
    if (typeof fields === 'string') return fields
    const [id = ''] = fields
    const read = readers[id.slice(-3)]
    if (read === undefined) return undefined
    const sentence = read(fields)
    if (typeof sentence === 'string') return sentence
    if (sentence.date !== undefined && sentence.clock !== undefined) {
      this.#setClock(sentence.clock)
      this.#setDate(sentence.date)
    }
    const reason = 'place' in sentence ? this.#addPosition(sentence.clock, sentence.place) : undefined
    const last = this.#fixes.at(-1)
    if (sentence.motion !== undefined && last !== undefined)
      this.#fixes[this.#fixes.length - 1] = mergeMotion(last, { ...last, ...sentence.motion })
    return reason
  }

  finish(): DebriefCommand {
    const fixes = this.#fixes
    const base = this.#base ?? this.#options.date
    if (base === undefined && fixes.length > 0)
      throw new ToolVaultError('DATE_NEEDED', 'no sentence of the log has a date', {
        data: { positions: fixes.length },
      })
    const timed = fixes.map(({ day, clock, ...fix }) => ({ ...fix, time: (base ?? 0) + day * dayMs + clock }))
    const feature = toFeature(timed, { ...this.#options, skipped: this.#skipped })
    return reportImport({
      format: this.#options.source,
      features: feature === undefined ? [] : [feature],
      lines: this.#lines,
      skipped: this.#skipped,
      notes: this.#base === undefined ? ['The date was passed by the caller.'] : [],
    })
  }

  #setClock(clock: number): void {
    if (clock < this.#clock - dayMs / 2) this.#day++
    this.#clock = clock
  }

  #setDate(midnight: number): void {
    if (this.#base === undefined) this.#base = midnight - this.#day * dayMs
    else this.#day = Math.round((midnight - this.#base) / dayMs)
  }

  #addPosition(clock: number | undefined, place: Fix | undefined): string | undefined {
    if (clock === undefined) return 'position without time'
    this.#setClock(clock)
    if (place === undefined) return 'position out of range or empty'
    const last = this.#fixes.at(-1)
    const fix = { ...place, time: null, line: this.#number, day: this.#day, clock }
    if (last === undefined || last.clock !== clock || last.day !== this.#day) addFix(this.#fixes, fix)
    else this.#fixes[this.#fixes.length - 1] = mergeMotion(last, fix)
    return undefined
  }
}

type Fix = Omit<LogFix, 'time' | 'line'>

interface Sentence {
  /** Milliseconds since midnight UTC. */
  readonly clock: number | undefined
  /** Present only in position sentences. `undefined` if the position is invalid. */
  readonly place?: Fix | undefined
  readonly date?: number | undefined
  readonly motion?: Partial<Pick<LogFix, 'speed_kn' | 'course_deg'>>
}

/** Returns the fields, or a text with the reason to skip the line. Accepts a missing checksum. */
function splitSentence(line: string): readonly string[] | string {
  const start = line.indexOf('$')
  if (start < 0) return line.includes('!') ? 'AIS sentence' : 'not an NMEA sentence'
  const [body = '', given] = line
    .slice(start + 1)
    .trim()
    .split('*')
  if (given !== undefined && computeChecksum(body) !== Number.parseInt(given.slice(0, 2), 16))
    return 'wrong checksum'
  return body.split(',')
}

/** Returns the bitwise XOR of the characters between `$` and `*`. */
export function computeChecksum(body: string): number {
  let sum = 0
  for (let index = 0; index < body.length; index++) sum ^= body.charCodeAt(index)
  return sum
}

const noFix = 'receiver had no fix'

/** Readers by the last three letters of the sentence id. A returned text is the reason to skip the line. */
const readers: Readonly<Record<string, (fields: readonly string[]) => Sentence | string>> = {
  GLL: ([, lat, ns, lon, ew, clock, status]) =>
    status === 'V' ? noFix : { clock: readClock(clock), place: readPlace([lat, ns], [lon, ew]) },
  GGA: ([, clock, lat, ns, lon, ew, quality]) =>
    quality === '0' ? noFix : { clock: readClock(clock), place: readPlace([lat, ns], [lon, ew]) },
  GNS: ([, clock, lat, ns, lon, ew, mode = '']) =>
    /^N+$/.test(mode) ? noFix : { clock: readClock(clock), place: readPlace([lat, ns], [lon, ew]) },
  RMC: ([, clock, status, lat, ns, lon, ew, speed, course, date]) =>
    status === 'V'
      ? noFix
      : {
          clock: readClock(clock),
          place: readPlace([lat, ns], [lon, ew]),
          date: readRmcDate(date),
          motion: readMotion(speed, course),
        },
  ZDA: ([, clock, day, month, year]) => ({
    clock: readClock(clock),
    date: day && month && year ? dayStart(Number(year), Number(month), Number(day)) : undefined,
  }),
  VTG: ([, course, , , , speed]) => ({ clock: undefined, motion: readMotion(speed, course) }),
}

/** Reads `hhmmss.ss`. */
function readClock(text: string | undefined): number | undefined {
  const found = /^(\d\d)(\d\d)(\d\d(?:\.\d+)?)$/.exec(text ?? '')
  if (found === null) return undefined
  const [hours, minutes, seconds] = found.slice(1).map(Number) as [number, number, number] // three groups
  if (hours > 23 || minutes > 59 || seconds >= 61) return undefined
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000)
}

/** Reads `ddmmyy` with a year from 1980, when GPS started, to 2079. */
function readRmcDate(text = ''): number | undefined {
  const found = /^(\d\d)(\d\d)(\d\d)$/.exec(text)
  if (found === null) return undefined
  const [day, month, year] = found.slice(1).map(Number) as [number, number, number] // three groups
  return dayStart(year < 80 ? 2000 + year : 1900 + year, month, day)
}

type Angle = readonly [value: string | undefined, hemisphere: string | undefined]

function readPlace(latitude: Angle, longitude: Angle): Fix | undefined {
  const lat = readDegrees(latitude, ['N', 'S'], 90)
  const lon = readDegrees(longitude, ['E', 'W'], 180)
  return lat === undefined || lon === undefined
    ? undefined
    : { lon, lat, speed_kn: null, course_deg: null, elevation_m: null }
}

/** Reads `dddmm.mmm`. Leading zeros can be missing. */
function readDegrees(
  [text, hemisphere]: Angle,
  [positive, negative]: readonly [string, string],
  max: number,
): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text)) return undefined
  if (hemisphere !== positive && hemisphere !== negative) return undefined
  const value = Number(text)
  const whole = Math.floor(value / 100)
  const minutes = value - whole * 100
  const angle = whole + minutes / 60
  if (minutes >= 60 || angle > max) return undefined
  return Number((hemisphere === negative ? -angle : angle).toFixed(9))
}

const readMotion = (speed: string | undefined, course: string | undefined) => ({
  ...(readNumber(speed) === null ? {} : { speed_kn: readNumber(speed) }),
  ...(readNumber(course) === null ? {} : { course_deg: readNumber(course) }),
})

const readNumber = (text: string | undefined): number | null =>
  text === undefined || text.trim() === '' || !Number.isFinite(Number(text)) ? null : Number(text)

const mergeMotion = (first: DayFix, second: DayFix): DayFix => ({
  ...first,
  speed_kn: second.speed_kn ?? first.speed_kn,
  course_deg: second.course_deg ?? first.course_deg,
})
