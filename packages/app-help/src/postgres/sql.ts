/** The little of a PostgreSQL driver that the store needs, so that any driver can serve. */

/** Runs statements; `$1` is the first parameter. */
export interface Sql {
  query<Row>(text: string, parameters?: readonly unknown[]): Promise<readonly Row[]>
}

/** A database: statements on any connection, and transactions on one. */
export interface PostgresDatabase extends Sql {
  /** Commits what the work did, or takes it back where it throws. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A vector as pgvector reads it. */
export const vectorText = (vector: Float32Array): string => `[${vector.join(',')}]`

/** Rows written by one statement: PostgreSQL takes 65 535 parameters. */
const rowsOfStatement = 500

/** Inserts rows of equal length by few statements; answers what `returning` names. */
export async function insertRows<Row>(
  sql: Sql,
  into: string,
  rows: readonly (readonly unknown[])[],
  { values, returning = '' }: { readonly values: readonly string[]; readonly returning?: string },
): Promise<Row[]> {
  const answers: Row[] = []
  for (let at = 0; at < rows.length; at += rowsOfStatement) {
    const part = rows.slice(at, at + rowsOfStatement)
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
