import type { Id } from '@causeway/protocol'
import type { Incoming } from './message.ts'

/** A request, or a batch with requests, that wants answers. */
export interface Call {
  readonly bytes: Buffer
  /** The message whose headers and method stand for the call; the first of a batch. */
  readonly message: Incoming
  /** Ids that have no answer yet, by their JSON text: 1 and "1" are two. */
  readonly open: Map<string, Id>
  /** Resolves when nothing is left open. */
  readonly settled: Promise<void>
  /** Resolves once the request is written, or never will be. */
  sent: Promise<void>
  /** Stops the exchange. Absent as long as nothing was sent. */
  abort?: () => void
}

/** The calls that are not answered yet. */
export class Calls {
  readonly #calls = new Map<Call, () => void>()

  get size(): number {
    return this.#calls.size
  }

  [Symbol.iterator](): Iterator<Call> {
    return [...this.#calls.keys()].values()
  }

  open(bytes: Buffer, requests: readonly [Incoming, ...Incoming[]]): Call {
    const open = new Map(requests.flatMap(({ id }) => (id === null ? [] : [[keyOf(id), id] as const])))
    let settle = (): void => {}
    const settled = new Promise<void>((resolve) => {
      settle = resolve
    })
    const call: Call = { bytes, message: requests[0], open, settled, sent: Promise.resolve() }
    this.#calls.set(call, settle)
    return call
  }

  /** The call that waits for this id. */
  find(id: Id): Call | undefined {
    for (const call of this.#calls.keys()) if (call.open.has(keyOf(id))) return call
    return undefined
  }

  /** Takes an id off a call; false when it was not waited for. */
  settle(call: Call, id: Id): boolean {
    if (!call.open.delete(keyOf(id))) return false
    this.#forgetAnswered(call)
    return true
  }

  /** Takes all ids that are left off a call. */
  settleAll(call: Call): Id[] {
    const ids = [...call.open.values()]
    call.open.clear()
    this.#forgetAnswered(call)
    return ids
  }

  #forgetAnswered(call: Call): void {
    if (call.open.size > 0) return
    this.#calls.get(call)?.()
    this.#calls.delete(call)
  }
}

const keyOf = (id: Id): string => JSON.stringify(id)
