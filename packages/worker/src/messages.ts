import {
  CausewayError,
  fromPlainError,
  isCausewayError,
  type PlainError,
  toFileLimitError,
  toPlainError,
} from '@causeway/protocol'

/** Worker methods with one argument and one result, both structured-cloneable. */
export type MethodTable<Table> = { readonly [Name in keyof Table]: (args: never) => unknown }

export type MethodArgs<Table extends MethodTable<Table>, Name extends keyof Table> = Parameters<
  Table[Name]
>[0]

export type MethodResult<Table extends MethodTable<Table>, Name extends keyof Table> = Awaited<
  ReturnType<Table[Name]>
>

export type Progress = (done: number, total?: number, message?: string) => void

export type Request =
  | { readonly id: number; readonly method: string; readonly args: unknown }
  | { readonly id: number; readonly cancel: true }
  | { readonly id: number; readonly stop: true }

/** A call gets any number of progress reports, then a result or an error. */
export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: SerializedError }
  | { readonly id: number; readonly progress: Readonly<Parameters<Progress>> }

type SerializedError = PlainError | { readonly code: null; readonly message: string; readonly stack: string }

/** `failure` replaces the message unless the error is a `CausewayError`. */
export function serializeError(error: unknown, failure: string): SerializedError {
  const codedError = isCausewayError(error) ? error : toFileLimitError(error)
  if (codedError !== undefined) return toPlainError(codedError)
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: null, message: failure, stack }
}

export function deserializeError(error: SerializedError): CausewayError {
  return error.code === null
    ? new CausewayError('INTERNAL', error.message, { cause: error.stack })
    : fromPlainError(error)
}

export const createCancelledError = (): CausewayError =>
  new CausewayError('CANCELLED', 'the call was cancelled')
