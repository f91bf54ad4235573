import { dayStart } from '@causeway/app-kit/time'
import type { DebriefCommand } from '@causeway/plot'
import { ToolVaultError } from '../../errors.ts'
import { reportImport, SkipCounter } from './import-report.ts'
import { addFix, type FeatureOptions, type LogFix, toFeature } from './log-fix.ts'

const msPerDay = 86_400_000

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
  #lineCount = 0
  #lineNumber = 0
  #dayIndex = 0
  #clockMs = -1
  /** Midnight UTC of day 0 in Unix milliseconds, if the log has a date. */
  #baseDate: number | undefined

  constructor(options: NmeaOptions) {
    this.#options = options
  }

  readLine(line: string): void {
    this.#lineNumber++
    if (line.trim() === '') return
    this.#lineCount++
    const reason = this.#readSentence(line)
    if (reason !== undefined) this.#skipped.add(reason, this.#lineNumber)
  }

  #readSentence(line: string): string | undefined {
    const fields = splitSentence(line)
    if (typeof fields === 'string') return fields
    const [id = ''] = fields
    const readSentence = sentenceReaders[id.slice(-3)]
    if (readSentence === undefined) return undefined
    const sentence = readSentence(fields)
    if (typeof sentence === 'string') return sentence
    if (sentence.date !== undefined && sentence.clock !== undefined) {
      this.#setClock(sentence.clock)
      this.#setDate(sentence.date)
    }
    const reason = 'position' in sentence ? this.#addPosition(sentence.clock, sentence.position) : undefined
    const lastFix = this.#fixes.at(-1)
    if (sentence.motion !== undefined && lastFix !== undefined)
      this.#fixes[this.#fixes.length - 1] = mergeMotion(lastFix, { ...lastFix, ...sentence.motion })
    return reason
  }

  finish(): DebriefCommand {
    const fixes = this.#fixes
    const baseDate = this.#baseDate ?? this.#options.date
    if (baseDate === undefined && fixes.length > 0)
      throw new ToolVaultError('DATE_NEEDED', 'no sentence of the log has a date', {
        data: { positions: fixes.length },
      })
    const timedFixes = fixes.map(({ day, clock, ...fix }) => ({
      ...fix,
      time: (baseDate ?? 0) + day * msPerDay + clock,
    }))
    const feature = toFeature(timedFixes, { ...this.#options, skipped: this.#skipped })
    return reportImport({
      format: this.#options.source,
      features: feature === undefined ? [] : [feature],
      lines: this.#lineCount,
      skipped: this.#skipped,
      notes: this.#baseDate === undefined ? ['The date was passed by the caller.'] : [],
    })
  }

  #setClock(clock: number): void {
    if (clock < this.#clockMs - msPerDay / 2) this.#dayIndex++
    this.#clockMs = clock
  }

  #setDate(midnight: number): void {
    if (this.#baseDate === undefined) this.#baseDate = midnight - this.#dayIndex * msPerDay
    else this.#dayIndex = Math.round((midnight - this.#baseDate) / msPerDay)
  }

  #addPosition(clock: number | undefined, position: Fix | undefined): string | undefined {
    if (clock === undefined) return 'position without time'
    this.#setClock(clock)
    if (position === undefined) return 'position out of range or empty'
    const lastFix = this.#fixes.at(-1)
    const fix = { ...position, time: null, line: this.#lineNumber, day: this.#dayIndex, clock }
    if (lastFix === undefined || lastFix.clock !== clock || lastFix.day !== this.#dayIndex)
      addFix(this.#fixes, fix)
    else this.#fixes[this.#fixes.length - 1] = mergeMotion(lastFix, fix)
    return undefined
  }
}

type Fix = Omit<LogFix, 'time' | 'line'>

interface Sentence {
  /** Milliseconds since midnight UTC. */
  readonly clock: number | undefined
  /** Present only in position sentences. `undefined` if the position is invalid. */
  readonly position?: Fix | undefined
  readonly date?: number | undefined
  readonly motion?: Partial<Pick<LogFix, 'speed_kn' | 'course_deg'>>
}

/** Returns the fields, or a text with the reason to skip the line. Accepts a missing checksum. */
function splitSentence(line: string): readonly string[] | string {
  const start = line.indexOf('$')
  if (start < 0) return line.includes('!') ? 'AIS sentence' : 'not an NMEA sentence'
  const [body = '', checksum] = line
    .slice(start + 1)
    .trim()
    .split('*')
  if (checksum !== undefined && computeChecksum(body) !== Number.parseInt(checksum.slice(0, 2), 16))
    return 'wrong checksum'
  return body.split(',')
}

/** Returns the bitwise XOR of the characters between `$` and `*`. */
export function computeChecksum(body: string): number {
  let sum = 0
  for (let index = 0; index < body.length; index++) sum ^= body.charCodeAt(index)
  return sum
}

const noFixReason = 'receiver had no fix'

/** Readers by the last three letters of the sentence id. A returned text is the reason to skip the line. */
const sentenceReaders: Readonly<Record<string, (fields: readonly string[]) => Sentence | string>> = {
  GLL: ([, lat, ns, lon, ew, clock, status]) =>
    status === 'V' ? noFixReason : { clock: readClock(clock), position: readPosition([lat, ns], [lon, ew]) },
  GGA: ([, clock, lat, ns, lon, ew, quality]) =>
    quality === '0' ? noFixReason : { clock: readClock(clock), position: readPosition([lat, ns], [lon, ew]) },
  GNS: ([, clock, lat, ns, lon, ew, mode = '']) =>
    /^N+$/.test(mode)
      ? noFixReason
      : { clock: readClock(clock), position: readPosition([lat, ns], [lon, ew]) },
  RMC: ([, clock, status, lat, ns, lon, ew, speed, course, date]) =>
    status === 'V'
      ? noFixReason
      : {
          clock: readClock(clock),
          position: readPosition([lat, ns], [lon, ew]),
          date: readRmcDate(date),
          motion: readMotion(speed, course),
        },
  ZDA: ([, clock, day, month, year]) => ({
    clock: readClock(clock),
    date: day && month && year ? dayStart(Number(year), Number(month), Number(day)) : undefined,
  }),
  VTG: ([, course, , , , speed]) => ({ clock: undefined, motion: readMotion(speed, course) }),
}

/** Converts `hhmmss.ss` to milliseconds. */
function readClock(text: string | undefined): number | undefined {
  const match = /^(\d\d)(\d\d)(\d\d(?:\.\d+)?)$/.exec(text ?? '')
  if (match === null) return undefined
  const [hours, minutes, seconds] = match.slice(1).map(Number) as [number, number, number] // three groups
  if (hours > 23 || minutes > 59 || seconds >= 61) return undefined
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000)
}

/** Reads `ddmmyy` with a year from 1980, when GPS started, to 2079. */
function readRmcDate(text = ''): number | undefined {
  const match = /^(\d\d)(\d\d)(\d\d)$/.exec(text)
  if (match === null) return undefined
  const [day, month, year] = match.slice(1).map(Number) as [number, number, number] // three groups
  return dayStart(year < 80 ? 2000 + year : 1900 + year, month, day)
}

type Angle = readonly [value: string | undefined, hemisphere: string | undefined]

function readPosition(latitude: Angle, longitude: Angle): Fix | undefined {
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
  const wholeDegrees = Math.floor(value / 100)
  const minutes = value - wholeDegrees * 100
  const angle = wholeDegrees + minutes / 60
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
