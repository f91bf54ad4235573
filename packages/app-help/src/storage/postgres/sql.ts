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
  into: string,
  rows: readonly (readonly unknown[])[],
  { values, returning = '' }: { readonly values: readonly string[]; readonly returning?: string },
): Promise<Row[]> {
  const answers: Row[] = []
  for (let at = 0; at < rows.length; at += rowsPerStatement) {
    const part = rows.slice(at, at + rowsPerStatement)
    const width = part[0]?.length ?? 0
    const tuples = part.map((_, i) => {
      const cells = values.map((value) =>
        value.replace(/\$(\d+)/g, (_match, n: string) => `$${i * width + Number(n)}`),
      )
      return `(${cells.join(', ')})`
    })
    answers.push(
      ...(await sql.query<Row>(`INSERT INTO ${into} VALUES ${tuples.join(', ')} ${returning}`, part.flat())),
    )
  }
  return answers
}
