import {
  type CallToolResult,
  CausewayError,
  classifyMessage,
  createSuccess,
  type ErrorObject,
  errorMetaKey,
  type Id,
  type Request,
  type Response,
  readId,
} from '@causeway/protocol'
import { toClientError, toErrorResponse } from '../error-responses.ts'
import { type Exchange, isAliasRequest } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { completeInitialize, createInitializeResult } from './initialize.ts'
import { encodeResult, jsonType } from './responses.ts'
import type { Session } from './session.ts'
import type { SessionTransport } from './session-transport.ts'
import type { Transport } from './transport.ts'

/** JSON without handshake and streams, for scripts and for sessions that do not accept streams. */
export class JsonTransport implements Transport {
  readonly #services: HttpServices
  readonly #sessions: SessionTransport

  constructor(services: HttpServices, sessions: SessionTransport) {
    this.#services = services
    this.#sessions = sessions
  }

  async handle(exchange: Exchange): Promise<void> {
    const { request, reply } = exchange
    const session = await this.#sessions.find(exchange)
    if (this.#services.toolLists.respond(exchange, 'legacy')) return
    const json = await this.#encodeResponse(request.body, exchange, session)
    if (json === undefined) await reply.code(202).type('application/json').send()
    else await reply.type(jsonType).send(json)
  }

  /** Returns `undefined` if there is no request, and throws `INVALID_REQUEST` if there is no message. */
  async #encodeResponse(
    body: unknown,
    exchange: Exchange,
    session: Session | undefined,
  ): Promise<string | Buffer | undefined> {
    if (!Array.isArray(body)) {
      if (classifyMessage(body) === 'invalid') throw createInvalidMessageError()
      return this.#respond(body, exchange, session)
    }
    if (body.length === 0) throw new CausewayError('INVALID_REQUEST', 'the array holds no message')
    const responses = await Promise.all(body.map((message) => this.#respond(message, exchange, session)))
    const presentResponses = responses.filter((json) => json !== undefined)
    return presentResponses.length === 0 ? undefined : `[${presentResponses.join(',')}]`
  }

  async #respond(
    message: unknown,
    exchange: Exchange,
    session: Session | undefined,
  ): Promise<string | Buffer | undefined> {
    const kind = classifyMessage(message)
    if (kind === 'invalid')
      return JSON.stringify(toErrorResponse(readId(message), createInvalidMessageError(), 'legacy'))
    if (kind !== 'request') return undefined
    const request = message as Request
    try {
      return await this.#run(request, exchange, session)
    } catch (error) {
      const causewayError = toClientError(error, this.#services.log, exchange.requestId)
      return JSON.stringify(toErrorResponse(request.id, causewayError, 'legacy'))
    }
  }

  async #run(
    { id, method, params = {} }: Request,
    exchange: Exchange,
    session: Session | undefined,
  ): Promise<string | Buffer> {
    const { core, toolLists, legacyErrors } = this.#services
    const { mount } = exchange
    if (method === 'initialize')
      return JSON.stringify(
        createSuccess(
          id,
          createInitializeResult(completeInitialize(params), core.registry.getLists(mount).description),
        ),
      )
    if (method === 'tools/list' && params.cursor === undefined)
      return toolLists.toText({ mount, era: 'legacy', id })
    const caller = exchange.createCaller({
      era: 'legacy',
      channel: session === undefined ? 'mcp' : 'session',
      rpcId: id,
      client: session?.initialize.clientInfo,
      sessionId: session?.id,
    })
    const result = (await core.dispatch(method, params, caller)) as object
    const error = legacyErrors && isAliasRequest(exchange.request) ? toNumberedError(id, result) : undefined
    return error === undefined ? encodeResult(id, result) : JSON.stringify(error)
  }
}

/** Returns a JSON-RPC error if the app's original design has a number for it. */
function toNumberedError(id: Id, { isError, _meta }: Partial<CallToolResult>): Response | undefined {
  const error = isError === true ? (_meta?.[errorMetaKey] as ErrorObject | undefined) : undefined
  if (error === undefined || error.legacy_code === null) return undefined
  const { code, message, remedy, data, legacy_code, retryable } = error
  return {
    jsonrpc: '2.0',
    id,
    error: { code: legacy_code, message, data: { ...data, code, remedy, retryable } },
  }
}

export const createInvalidMessageError = (): CausewayError =>
  new CausewayError('INVALID_REQUEST', 'the body is not a JSON-RPC 2.0 message')
