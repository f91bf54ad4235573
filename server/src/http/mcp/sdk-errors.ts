/** Adds codes to the SDK's errors, which have only a number and a text. */
import { CausewayError, isObject, limitData, toErrorObject, type WireErrorCode } from '@causeway/protocol'

const codesByNumber: ReadonlyMap<number, WireErrorCode> = new Map([
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

/** Returns coded errors, and messages without an error, unchanged. */
export function addErrorCode<T extends object>(message: T): T {
  const { error } = message as { error?: { code?: unknown; message?: unknown; data?: unknown } }
  const data: unknown = error?.data ?? {}
  if (error === undefined || !isObject(data) || data.code !== undefined) return message
  const code = codesByNumber.get(Number(error.code))
  if (code === undefined) return message
  const causewayError = new CausewayError(code, flattenIssues(String(error.message)))
  return {
    ...message,
    error: {
      ...error,
      message: causewayError.message,
      data: limitData({ ...toErrorObject(causewayError), ...data }),
    },
  }
}

/** Returns event streams unchanged. */
export async function addErrorCodeToBody(response: Response): Promise<Response> {
  if (response.headers.get('content-type') !== 'application/json') return response
  const message = (await response.json()) as object
  return new Response(JSON.stringify(addErrorCode(message)), response)
}

/** Returns `path: message, …` instead of the SDK's multi-line JSON of issues. */
function flattenIssues(message: string): string {
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
    return message
  }
}
