/** `$1` is the first parameter. */
export interface Sql {
  query<Row>(text: string, parameters?: readonly unknown[]): Promise<readonly Row[]>
}

export interface PostgresDatabase extends Sql {
  /** Commits, or rolls back if `work` throws. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export const formatVector = (vector: Float32Array): string => `[${vector.join(',')}]`

/** Stays below PostgreSQL's limit of 65,535 parameters. */
const rowsPerStatement = 500

/** Inserts rows of equal length in batches. Returns the columns that `returning` lists. */
export async function insertRows<Row>(
  sql: Sql,
  table: string,
  rows: readonly (readonly unknown[])[],
  { values, returning = '' }: { readonly values: readonly string[]; readonly returning?: string },
): Promise<Row[]> {
  const results: Row[] = []
  for (let offset = 0; offset < rows.length; offset += rowsPerStatement) {
    const batch = rows.slice(offset, offset + rowsPerStatement)
    const width = batch[0]?.length ?? 0
    const tuples = batch.map((_, i) => {
      const cells = values.map((value) =>
        value.replace(/\$(\d+)/g, (_match, n: string) => `$${i * width + Number(n)}`),
      )
      return `(${cells.join(', ')})`
    })
    results.push(
      ...(await sql.query<Row>(
        `INSERT INTO ${table} VALUES ${tuples.join(', ')} ${returning}`,
        batch.flat(),
      )),
    )
  }
  return results
}
