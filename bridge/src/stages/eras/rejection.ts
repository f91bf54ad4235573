import { asObject, type JsonObject, modernVersion } from '@causeway/protocol'
import { getMembers } from './message-shape.ts'

/** Codes for an unknown method, an unsupported version and a header that does not match. */
const legacyRejections = new Set<unknown>([-32601, -32600, -32000, -32020, -32022])

/** Codes for an unknown method, session or version. */
const modernRejections = new Set<unknown>([-32601, -32600, -32000, -32001])

const permanentRejections = new Set<unknown>([-32600, -32601, -32602, -32020, -32021, -32022])

/** Excludes 401 and 403, which concern access. */
const rejectingStatuses = new Set<unknown>([400, 404, 405, 406, 415, 422])

/** Whether a stateless server may answer `initialize` with this response. */
export const mayRejectLegacy = (response: JsonObject): boolean => isRejection(response, legacyRejections)

/** Whether a legacy server may answer a stateless message with this response. */
export function mayRejectModern(response: JsonObject): boolean {
  const { code, data } = asObject(response.error)
  // Only stateless servers send this code.
  if (code === -32022) {
    const { supported } = asObject(data)
    return Array.isArray(supported) && !supported.some((version) => String(version) >= modernVersion)
  }
  return isRejection(response, modernRejections)
}

/** Whether the same request will be rejected again. */
export const isPermanent = (response: JsonObject): boolean =>
  isRejection(response, permanentRejections, (status) => status >= 400 && status < 500)

function isRejection(
  { error }: JsonObject,
  codes: ReadonlySet<unknown>,
  isRejecting = (status: number): boolean => rejectingStatuses.has(status),
): boolean {
  const { code, data } = asObject(error)
  const details = asObject(data)
  if (details.code === 'SERVER_ANSWER_INVALID')
    return isRejecting(Number(getMembers(details, 'data').http_status))
  return details.retryable !== true && codes.has(code)
}
