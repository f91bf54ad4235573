export type SqlValue = number | string | null

export interface SqlQuery {
  readonly sql: string
  /** Parameters by position, or by name without the prefix `:`, `@` or `$`. */
  readonly params: readonly SqlValue[] | Readonly<Record<string, SqlValue>>
  readonly limit: number
  /** Maximum size of the rows as JSON, in bytes. */
  readonly bytes: number
  /** After this time, the query fails with `DEADLINE_EXCEEDED`. */
  readonly deadlineMs: number
}

/** The first rows of a result. A blob becomes `<blob of 24 bytes>`; a long text is truncated. */
export interface SqlResult {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlValue[])[]
  /** The limit that truncated the rows; null if they are complete. */
  readonly cut_by: 'rows' | 'bytes' | null
}

export interface QueryJob extends SqlQuery {
  readonly file: string
}

export type QueryReply =
  | { readonly answer: SqlResult }
  | { readonly refused: string }
  | { readonly failed: string }

export type QueryEnd = 'memory' | 'deadline'

/**
 * File descriptor to which the process writes its `QueryEnd`. If nothing was written, the SIGKILL came from outside.
 */
export const endReportFd = 4
