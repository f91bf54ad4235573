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
export function held(value: number, limit: Limit): string {
  const isMissed = 'most' in limit ? value > limit.most : value < limit.least
  return isMissed ? `${number(value)} (missed)` : number(value)
}

/** What a figure is held to, in words: `≤ 120`, `≥ 0.9`. */
export const limitText = (limit: Limit): string =>
  'most' in limit ? `≤ ${number(limit.most)}` : `≥ ${number(limit.least)}`

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
