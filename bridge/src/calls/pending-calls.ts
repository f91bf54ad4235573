import type { IncomingHttpHeaders } from 'node:http'
import type { Id } from '@causeway/protocol'
import type { ServerEvent } from '../http/sse.ts'
import type { Exchange } from '../http/upstream.ts'
import { Deferred } from '../lifecycle/deferred.ts'
import type { ClientMessage } from '../stdio/message.ts'
import { Stats } from './stats.ts'

export interface Answer {
  readonly json: Buffer
  readonly hasResult: boolean
}

/** An unanswered request, or a batch that contains requests. */
export interface Call {
  readonly bytes: Buffer
  /** The request, or the first request of a batch. */
  readonly message: ClientMessage
  readonly messages: readonly ClientMessage[]
  /** Unanswered ids: 1 and "1" are different. */
  readonly pendingIds: Set<Id>
  readonly startedAt: number
  /** Resolves when every id is answered. */
  readonly settled: Promise<void>
  exchange: Exchange | undefined
  headers: IncomingHttpHeaders
  /** Called for each successful result before its delivery. */
  onResult: ((call: Call, request: ClientMessage, parseResult: () => unknown) => void) | undefined
  /** Returns `true` for an event that must not be delivered. */
  intercept: ((event: ServerEvent) => boolean) | undefined
  canStartServer: boolean
}

interface Entry extends Call {
  index: number
  readonly settle: () => void
}

/**
 * Stores calls in an array: a `Map` is rehashed every few calls, and V8 retains the old table until the next major
 * garbage collection.
 */
export class PendingCalls {
  readonly #calls: (Entry | undefined)[] = []
  readonly #stats: Stats
  #size = 0

  constructor(stats = new Stats(() => performance.now())) {
    this.#stats = stats
  }

  get size(): number {
    return this.#size
  }

  [Symbol.iterator](): Iterator<Call> {
    return (this.#calls.slice(0, this.#size) as Entry[]).values()
  }

  /** The first message must be a request. */
  open(bytes: Buffer, messages: readonly [ClientMessage, ...ClientMessage[]]): Call {
    const pendingIds = new Set<Id>()
    for (const { kind, id } of messages) if (kind === 'request' && id !== null) pendingIds.add(id)
    const { promise: settled, resolve: settle } = new Deferred()
    const call: Entry = {
      bytes,
      message: messages[0],
      messages,
      pendingIds,
      startedAt: this.#stats.countCalls(pendingIds),
      settled,
      exchange: undefined,
      headers: {},
      onResult: undefined,
      intercept: undefined,
      canStartServer: true,
      index: this.#size,
      settle,
    }
    this.#calls[this.#size] = call
    this.#size += 1
    return call
  }

  find(id: Id): Call | undefined {
    return this.#calls.find((call) => call?.pendingIds.has(id))
  }

  listIds(): Id[] {
    return [...this].flatMap(({ pendingIds }) => [...pendingIds])
  }

  settle(call: Call, id: Id): boolean {
    if (!call.pendingIds.delete(id)) return false
    this.#removeAnswered(call)
    return true
  }

  answer(call: Call, id: Id, response: Answer): boolean {
    if (!this.settle(call, id)) return false
    this.#stats.countResponse(id, response, call.startedAt)
    return true
  }

  settleAll(call: Call): void {
    call.pendingIds.clear()
    this.#removeAnswered(call)
  }

  #removeAnswered(call: Call): void {
    const entry = this.#calls[(call as Entry).index]
    if (call.pendingIds.size > 0 || entry !== call) return
    entry.settle()
    this.#size -= 1
    // The array is not shortened, because growing it again would copy it.
    const lastCall = this.#calls[this.#size] as Entry
    lastCall.index = entry.index
    this.#calls[entry.index] = lastCall
    this.#calls[this.#size] = undefined
  }
}

export function findRequest({ message, messages }: Call, id: Id): ClientMessage {
  return messages.find((candidate) => candidate.kind === 'request' && candidate.id === id) ?? message
}
