/** A part of the results: a table, and a line on what is compared. */
export interface Section {
  readonly title: string
  readonly about: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A number with as many digits as it deserves. */
export function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '∞'
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

/** What a figure is held to. */
export type Limit = { readonly most: number } | { readonly least: number }

/** A figure that says whether it misses what it is held to: `0.324 (missed)`. One that was not measured misses nothing. */
export function held(value: number, limit: Limit, unit = ''): string {
  const isMissed = 'most' in limit ? value > limit.most : value < limit.least
  return spaced(number(value), unit, isMissed ? '(missed)' : '')
}

/** What a figure is held to, in words: `≤ 120`, `≥ 0.9`. */
export const limitText = (limit: Limit, unit = ''): string =>
  spaced('most' in limit ? `≤ ${number(limit.most)}` : `≥ ${number(limit.least)}`, unit)

/** A figure of a row that has several: `p99 ≤ 20 ms` beside `p99 7.38 ms`. */
export interface Figure {
  readonly what: string
  readonly value: number
  readonly limit: Limit
  readonly unit: string
  /** Said behind what was measured. */
  readonly note?: string
}

/** What several figures are held to, and what they came to: two cells. */
export const heldTogether = (figures: readonly Figure[]): [limits: string, measured: string] => [
  figures.map(({ what, limit, unit }) => spaced(what, limitText(limit, unit))).join(', '),
  figures
    .map(({ what, value, limit, unit, note }) => spaced(what, held(value, limit, unit), note))
    .join(', '),
]

const spaced = (...words: readonly (string | undefined)[]): string => words.filter(Boolean).join(' ')

/** A section as Markdown, for a part with a heading of its own, its columns aligned, so that it reads well on a terminal too. */
export function markdown({ title, about, head, rows }: Section): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [`### ${title}`, '', about, '', line(head), rule, ...rows.map(line), ''].join('\n')
}
