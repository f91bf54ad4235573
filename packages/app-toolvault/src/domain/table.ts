/** The table form of `showData`: a shape, an axis for each dimension, and the values row after row. */

/** A table of figures. */
export interface Table {
  readonly shape: readonly [rows: number, columns: number]
  readonly axes: readonly [
    { readonly name: string; readonly values: readonly (string | number)[] },
    { readonly name: string; readonly values: readonly string[] },
  ]
  /** row-major */
  readonly values: readonly (number | string | null)[]
}

/** Rows under columns; `axis` names what a row stands for, `key` gives its label. */
export function table<Row>(
  rows: readonly Row[],
  axis: { readonly name: string; readonly key: (row: Row) => string | number },
  columns: Readonly<Record<string, (row: Row) => number | string | null>>,
): Table {
  return {
    shape: [rows.length, Object.keys(columns).length],
    axes: [
      { name: axis.name, values: rows.map(axis.key) },
      { name: 'quantity', values: Object.keys(columns) },
    ],
    values: rows.flatMap((row) => Object.values(columns).map((read) => read(row))),
  }
}

/** Rounded to so many decimals, for figures that people read; null stays null. */
export function rounded(value: number, decimals: number): number
export function rounded(value: number | null, decimals: number): number | null
export function rounded(value: number | null, decimals: number): number | null {
  return value === null ? null : Number(value.toFixed(decimals))
}
