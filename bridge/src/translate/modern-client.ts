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
import { ifTooDeep, replaceDeep } from '../too-deep.ts'
import { discoverResult } from './handshake.ts'
import type { Translator } from './legacy-client.ts'
import { callerOf, membersOf, modernResult, withoutEnvelope } from './modern-shape.ts'
import {
  isOwnId,
  keyOf,
  lineOf,
  noticeLine,
  ownIds,
  requestLine,
  resultLine,
  unknownMethodLine,
} from './wire.ts'

/** A call as the server has it; the id of the client's request changes with each round of questions. */
interface Open {
  readonly request: Request
  /** The client's request that waits for the answer; undefined while the client is asked. */
  waiting: Id | undefined
  /** Names the call to the client while it is asked. */
  state: string | undefined
  /** What the server asks, not yet answered, the first of which the client is busy with. */
  readonly questions: Request[]
  /** The answer, where it came while the client was being asked. */
  answer: JsonObject | undefined
}

/** A subscription of the client: what it wants to hear. */
type Filter = JsonObject

/** Where the server may ask the client something in the stateless era. */
const interruptible = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** Calls whose client is being asked at one time. */
const maxInterrupted = 64

const questions = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list'])

/**
 * Lets a client of the stateless era talk to a server that wants `initialize` first; `initialized` is what the server
 * answered to that. A question of the server interrupts the oldest call that waits: which one it is about cannot be
 * seen, and any of them brings the reply back.
 */
export function modernClient({ toServer, toClient }: Ends, initialized: JsonObject): Translator {
  const open = new Map<string, Open>()
  const listeners = new Map<string, { id: Id; filter: Filter }>()
  const ownId = ownIds('modern')
  const stateId = ownIds('state')
  const capabilities = membersOf(initialized, 'capabilities')
  let logLevel: unknown

  const result = (method: string, value: JsonObject): JsonObject =>
    modernResult(method, value, initialized.serverInfo)
  const ask = (method: string, params: object): void => toServer(requestLine(ownId(), method, params))

  const begin = (request: Request): void => {
    const wanted = callerOf(request).logLevel
    if (typeof wanted === 'string' && wanted !== logLevel && 'logging' in capabilities) {
      logLevel = wanted
      ask('logging/setLevel', { level: wanted })
    }
    const call = { request, waiting: request.id, state: undefined, questions: [], answer: undefined }
    const line = lineOf(withoutEnvelope(request))
    open.set(keyOf(request.id), call)
    toServer(line)
  }

  /** The client has asked the person, the model or itself, and calls again with what they said. */
  const resume = (call: Open, request: Request): void => {
    const question = call.questions.shift()
    call.waiting = request.id
    call.state = undefined
    const reply = membersOf(request.params, 'inputResponses').reply
    if (question !== undefined)
      ifTooDeep(
        () => toServer(resultLine(question.id, reply ?? {})),
        () => decline(question),
      )
    if (call.answer !== undefined) finish(call, call.answer)
    else if (call.questions.length > 0) interrupt(call)
  }

  const decline = ({ id, method }: Request): void => toServer(unknownMethodLine(id, method))

  const interrupt = (call: Open): void => {
    const { waiting } = call
    const [question] = call.questions
    if (question === undefined || waiting === undefined) return
    ifTooDeep(
      () => put(question, call, waiting),
      () => {
        call.questions.shift()
        decline(question)
        interrupt(call)
      },
    )
  }

  /** Puts a question to the client, as the answer to the request that waits. */
  const put = ({ method, params }: Request, call: Open, waiting: Id): void => {
    const state = stateId()
    const asked = {
      inputRequests: { reply: { method, ...(params !== undefined && { params }) } },
      requestState: state,
    }
    const serverInfo = { [meta.serverInfo]: initialized.serverInfo }
    const line = resultLine(waiting, { ...asked, resultType: 'input_required', _meta: serverInfo })
    call.waiting = undefined
    call.state = state
    forgetAbandoned()
    toClient(line)
  }

  /** A client may ask the person and never call again: beyond some such calls the oldest is given up. */
  const forgetAbandoned = (): void => {
    const [oldest, ...others] = [...open.values()].filter(({ state }) => state !== undefined)
    if (oldest === undefined || others.length < maxInterrupted) return
    open.delete(keyOf(oldest.request.id))
    oldest.questions.forEach(decline)
    toServer(noticeLine('notifications/cancelled', { requestId: oldest.request.id }))
  }

  const finish = (call: Open, answer: JsonObject): void => {
    open.delete(keyOf(call.request.id))
    const { method } = call.request
    const value = isObject(answer.result) ? { ...answer, result: result(method, answer.result) } : answer
    const named = { ...value, id: call.waiting }
    ifTooDeep(
      () => toClient(lineOf(named)),
      () => replaceDeep(named, toClient),
    )
  }

  const listen = ({ id, params }: Request): void => {
    const filter = membersOf(params, 'notifications')
    const _meta = { [meta.subscriptionId]: id }
    const line = noticeLine('notifications/subscriptions/acknowledged', { notifications: filter, _meta })
    listeners.set(keyOf(id), { id, filter })
    for (const uri of urisOf(filter)) ask('resources/subscribe', { uri })
    toClient(line)
  }

  const cancel = (message: Notification): void => {
    const key = keyOf(message.params?.requestId)
    const listener = listeners.get(key)
    if (listener !== undefined) {
      listeners.delete(key)
      const left = new Set([...listeners.values()].flatMap(({ filter }) => urisOf(filter)))
      for (const uri of urisOf(listener.filter)) if (!left.has(uri)) ask('resources/unsubscribe', { uri })
      return
    }
    const call = [...open.values()].find(({ waiting }) => waiting !== undefined && keyOf(waiting) === key)
    if (call === undefined) return
    open.delete(keyOf(call.request.id))
    toServer(noticeLine('notifications/cancelled', { ...message.params, requestId: call.request.id }))
  }

  const question = (request: Request): void => {
    const calls = [...open.values()].filter(({ request: { method } }) => interruptible.has(method))
    // One whose client is being asked already may never be taken up again.
    const call = calls.find(({ waiting }) => waiting !== undefined) ?? calls[0]
    if (request.method === 'ping') toServer(resultLine(request.id, {}))
    else if (call === undefined || !questions.has(request.method)) decline(request)
    else {
      call.questions.push(request)
      if (call.questions.length === 1) interrupt(call)
    }
  }

  /** The server takes a question back. One that the client is busy with stays: its answer goes on with the call. */
  const withdraw = (id: unknown): void => {
    for (const { questions, state } of open.values()) {
      const at = questions.findIndex((one) => one.id === id)
      const isWithClient = at === 0 && state !== undefined
      if (at >= 0 && !isWithClient) questions.splice(at, 1)
    }
  }

  const passNotice = (notice: Notification): void => {
    const wanted = wantedBy(notice)
    // In the stateless era a server says this of subscriptions alone.
    if (notice.method === 'notifications/cancelled') withdraw(notice.params?.requestId)
    else if (wanted === undefined) toClient(lineOf(notice))
    else
      for (const { id, filter } of listeners.values()) {
        const _meta = { ...membersOf(notice.params, '_meta'), [meta.subscriptionId]: id }
        if (wanted(filter)) toClient(noticeLine(notice.method, { ...notice.params, _meta }))
      }
  }

  const answer = (response: JsonObject): boolean => {
    const call = open.get(keyOf(response.id))
    if (call === undefined) return isOwnId(response.id)
    if (call.waiting === undefined) call.answer = response
    else finish(call, response)
    return true
  }

  return {
    fromClient(message) {
      const kind = kindOf(message)
      if (kind === 'notification') {
        const notice = withoutEnvelope(message as Notification)
        if (notice.method === 'notifications/cancelled') cancel(notice)
        else toServer(lineOf(notice))
      } else if (kind === 'request') {
        const request = message as Request
        const state = request.params?.requestState
        const interrupted = [...open.values()].find(
          (call) => call.state !== undefined && call.state === state,
        )
        if (request.method === 'server/discover')
          toClient(resultLine(request.id, result(request.method, discoverResult(initialized))))
        else if (request.method === 'subscriptions/listen') listen(request)
        else if (interrupted !== undefined) resume(interrupted, request)
        else begin(request)
      }
    },
    fromServer(message) {
      const kind = kindOf(message)
      if (kind === 'response') return answer(message as JsonObject)
      if (kind === 'request') question(message as Request)
      else if (kind === 'notification') passNotice(message as Notification)
      return kind !== 'invalid'
    },
  }
}

const urisOf = (filter: Filter): string[] =>
  Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions.map(String) : []

/** Which subscriptions a notification belongs to; undefined for one that belongs to a call. */
function wantedBy({ method, params }: Notification): ((filter: Filter) => boolean) | undefined {
  const list = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1]
  if (list !== undefined) return (filter) => filter[`${list}ListChanged`] === true
  if (method === 'notifications/resources/updated')
    return (filter) => urisOf(filter).includes(String(params?.uri))
  return undefined
}
