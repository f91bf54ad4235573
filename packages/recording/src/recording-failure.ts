import { CausewayError, isCausewayError } from '@causeway/protocol'
import { failureKind } from '@causeway/store'

/** What went wrong with the private copy of a recording, as clients may see it; `path` is the user's file. */
export function recordingFailure(error: unknown, path: string): unknown {
  if (isCausewayError(error)) return error
  const data = { path }
  switch (failureKind(error)) {
    case 'not-a-database':
      return new CausewayError('NOT_A_DATABASE', `the file is not an SQLite database: ${path}`, {
        data,
        cause: error,
      })
    case 'damaged':
      return new CausewayError('RECORDING_DAMAGED', `the recording is damaged: ${path}`, {
        data,
        cause: error,
      })
    case 'unwritable':
      return new CausewayError('DATA_UNWRITABLE', 'the private copy of the recording cannot be written', {
        data,
        cause: error,
      })
    default:
      return error
  }
}
