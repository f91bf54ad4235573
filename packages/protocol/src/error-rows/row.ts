/** One row of the table: how a cause is told on each channel. */
export interface ErrorRow {
  /** JSON-RPC 2.0 error number, used where the failure is one of the envelope and not of a tool. */
  readonly rpc: number
  /** HTTP status of the plain REST routes. */
  readonly http: number
  /** True when the same call may succeed later without being changed. */
  readonly retryable: boolean
  /** What happened, for the documentation. */
  readonly about: string
  /** What the caller can do, in lower case and without a period; joined to the message by a semicolon. */
  readonly remedy: string
  /** The number that an original design promised for this cause. */
  readonly legacy?: number
}

/** Makes a row. */
export const row = (
  rpc: number,
  http: number,
  about: string,
  remedy: string,
  more: { retryable?: boolean; legacy?: number } = {},
): ErrorRow => Object.freeze({ rpc, http, about, remedy, retryable: false, ...more })

/** The same call may succeed later. */
export const retry = { retryable: true }
