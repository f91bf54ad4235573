/** ISO 8601 times, to the microsecond; one without an offset is UTC, wherever the server runs. */

const shape =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?[ ]?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** Milliseconds since 1970-01-01T00:00:00Z, with a fraction for microseconds; null for what is no time. */
export function parseTime(text: unknown): number | null {
  if (typeof text !== 'string') return null
  const found = shape.exec(text)
  if (found === null) return null
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset = 'Z'] = found
  const [y, m, d] = [Number(year), Number(month), Number(day)]
  if (m < 1 || m > 12 || d < 1 || d > daysIn(y, m)) return null
  const [h, min, s] = [Number(hour), Number(minute), Number(second)]
  if (h > 24 || min > 59 || s > 60 || (h === 24 && min + s > 0)) return null
  const shift = offsetMinutes(offset)
  if (shift === null) return null
  const ms = fraction === '' ? 0 : Number(`0.${fraction}`) * 1000
  return daysSince1970(y, m, d) * 86_400_000 + (h * 60 + min - shift) * 60_000 + s * 1000 + ms
}

/** `2024-01-01T00:29:56.100Z`; whole seconds are written without a fraction. */
export function formatTime(epochMs: number): string {
  const ms = Math.round(epochMs)
  const days = Math.floor(ms / 86_400_000)
  const [year, month, day] = civil(days)
  const inDay = ms - days * 86_400_000
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const fraction = inDay % 1000 === 0 ? '' : `.${String(inDay % 1000).padStart(3, '0')}`
  const clock = `${two(inDay / 3_600_000)}:${two((inDay / 60_000) % 60)}:${two((inDay / 1000) % 60)}`
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock}${fraction}Z`
}

/** The same time with its offset written out: a time without one gets `Z`. */
export const withOffset = (text: string): string =>
  /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text.slice(10))
    ? text
    : text.length <= 10
      ? `${text}T00:00:00Z`
      : `${text}Z`

function offsetMinutes(offset: string): number | null {
  if (/^z$/i.test(offset)) return 0
  const digits = offset.slice(1).replace(':', '')
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2) || 0)]
  if (hours > 23 || minutes > 59) return null
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes)
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

const daysIn = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31

/** Days of the proleptic Gregorian calendar (H. Hinnant, "chrono-compatible low-level date algorithms", days_from_civil). */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** The date of a day (the same source, civil_from_days). */
function civil(days: number): readonly [year: number, month: number, day: number] {
  const z = days + 719_468
  const era = Math.floor(z / 146_097)
  const dayOfEra = z - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shifted = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  return [
    yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  ]
}
