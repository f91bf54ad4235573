/** What goes through the port between a thread and its worker. */
import { CausewayError, type ErrorCode, type ErrorData, isCausewayError } from '@causeway/protocol'

/** To the worker. */
export type Request =
  | { readonly id: number; readonly method: string; readonly args: unknown }
  | { readonly id: number; readonly cancel: true }
  | { readonly id: number; readonly stop: true }

/** From the worker: any number of progress reports, then one answer or error, for each call. */
export type Reply =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: CarriedError }
  | {
      readonly id: number
      readonly progress: readonly [done: number, total?: number | undefined, message?: string | undefined]
    }

/** An error on its way between threads: classes do not survive the clone. */
export interface CarriedError {
  /** null where the error is not one for clients; `text` is then its stack, for the log */
  readonly code: ErrorCode | null
  readonly message: string
  readonly remedy?: string
  readonly data: ErrorData
  readonly text?: string
}

/** Packs an error; of one that is not for clients only `failure` is told. */
export function carry(error: unknown, failure: string): CarriedError {
  if (isCausewayError(error)) {
    const { code, message, remedy, data } = error
    return { code, message, remedy, data }
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: null, message: failure, data: {}, text }
}

/** Unpacks an error. */
export function revive({ code, message, remedy, data, text }: CarriedError): CausewayError {
  const options = remedy === undefined ? { data } : { data, remedy }
  return new CausewayError(code ?? 'INTERNAL', message, { ...options, cause: text })
}
