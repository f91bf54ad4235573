/** Requests of MCP 2026-07-28 that are answered without the SDK; what it might refuse goes to it. */
import { CausewayError, headers, isId, modernVersion, type Request as RpcRequest } from '@causeway/protocol'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { isTaskMethod } from '../tasks/tasks.ts'

/** The request in the body, or undefined where the SDK must judge it. Throws `HEADER_MISMATCH` for a task of another name. */
export type ModernRequests = (request: FastifyRequest) => RpcRequest | undefined

/** Envelopes held, and characters of one that is worth it: a client sends the same with every message. */
const capacity = { envelopes: 256, characters: 2048 }

/** Reads requests; an envelope that `classify` has accepted it is not asked about again. */
export function modernRequests(classify = classifyInboundRequest): ModernRequests {
  const accepted = new Set<string>()

  const isAccepted = (method: string, mcpMethod: string, body: unknown): boolean => {
    const envelope = envelopeOf(body, mcpMethod)
    if (envelope !== undefined && accepted.has(envelope)) return true
    const outcome = classify({
      httpMethod: method,
      protocolVersionHeader: modernVersion,
      mcpMethodHeader: mcpMethod,
      body,
    })
    if (outcome.kind !== 'modern' || outcome.messageKind !== 'request') return false
    if (envelope !== undefined && envelope.length <= capacity.characters) {
      if (accepted.size === capacity.envelopes) accepted.clear()
      accepted.add(envelope)
    }
    return true
  }

  return ({ method, headers: given, body }) => {
    const { [headers.protocolVersion]: version, [headers.method]: mcpMethod, [headers.name]: name } = given
    if (version !== modernVersion || typeof mcpMethod !== 'string') return undefined
    if (!isAccepted(method, mcpMethod, body)) return undefined
    const request = body as RpcRequest // accepted as one
    if (!isTaskMethod(request.method)) return request.params?.name === name ? request : undefined
    // The SDK does not know these methods, so it is for us to compare.
    if (request.params?.taskId === name) return request
    throw new CausewayError('HEADER_MISMATCH', `the header ${headers.name} is not the taskId of the params`)
  }
}

const members: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params'])

/**
 * The `_meta` of a request as text, where nothing else of the message could make the SDK refuse it. `initialize` it judges by
 * more than that.
 */
function envelopeOf(body: unknown, mcpMethod: string): string | undefined {
  const { jsonrpc, id, method, params } = (body ?? {}) as Partial<RpcRequest>
  if (jsonrpc !== '2.0' || method !== mcpMethod || method === 'initialize' || !isId(id)) return undefined
  if (typeof id === 'number' && !Number.isSafeInteger(id)) return undefined
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return undefined
  for (const member in body as object) if (!members.has(member)) return undefined
  return typeof params._meta === 'object' ? textOf(params._meta) : undefined
}

/** Undefined where it is nested too deeply to be written: writing recurses where reading does not. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
