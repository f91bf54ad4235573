/**
 * `axis.name` names the rows, and `axis.key` returns the label of a row. The values have shape [rows, columns],
 * row-major.
 */
export function createTable<Row>(
  rows: readonly Row[],
  axis: { readonly name: string; readonly key: (row: Row) => string | number },
  columns: Readonly<Record<string, (row: Row) => number | string | null>>,
) {
  return {
    shape: [rows.length, Object.keys(columns).length],
    axes: [
      { name: axis.name, values: rows.map(axis.key) },
      { name: 'quantity', values: Object.keys(columns) },
    ],
    values: rows.flatMap((row) => Object.values(columns).map((read) => read(row))),
  }
}

export function roundTo(value: number, decimals: number): number
export function roundTo(value: number | null, decimals: number): number | null
export function roundTo(value: number | null, decimals: number): number | null {
  return value === null ? null : Number(value.toFixed(decimals))
}
