import { isObject, type JsonObject, modernVersion } from '@causeway/protocol'
import { membersOf } from './modern-shape.ts'

/** What a server of the stateless era says to `initialize`: no such method, version or header. */
const legacyRefusals = new Set([-32601, -32600, -32000, -32020, -32022])

/** What a legacy server says to a message that belongs to no session: no such method, session or version. */
const modernRefusals = new Set([-32601, -32600, -32000, -32001])

/** True for an answer to `initialize` that a server of the stateless era alone might give. */
export const refusesLegacy = (response: JsonObject): boolean => isRefusal(response, legacyRefusals)

/** True for an answer to a message of the stateless era that a legacy server might give. */
export function refusesModern(response: JsonObject): boolean {
  const { code, data } = errorOf(response)
  // Only servers of the stateless era have this number, but it may say that they speak no such version.
  if (code === -32022)
    return (
      Array.isArray(data.supported) && !data.supported.some((version) => String(version) >= modernVersion)
    )
  return isRefusal(response, modernRefusals)
}

function isRefusal(response: JsonObject, codes: ReadonlySet<unknown>): boolean {
  const { code, data } = errorOf(response)
  if (data.code === 'SERVER_ANSWER_INVALID') return refusingStatuses.has(membersOf(data, 'data').http_status)
  return data.retryable !== true && codes.has(code)
}

/** What a server of another era may answer without a message of the protocol; not 401 or 403, which say who may call. */
const refusingStatuses = new Set<unknown>([400, 404, 405, 406, 415, 422])

function errorOf({ error }: JsonObject): { code: unknown; data: JsonObject } {
  const { code, data } = isObject(error) ? error : {}
  return { code, data: isObject(data) ? data : {} }
}
