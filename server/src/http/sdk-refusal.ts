/** Refusals that the SDK makes by itself: a number and a text, which get the code and the remedy that every error has. */
import { CausewayError, type ErrorCode, errorObject, limitData } from '@causeway/protocol'

/** The codes of refusals for which the SDK has a number and nothing else. */
const codeOfNumber: ReadonlyMap<number, ErrorCode> = new Map([
  [-32700, 'PARSE_ERROR'],
  [-32600, 'INVALID_REQUEST'],
  [-32601, 'METHOD_NOT_FOUND'],
  [-32602, 'INVALID_PARAMS'],
  [-32603, 'INTERNAL'],
  [-32000, 'INVALID_REQUEST'],
  [-32001, 'SESSION_NOT_FOUND'],
  [-32020, 'HEADER_MISMATCH'],
  [-32021, 'CLIENT_CANNOT_ANSWER'],
  [-32022, 'UNSUPPORTED_PROTOCOL'],
])

/** A failed answer of the SDK's own with its code and what to do beside the number; any other message as it is. */
export function withCode<T extends object>(message: T): T {
  const { error } = message as { error?: { code?: unknown; message?: unknown; data?: unknown } }
  const data = (error?.data ?? {}) as { code?: unknown }
  if (error === undefined || data.code !== undefined) return message
  const code = codeOfNumber.get(Number(error.code))
  if (code === undefined) return message
  const coded = new CausewayError(code, oneLine(String(error.message)))
  return {
    ...message,
    error: { ...error, message: coded.message, data: limitData({ ...errorObject(coded), ...data }) },
  }
}

/** The same of an answer over HTTP; what is no JSON goes through as it is. */
export async function answerWithCode(response: Response): Promise<Response> {
  if (response.headers.get('content-type') !== 'application/json') return response
  const message = (await response.json()) as object // of the SDK
  return new Response(JSON.stringify(withCode(message)), response)
}

/** Replaces the problems that the SDK's validation lists as JSON over many lines by their paths and messages. */
function oneLine(message: string): string {
  const end = message.endsWith(']') ? message.search(/: \[\s*\{/) : -1
  if (end < 0) return message
  try {
    const issues = JSON.parse(message.slice(end + 2)) as readonly {
      readonly path?: readonly unknown[]
      readonly message?: unknown
    }[]
    const problems = issues.map(({ path = [], message }) => `${path.join('.')}: ${message}`)
    return `${message.slice(0, end)}: ${problems.join(', ')}`
  } catch {
    // The text only resembles problems.
    return message
  }
}
