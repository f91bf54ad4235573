import {
  type Id,
  isObject,
  type JsonObject,
  kindOf,
  meta,
  type Notification,
  type Request,
} from '@causeway/protocol'
import type { Ends } from '../stage.ts'
import { ifTooDeep, refuseDeep, replaceDeep } from '../too-deep.ts'
import { initializeResult } from './handshake.ts'
import { type Caller, legacyResult, membersOf, modernRequest, withMeta, without } from './modern-shape.ts'
import { isOwnId, keyOf, lineOf, noticeLine, ownIds, requestLine, resultLine } from './wire.ts'

/** One direction each for the messages of a pair of peers that speak different eras. */
export interface Translator {
  fromClient(message: unknown): void
  /** False for a message that is none of this translator's business. */
  fromServer(message: unknown): boolean
}

/** A call that waits for its answer, or for what the client says to the server's questions. */
interface Open {
  readonly request: Request
  /** What the server asks, by its own keys, until all is answered. */
  asked: Map<string, Id>
  readonly replies: Record<string, unknown>
  requestState: unknown
}

const listChanged: Readonly<Record<string, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
}

/**
 * Lets a client that opened with `initialize` talk to a server that knows the stateless era alone. `discovered` is what
 * the server says of itself. The pause before a lost subscription is opened again is `retryMs`.
 */
export function legacyClient(
  { toServer, toClient }: Ends,
  { initialize, discovered, retryMs }: { initialize: Request; discovered: JsonObject; retryMs: number },
): Translator {
  const caller: Caller = {
    clientInfo: initialize.params?.clientInfo,
    clientCapabilities: initialize.params?.capabilities ?? {},
  }
  const lists = Object.entries(listChanged).filter(
    ([list]) => membersOf(discovered.capabilities, list).listChanged === true,
  )
  const open = new Map<string, Open>()
  const asks = new Map<string, { of: Open; key: string }>()
  const watched = new Set<string>()
  const askId = ownIds('ask')
  const listenId = ownIds('listen')
  let logLevel: string | undefined
  let listening: string | undefined
  /** The lists may have changed while nobody listened. */
  let isBehind = false

  const welcome = (request: Request): void =>
    toClient(resultLine(request.id, initializeResult(discovered, request.params?.protocolVersion)))
  const send = (request: Request): void =>
    ifTooDeep(
      () => toServer(lineOf(modernRequest(request, caller, logLevel))),
      () => {
        open.delete(keyOf(request.id))
        refuseDeep(request, toClient)
      },
    )
  const begin = (request: Request): void => {
    open.set(keyOf(request.id), { request, asked: new Map(), replies: {}, requestState: undefined })
    send(request)
  }

  /** Listens for what the client would hear unasked; an earlier subscription is given up. */
  const listen = (): void => {
    const before = listening
    listening = listenId()
    const notifications = {
      ...Object.fromEntries(lists.map(([, filter]) => [filter, true])),
      ...(watched.size > 0 && { resourceSubscriptions: [...watched] }),
    }
    if (Object.keys(notifications).length === 0) listening = undefined
    else send({ jsonrpc: '2.0', id: listening, method: 'subscriptions/listen', params: { notifications } })
    if (before !== undefined) toServer(noticeLine('notifications/cancelled', { requestId: before }))
  }

  const requests: Readonly<Record<string, (request: Request) => void>> = {
    initialize: welcome,
    ping: ({ id }) => toClient(resultLine(id, {})),
    'logging/setLevel': ({ id, params }) => {
      logLevel = String(params?.level)
      toClient(resultLine(id, {}))
    },
    'resources/subscribe': ({ id, params }) => {
      watched.add(String(params?.uri))
      listen()
      toClient(resultLine(id, {}))
    },
    'resources/unsubscribe': ({ id, params }) => {
      watched.delete(String(params?.uri))
      listen()
      toClient(resultLine(id, {}))
    },
  }

  const notice = ({ method, params }: Notification): void => {
    if (method === 'notifications/initialized') listen()
    else if (method === 'notifications/cancelled') cancel(params?.requestId)
    // The stateless era has no other notification of a client.
  }

  /** Forgets a call, and takes back what the client was asked for it. */
  const giveUp = ({ request, asked }: Open): void => {
    open.delete(keyOf(request.id))
    for (const id of asked.values())
      if (asks.delete(keyOf(id))) toClient(noticeLine('notifications/cancelled', { requestId: id }))
  }

  const cancel = (id: unknown): void => {
    const call = open.get(keyOf(id))
    if (call === undefined) return
    giveUp(call)
    toServer(noticeLine('notifications/cancelled', { requestId: id }))
  }

  /** The server cannot go on without these: each becomes a request of its own. */
  const ask = (call: Open, result: JsonObject): void => {
    call.requestState = result.requestState
    call.asked = new Map(Object.keys(membersOf(result, 'inputRequests')).map((key) => [key, askId()]))
    for (const [key, id] of call.asked) {
      const { method, params } = membersOf(result.inputRequests, key)
      const line = requestLine(id, String(method), isObject(params) ? params : {})
      asks.set(keyOf(id), { of: call, key })
      toClient(line)
    }
    if (call.asked.size === 0) goOn(call)
  }

  const goOn = (call: Open): void => {
    const { request, replies, requestState } = call
    const params = {
      ...request.params,
      inputResponses: { ...replies },
      ...(requestState !== undefined && { requestState }),
    }
    // Only the replies of the last round are sent.
    for (const key of Object.keys(replies)) delete replies[key]
    send({ ...request, params })
  }

  const reply = (response: JsonObject): void => {
    const found = asks.get(keyOf(response.id))
    if (found === undefined) return
    const { of: call, key } = found
    asks.delete(keyOf(response.id))
    call.asked.delete(key)
    if ('error' in response) {
      // The server has no way to hear of it; the caller has.
      for (const id of call.asked.values()) asks.delete(keyOf(id))
      open.delete(keyOf(call.request.id))
      toClient(lineOf({ jsonrpc: '2.0', id: call.request.id, error: response.error }))
    } else {
      call.replies[key] = response.result
      if (call.asked.size === 0) goOn(call)
    }
  }

  const answer = (response: JsonObject): boolean => {
    if (response.id === listening) return relisten(response)
    const call = open.get(keyOf(response.id))
    if (call === undefined) return isOwnId(response.id)
    const result = response.result
    if (isObject(result) && result.resultType === 'input_required')
      ifTooDeep(
        () => ask(call, result),
        () => {
          giveUp(call)
          replaceDeep(response, toClient)
        },
      )
    else {
      open.delete(keyOf(response.id))
      const plain = isObject(result)
        ? { ...response, result: legacyResult(call.request.method, result) }
        : response
      toClient(lineOf(plain))
    }
    return true
  }

  /** The subscription has ended. */
  const relisten = ({ error }: JsonObject): true => {
    const ended = listening
    isBehind = true
    if ((error as { code?: unknown } | undefined)?.code === -32601) listening = undefined
    else setTimeout(() => ended === listening && listen(), retryMs).unref()
    return true
  }

  const passNotice = (notice: Notification): void => {
    if (notice.method === 'notifications/subscriptions/acknowledged') {
      for (const [list] of isBehind ? lists : []) toClient(noticeLine(`notifications/${list}/list_changed`))
      isBehind = false
      return
    }
    const own = without(membersOf(notice.params, '_meta'), [meta.subscriptionId])
    toClient(noticeLine(notice.method, withMeta(without(notice.params ?? {}, ['_meta']), own)))
  }

  welcome(initialize)
  return {
    fromClient(message) {
      const kind = kindOf(message)
      if (kind === 'request') (requests[(message as Request).method] ?? begin)(message as Request)
      else if (kind === 'notification') notice(message as Notification)
      else if (kind === 'response') reply(message as JsonObject)
    },
    fromServer(message) {
      const kind = kindOf(message)
      if (kind === 'response') return answer(message as JsonObject)
      if (kind === 'notification') passNotice(message as Notification)
      return kind === 'notification'
    },
  }
}
