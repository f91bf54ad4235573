const isoTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

const dayMs = 86_400_000

/**
 * Parses an ISO 8601 time, in UTC if it has no zone. Returns Unix milliseconds with microseconds as a
 * fraction, or `undefined` if it is invalid.
 */
export function parseTime(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const utcMs = parseUtc(text)
  if (utcMs !== undefined) return utcMs
  const match = isoTime.exec(text.trim())
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((digits) => Number(digits ?? 0))
  const midnight = dayStart(year, month, day)
  const [, , , , , , , fraction = '', zone = 'Z'] = match
  const zoneOffsetMs = parseZoneMs(zone)
  const isOutOfRange = hour > 24 || minute > 59 || second > 60 || (hour === 24 && minute + second > 0)
  if (midnight === undefined || zoneOffsetMs === undefined || isOutOfRange) return undefined
  const timeOfDayMs = ((hour * 60 + minute) * 60 + second) * 1000 + Number(`0.${fraction || '0'}`) * 1000
  return midnight + timeOfDayMs - zoneOffsetMs
}

/** Fast path for `2024-01-01T00:29:56Z`, optionally with milliseconds. */
function parseUtc(text: string): number | undefined {
  const { length } = text
  if ((length !== 20 && length !== 24) || text.charCodeAt(length - 1) !== 90) return undefined
  const hasSeparators =
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    text.charCodeAt(10) === 84 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    (length === 20 || text.charCodeAt(19) === 46)
  if (!hasSeparators) return undefined
  const [hour, minute, second] = [
    parseDigits(text, 11, 13),
    parseDigits(text, 14, 16),
    parseDigits(text, 17, 19),
  ]
  const fraction = length === 20 ? 0 : parseDigits(text, 20, 23)
  const midnight = dayStart(parseDigits(text, 0, 4), parseDigits(text, 5, 7), parseDigits(text, 8, 10))
  // Negated, because comparisons with NaN are false.
  if (midnight === undefined || !(hour < 24 && minute < 60 && second < 60 && fraction < 1000))
    return undefined
  const ms = midnight + ((hour * 60 + minute) * 60 + second) * 1000 + fraction
  return Number.isNaN(ms) ? undefined : ms
}

/** Returns NaN if a character is not a digit. */
function parseDigits(text: string, from: number, to: number): number {
  let value = 0
  for (let index = from; index < to; index += 1) {
    const digit = text.charCodeAt(index) - 48
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

function parseZoneMs(zone: string): number | undefined {
  if (/^z$/i.test(zone)) return 0
  const digits = zone.slice(1).replace(':', '')
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2) || '0')]
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** Returns midnight UTC in Unix milliseconds; `undefined` for an invalid Gregorian date. */
export function dayStart(year: number, month: number, day: number): number | undefined {
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return undefined
  return daysFromCivil(year, month, day) * dayMs
}

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

const daysInMonth = (year: number, month: number): number =>
  month === 2
    ? isLeapYear(year)
      ? 29
      : 28
    : month === 4 || month === 6 || month === 9 || month === 11
      ? 30
      : 31

/** Returns days since 1970-01-01 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"). Years start in March. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

const toTwoDigits = (value: number): string => String(value).padStart(2, '0')

/** Returns `2024-01-01T00:29:56Z`, with 3 or 6 decimals if needed. */
export function formatTime(ms: number): string {
  const days = Math.floor(ms / dayMs)
  const dayMicroseconds = Math.round((ms - days * dayMs) * 1000)
  if (dayMicroseconds === dayMs * 1000) return formatTime((days + 1) * dayMs)
  const date = new Date(days * dayMs)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
  const seconds = Math.floor(dayMicroseconds / 1e6)
  const fraction = String(dayMicroseconds - seconds * 1e6).padStart(6, '0')
  const fractionText =
    fraction === '000000' ? '' : `.${fraction.endsWith('000') ? fraction.slice(0, 3) : fraction}`
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map(toTwoDigits)
    .join(':')
  return `${String(year).padStart(4, '0')}-${toTwoDigits(month)}-${toTwoDigits(day)}T${clock}${fractionText}Z`
}
