import { type CausewayError, listNamedData } from '@causeway/protocol'

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB']

const timeUnits = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** Uses steps of 1000: `1.5 MB`. */
export function formatBytes(bytes: number): string {
  const step = Math.min(byteUnits.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1000 ** step
  return `${step === 0 ? value : value.toFixed(1)} ${byteUnits[step]}`
}

/** Returns text such as `2 d 3 h` or `45 s`. */
export function formatDuration(seconds: number): string {
  let remainingSeconds = Math.max(0, Math.round(seconds))
  const largestUnit = timeUnits.findIndex(([, size]) => remainingSeconds >= size)
  const parts = timeUnits.slice(largestUnit).map(([unit, size]) => {
    const count = Math.floor(remainingSeconds / size)
    remainingSeconds -= count * size
    return { count, unit }
  })
  return parts
    .slice(0, 2)
    .filter(({ count }, index) => index === 0 || count > 0)
    .map(({ count, unit }) => `${count} ${unit}`)
    .join(' ')
}

/** Omits columns without text. */
export function formatTable(rows: readonly (readonly string[])[], indent = ''): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const toCell = (text: string, column: number) =>
    widths[column] === 0 ? [] : text.padEnd(widths[column] ?? 0)
  return rows.map((row) => `${indent}${row.flatMap(toCell).join('  ')}`.trimEnd())
}

/** Fields without a value are omitted. */
export type Fields = readonly (readonly [string, string | undefined])[]

export function formatFields(title: string, fields: Fields): string {
  const rows = fields.flatMap(([name, value]) => (value ? [[name, value]] : []))
  return [title, ...formatTable(rows, '  ')].join('\n')
}

/** Omits the error code for errors in the command line or in a setting. */
export const formatError = (error: CausewayError): string =>
  [
    `${error.message}${isUsageError(error) ? '' : ` [${error.code}]`}`,
    `-> ${error.remedy}`,
    ...listNamedData(error),
  ].join('\n  ')

export const isUsageError = ({ code }: CausewayError): boolean =>
  code === 'INVALID_ARGUMENTS' || code === 'INVALID_SETTING'
