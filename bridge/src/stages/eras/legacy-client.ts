import {
  asObject,
  CausewayError,
  classifyMessage,
  type Id,
  isObject,
  type JsonObject,
  meta,
  type Notification,
  type Request,
} from '@causeway/protocol'
import { errorLine } from '../../calls/answer.ts'
import {
  createIds,
  findChangeableLists,
  isOwnId,
  listChangedLine,
  notificationLine,
  requestLine,
  resultLine,
  toLine,
} from '../../stdio/message.ts'
import type { Ends } from '../stage.ts'
import { ListenRequests, maxWatchedUris } from './listen-requests.ts'
import {
  type Caller,
  getMembers,
  readInitializeCaller,
  type Translator,
  toInitializeResult,
  toLegacyResult,
  toModernRequest,
  withMeta,
  without,
} from './message-shape.ts'
import { isPermanent } from './rejection.ts'

interface PendingCall {
  readonly request: Request
  inputIds: ReadonlyMap<string, Id>
  replies: JsonObject
  requestState: unknown
}

interface Options {
  readonly initialize: Request
  readonly discovered: JsonObject
  readonly retryMs: number
  readonly warn: (text: string) => void
}

/** Connects a client that sent `initialize` to a stateless server. */
export class LegacyClientTranslator implements Translator {
  readonly #ends: Ends
  readonly #options: Options
  readonly #caller: Caller
  readonly #lists: readonly string[]
  readonly #listens: ListenRequests
  readonly #calls = new Map<unknown, PendingCall>()
  readonly #inputs = new Map<unknown, { readonly call: PendingCall; readonly key: string }>()
  readonly #newInputId = createIds('ask')
  #logLevel: string | undefined
  #hasWarned = false

  constructor(ends: Ends, options: Options) {
    const { initialize, discovered } = options
    this.#ends = ends
    this.#options = options
    this.#caller = readInitializeCaller(initialize)
    this.#lists = findChangeableLists(discovered)
    this.#listens = new ListenRequests(this.#lists, {
      listen: (id, notifications) =>
        this.#send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications } }),
      cancel: (id) => this.#cancel(id),
    })
    this.#handleRequest(initialize)
  }

  fromClient(message: unknown): void {
    const kind = classifyMessage(message)
    if (kind === 'request') this.#handleRequest(message as Request)
    else if (kind === 'notification') this.#handleNotification(message as Notification)
    else if (kind === 'response') this.#handleInput(message as JsonObject)
  }

  fromServer(message: unknown): boolean {
    const kind = classifyMessage(message)
    if (kind === 'response') return this.#handleResponse(message as JsonObject)
    if (kind === 'notification') this.#forwardNotification(message as Notification)
    return kind === 'notification'
  }

  #handleRequest(request: Request): void {
    const { id, method, params } = request
    if (method === 'initialize')
      this.#reply(id, toInitializeResult(this.#options.discovered, params?.protocolVersion))
    else if (method === 'ping') this.#reply(id, {})
    else if (method === 'logging/setLevel') {
      this.#logLevel = String(params?.level)
      this.#reply(id, {})
    } else if (method === 'resources/subscribe') {
      if (this.#listens.watch(String(params?.uri))) this.#reply(id, {})
      else this.#ends.toClient(errorLine(id, tooManyUris()))
    } else if (method === 'resources/unsubscribe') {
      this.#listens.unwatch(String(params?.uri))
      this.#reply(id, {})
    } else {
      this.#calls.set(id, { request, inputIds: new Map(), replies: {}, requestState: undefined })
      this.#send(request)
    }
  }

  /** Drops other notifications, which stateless servers do not accept. */
  #handleNotification({ method, params }: Notification): void {
    if (method === 'notifications/initialized') this.#listens.open()
    else if (method === 'notifications/cancelled') {
      const call = this.#calls.get(params?.requestId)
      if (call === undefined) return
      this.#abandon(call)
      this.#cancel(params?.requestId)
    }
  }

  #reply(id: Id, result: object): void {
    this.#ends.toClient(resultLine(id, result))
  }

  #send(request: Request): void {
    this.#ends.toServer(toLine(toModernRequest(request, this.#caller, this.#logLevel)))
  }

  #cancel(requestId: unknown): void {
    this.#ends.toServer(notificationLine('notifications/cancelled', { requestId }))
  }

  #abandon({ request, inputIds }: PendingCall): void {
    this.#calls.delete(request.id)
    for (const id of inputIds.values())
      if (this.#inputs.delete(id))
        this.#ends.toClient(notificationLine('notifications/cancelled', { requestId: id }))
  }

  #warnRejected({ error }: JsonObject): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#options.warn(
      `the server rejects subscriptions, so changes are not reported: ${asObject(error).message}`,
    )
  }

  #handleResponse(response: JsonObject): boolean {
    const isRejected = isPermanent(response)
    const renew = this.#listens.end(response.id, { isRejected })
    if (renew !== undefined) {
      if (isRejected) this.#warnRejected(response)
      else setTimeout(renew, this.#options.retryMs).unref()
      return true
    }
    const call = this.#calls.get(response.id)
    if (call === undefined) return isOwnId(response.id)
    const { result } = response
    if (isObject(result) && result.resultType === 'input_required') this.#requestInput(call, result)
    else {
      this.#calls.delete(response.id)
      const { method } = call.request
      const legacy = isObject(result) ? { ...response, result: toLegacyResult(method, result) } : response
      this.#ends.toClient(toLine(legacy))
    }
    return true
  }

  #requestInput(call: PendingCall, result: JsonObject): void {
    const inputRequests = getMembers(result, 'inputRequests')
    const inputIds = new Map(Object.keys(inputRequests).map((key) => [key, this.#newInputId()]))
    call.requestState = result.requestState
    call.inputIds = inputIds
    for (const [key, id] of inputIds) {
      const { method, params } = getMembers(inputRequests, key)
      const line = requestLine(id, String(method), asObject(params))
      this.#inputs.set(id, { call, key })
      this.#ends.toClient(line)
    }
    if (inputIds.size === 0) this.#continue(call)
  }

  #handleInput(response: JsonObject): void {
    const input = this.#inputs.get(response.id)
    if (input === undefined) return
    this.#inputs.delete(response.id)
    const { call, key } = input
    const ids = [...call.inputIds.values()]
    if ('error' in response) {
      // The stateless protocol cannot report a failed input request to the server.
      for (const id of ids) this.#inputs.delete(id)
      this.#calls.delete(call.request.id)
      this.#ends.toClient(toLine({ jsonrpc: '2.0', id: call.request.id, error: response.error }))
    } else {
      call.replies = { ...call.replies, [key]: response.result }
      if (!ids.some((id) => this.#inputs.has(id))) this.#continue(call)
    }
  }

  #continue(call: PendingCall): void {
    const { request, replies: inputResponses, requestState } = call
    call.replies = {}
    const params = {
      ...request.params,
      inputResponses,
      ...(requestState !== undefined && { requestState }),
    }
    this.#send({ ...request, params })
  }

  #forwardNotification({ method, params }: Notification): void {
    if (method === 'notifications/subscriptions/acknowledged') {
      const changed = this.#listens.acknowledge(params) ? this.#lists : []
      for (const list of changed) this.#ends.toClient(listChangedLine(list))
    } else {
      const _meta = without(getMembers(params, '_meta'), [meta.subscriptionId])
      this.#ends.toClient(notificationLine(method, withMeta(without(params ?? {}, ['_meta']), _meta)))
    }
  }
}

const tooManyUris = (): CausewayError =>
  new CausewayError('INVALID_PARAMS', `a client can subscribe to at most ${maxWatchedUris} resources`, {
    remedy: 'unsubscribe from resources that are no longer needed',
    data: { limit_count: maxWatchedUris },
  })
