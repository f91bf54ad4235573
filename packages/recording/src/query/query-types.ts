/** SQL queries and their answers: plain data, because they are sent to another process. */

/** A value of a parameter or of a row. */
export type SqlValue = number | string | null

/** A question to the private copy of a recording. */
export interface SqlQuestion {
  readonly sql: string
  /** by position, or by name without the `:`, `@` or `$` */
  readonly params: readonly SqlValue[] | Readonly<Record<string, SqlValue>>
  /** most rows of the answer */
  readonly limit: number
  /** most bytes of the rows as JSON */
  readonly bytes: number
  /** after this the question ends with `DEADLINE_EXCEEDED` */
  readonly deadlineMs: number
}

/** The first rows of a result. A blob is told as `<blob of 24 bytes>`, a long text is cut. */
export interface SqlAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlValue[])[]
  /** which limit ended the rows; null where all are there */
  readonly cut_by: 'rows' | 'bytes' | null
}

/** What the process is started with. */
export interface QueryJob extends SqlQuestion {
  /** private copy */
  readonly file: string
}

/** What the process says, once. */
export type QueryReply =
  | { readonly answer: SqlAnswer }
  | { readonly refused: string }
  | { readonly failed: string }

/** Why the process ended itself before the reply. */
export type QueryEnd = 'memory' | 'deadline'

/** Descriptor to which the process writes its `QueryEnd`. A SIGKILL without one came from outside. */
export const endReportFd = 4
