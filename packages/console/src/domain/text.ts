const units = ['B', 'kB', 'MB', 'GB', 'TB']

/** Formats a size in decimal units: `1.4 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`
}

/** Formats a duration in the two largest units: `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const wholeSeconds = Math.max(0, Math.floor(seconds))
  const parts = [
    [Math.floor(wholeSeconds / 86_400), 'd'],
    [Math.floor(wholeSeconds / 3600) % 24, 'h'],
    [Math.floor(wholeSeconds / 60) % 60, 'min'],
    [wholeSeconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  if (first === -1) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** Formats recorded time, with fractions below a minute: `0.18 s`. */
export const formatSpan = (seconds: number): string =>
  Math.abs(seconds) < 60 ? `${formatNumber(seconds)} s` : formatDuration(seconds)

/** Formats a count with narrow no-break spaces between groups of digits. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f')

export const formatMs = (ms: number): string =>
  ms < 10 ? ms.toFixed(2) : ms < 1000 ? ms.toFixed(1) : ms.toFixed(0)

/** Formats an ISO time as its hours, minutes, seconds and milliseconds in UTC. */
export function formatTime(iso: string): string {
  const [, time = iso] = iso.split('T')
  return time.replace('Z', '')
}

/** Formats an ISO time as its date, hours and minutes in UTC. */
export const formatDate = (iso: string): string => iso.slice(0, 16).replace('T', ' ')

export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'not a number'
  if (!Number.isFinite(value)) return value > 0 ? 'infinite' : '-infinite'
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value)
  const size = Math.abs(value)
  return size !== 0 && (size >= 1e6 || size < 1e-3)
    ? value.toExponential(3)
    : String(Number(value.toPrecision(4)))
}

/** Truncates to `max` UTF-16 code units without splitting a character. */
export const truncateText = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')}…`

/** Replaces each `data.<name>` of a remedy with its value, or appends a long value on its own line. */
export function fillRemedy(remedy: string, data: unknown): string {
  const values = Object(data) as Readonly<Record<string, unknown>>
  const unmentionedFields = new Set<string>()
  const text = remedy.replace(/\bdata\.(\w+)/g, (match, name: string) => {
    const value = values[name]
    if (typeof value === 'number' || (typeof value === 'string' && value.length <= 100)) return String(value)
    if (value !== undefined && value !== null)
      unmentionedFields.add(`${match}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    return match
  })
  return [text, ...unmentionedFields].join('\n')
}
