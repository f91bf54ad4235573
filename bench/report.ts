/** A section of the results: a table and a description of what is compared. */
export interface Section {
  readonly title: string
  readonly about: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Formats a number with three significant digits. */
export function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '∞'
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

/** The limit of a figure. */
export type Limit = { readonly most: number } | { readonly least: number }

/** Formats a figure and marks a missed limit: `0.324 (missed)`. A figure that was not measured does not miss its limit. */
export function held(value: number, limit: Limit, unit = ''): string {
  const isMissed = 'most' in limit ? value > limit.most : value < limit.least
  return spaced(number(value), unit, isMissed ? '(missed)' : '')
}

/** Formats a limit: `≤ 120`, `≥ 0.9`. */
export const limitText = (limit: Limit, unit = ''): string =>
  spaced('most' in limit ? `≤ ${number(limit.most)}` : `≥ ${number(limit.least)}`, unit)

/** One figure of a row with several: `p99 ≤ 20 ms` next to `p99 7.38 ms`. */
export interface Figure {
  readonly what: string
  readonly value: number
  readonly limit: Limit
  readonly unit: string
  /** Suffix of the measured value. */
  readonly note?: string
}

/** Formats several limits and the measured values as two cells. */
export const heldTogether = (figures: readonly Figure[]): [limits: string, measured: string] => [
  figures.map(({ what, limit, unit }) => spaced(what, limitText(limit, unit))).join(', '),
  figures
    .map(({ what, value, limit, unit, note }) => spaced(what, held(value, limit, unit), note))
    .join(', '),
]

const spaced = (...words: readonly (string | undefined)[]): string => words.filter(Boolean).join(' ')

/** Formats a section as Markdown with aligned columns, so that it is readable on a terminal too. */
export function markdown({ title, about, head, rows }: Section): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [`### ${title}`, '', about, '', line(head), rule, ...rows.map(line), ''].join('\n')
}
