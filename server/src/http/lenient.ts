/**
 * Answers scripts: plain JSON-RPC over HTTP without handshake, session or `Accept`, as the original curls send it.
 *
 * Nothing streams here, so there is no progress; hanging up cancels.
 */
import {
  type CallToolResult,
  CausewayError,
  type ClientInfo,
  type ErrorObject,
  errorMetaKey,
  type Id,
  idOf,
  kindOf,
  type Request,
  type Response,
  success,
} from '@causeway/protocol'
import { callerOf, type Exchange } from './exchange.ts'
import { rpcFailure, tellable } from './failure.ts'
import { initializeParams, initializeResult } from './handshake.ts'
import { asksFirstPage, textOf } from './tool-list.ts'
import type { Wiring } from './wiring.ts'

/** An HTTP answer; without a body where there was nothing to answer. */
export interface LenientAnswer {
  readonly status: number
  readonly json?: string | Buffer
}

/** Where a body came from. */
export interface Origin {
  readonly wiring: Wiring
  readonly exchange: Exchange
  /** True where failures are told under the numbers of the original designs. */
  readonly tellsNumbers: boolean
  /** The session that it came in, where it came in one but asked for no stream. */
  readonly session?: { readonly id: string; readonly client: ClientInfo } | undefined
}

/** Answers one message or an array of them. Throws `INVALID_REQUEST` where there is nothing to answer by. */
export async function answerLeniently(body: unknown, origin: Origin): Promise<LenientAnswer> {
  if (!Array.isArray(body)) {
    if (kindOf(body) === 'invalid') throw notAMessage()
    const json = await answer(body, origin)
    return json === undefined ? { status: 202 } : { status: 200, json }
  }
  if (body.length === 0) throw new CausewayError('INVALID_REQUEST', 'the array holds no message')
  const answers = await Promise.all(body.map((message) => answer(message, origin)))
  const given = answers.filter((json) => json !== undefined)
  return given.length === 0 ? { status: 202 } : { status: 200, json: `[${given.join(',')}]` }
}

async function answer(message: unknown, origin: Origin): Promise<string | Buffer | undefined> {
  const kind = kindOf(message)
  if (kind === 'invalid') return JSON.stringify(rpcFailure(idOf(message), notAMessage(), 'legacy'))
  if (kind !== 'request') return undefined
  const request = message as Request // kindOf has checked it
  try {
    return await resultOf(request, origin)
  } catch (error) {
    const { wiring, exchange } = origin
    return JSON.stringify(rpcFailure(request.id, tellable(error, wiring.log, exchange.requestId), 'legacy'))
  }
}

async function resultOf(
  { id, method, params = {} }: Request,
  { wiring, exchange, tellsNumbers, session }: Origin,
): Promise<string | Buffer> {
  const { core, toolLists } = wiring
  const { mount } = exchange
  if (method === 'initialize')
    return JSON.stringify(success(id, initializeResult(initializeParams(params), core.describe(mount))))
  if (asksFirstPage({ method, params })) return textOf(toolLists.answer({ mount, era: 'legacy', id }))
  const caller = callerOf(exchange, {
    era: 'legacy',
    channel: session === undefined ? 'mcp' : 'session',
    rpcId: id,
    client: session?.client,
    sessionId: session?.id,
  })
  const result = await core.dispatch(method, params, caller)
  if (tellsNumbers) {
    const failure = legacyFailure(id, result)
    if (failure !== undefined) return JSON.stringify(failure)
  }
  return JSON.stringify(success(id, result))
}

/** A failed call in the form of the original plot server, where its design has a number for the cause. */
function legacyFailure(id: Id, result: unknown): Response | undefined {
  const { isError, _meta } = (result ?? {}) as Partial<CallToolResult>
  const error = isError === true ? (_meta?.[errorMetaKey] as ErrorObject | undefined) : undefined
  if (error === undefined || error.legacy_code === null) return undefined
  const { code, message, remedy, data, legacy_code, retryable } = error
  return {
    jsonrpc: '2.0',
    id,
    error: { code: legacy_code, message, data: { ...data, code, remedy, retryable } },
  }
}

const notAMessage = (): CausewayError =>
  new CausewayError('INVALID_REQUEST', 'the body is not a JSON-RPC 2.0 message')
