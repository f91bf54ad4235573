import { CausewayError, headers, isId, modernVersion, type Request } from '@causeway/protocol'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { isTaskMethod } from '../../tasks/client-task.ts'

/** A client sends the same envelope (`_meta`) with every message. */
const maxEnvelopes = 256
const maxEnvelopeLength = 2048

/** Reads MCP 2026-07-28 requests that the SDK would accept. Validates each envelope once. */
export class StatelessRequests {
  readonly #classify: typeof classifyInboundRequest
  readonly #acceptedEnvelopes = new Set<string>()

  constructor(classify = classifyInboundRequest) {
    this.#classify = classify
  }

  /**
   * Returns `undefined` if the SDK must decide. Throws `HEADER_MISMATCH` if `Mcp-Name` is not the task id.
   */
  read({
    method,
    headers: requestHeaders,
    body,
  }: Pick<FastifyRequest, 'method' | 'headers' | 'body'>): Request | undefined {
    const {
      [headers.protocolVersion]: version,
      [headers.method]: mcpMethod,
      [headers.name]: name,
    } = requestHeaders
    if (version !== modernVersion || typeof mcpMethod !== 'string') return undefined
    if (!this.#isAccepted(method, mcpMethod, body)) return undefined
    const request = body as Request
    if (!isTaskMethod(request.method)) return request.params?.name === name ? request : undefined
    // The SDK does not implement task methods.
    if (request.params?.taskId === name) return request
    throw new CausewayError('HEADER_MISMATCH', `the header ${headers.name} is not the taskId of the params`)
  }

  #isAccepted(httpMethod: string, mcpMethod: string, body: unknown): boolean {
    const envelope = serializeEnvelope(body, mcpMethod)
    if (envelope !== undefined && this.#acceptedEnvelopes.has(envelope)) return true
    const outcome = this.#classify({
      httpMethod,
      protocolVersionHeader: modernVersion,
      mcpMethodHeader: mcpMethod,
      body,
    })
    if (outcome.kind !== 'modern' || outcome.messageKind !== 'request') return false
    if (envelope !== undefined && envelope.length <= maxEnvelopeLength) {
      if (this.#acceptedEnvelopes.size === maxEnvelopes) this.#acceptedEnvelopes.clear()
      this.#acceptedEnvelopes.add(envelope)
    }
    return true
  }
}

const requestMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params'])

/** Returns the `_meta` as JSON if the SDK would accept the rest of the message. */
function serializeEnvelope(body: unknown, mcpMethod: string): string | undefined {
  const { jsonrpc, id, method, params } = (body ?? {}) as Partial<Request>
  if (jsonrpc !== '2.0' || method !== mcpMethod || method === 'initialize' || !isId(id)) return undefined
  if (typeof id === 'number' && !Number.isSafeInteger(id)) return undefined
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return undefined
  for (const member in body as object) if (!requestMembers.has(member)) return undefined
  if (typeof params._meta !== 'object') return undefined
  try {
    return JSON.stringify(params._meta)
  } catch {
    // Parsed JSON can be too deeply nested to serialize.
    return undefined
  }
}
