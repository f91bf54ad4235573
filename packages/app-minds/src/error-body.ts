/** A failed call in the words of the original: `{status: "error", …}`, with the code and the request beside them. */
import type { ErrorObject } from '@causeway/protocol'

/** The body of any failed call of a tool of minds. */
export function errorBody({
  code,
  message,
  data,
  retryable,
}: ErrorObject): Readonly<Record<string, unknown>> {
  const { request_id, consolidated_count } = data
  return {
    status: 'error',
    action: null,
    error_message: message,
    code,
    ...(request_id === undefined ? {} : { request_id }),
    protocol_version: 1,
    retryable,
    ...(consolidated_count === undefined ? {} : { consolidated_count }),
  }
}
