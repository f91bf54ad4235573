import type { Id } from '@causeway/protocol'
import type { Incoming } from './message.ts'

/** A request, or a batch with requests, that wants answers. */
export interface Call {
  readonly bytes: Buffer
  /** The request whose headers and method stand for the call; the first of a batch. */
  readonly message: Incoming
  /** All that the bytes hold: `message`, and in a batch what goes with it. */
  readonly messages: readonly Incoming[]
  /** Ids that have no answer yet, by their JSON text: 1 and "1" are two. */
  readonly open: Map<string, Id>
  /** Resolves when nothing is left open. */
  readonly settled: Promise<void>
  /** Resolves once the request is written, or never will be. */
  sent: Promise<void>
  /** Stops the exchange. Absent as long as nothing was sent. */
  abort?: () => void
}

/** A call in its place among the others. */
interface Listed extends Call {
  place: number
  readonly settle: () => void
}

/**
 * The calls that are not answered yet, in an array: a `Map` would move them into a new table every few calls, and V8 keeps
 * what stands in a table that was left behind, with all that it holds, until the next major collection.
 */
export class Calls {
  readonly #calls: (Listed | undefined)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  [Symbol.iterator](): Iterator<Call> {
    return this.#listed().values()
  }

  /** `messages` begin with a request. */
  open(bytes: Buffer, messages: readonly [Incoming, ...Incoming[]]): Call {
    const open = new Map<string, Id>()
    for (const { kind, id } of messages) if (kind === 'request' && id !== null) open.set(keyOf(id), id)
    let settle = (): void => {}
    const settled = new Promise<void>((resolve) => {
      settle = resolve
    })
    const [message] = messages
    const sent = Promise.resolve()
    const call: Listed = { bytes, message, messages, open, settled, sent, place: this.#size, settle }
    this.#calls[this.#size] = call
    this.#size += 1
    return call
  }

  /** The call that waits for this id. */
  find(id: Id): Call | undefined {
    const key = keyOf(id)
    return this.#calls.find((call) => call?.open.has(key))
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

  #listed(): Listed[] {
    return this.#calls.slice(0, this.#size) as Listed[] // as many as are counted
  }

  #forgetAnswered(call: Call): void {
    const listed = this.#calls[(call as Listed).place] // `open` made it
    if (call.open.size > 0 || listed !== call) return
    listed.settle()
    this.#size -= 1
    // The last one gets its place. The array keeps its length, since it would be copied when it grows again.
    const last = this.#calls[this.#size] as Listed
    last.place = listed.place
    this.#calls[listed.place] = last
    this.#calls[this.#size] = undefined
  }
}

/** The request of a call that has this id. */
export const requestOf = ({ message, messages }: Call, id: Id): Incoming =>
  messages.find((one) => one.kind === 'request' && one.id === id) ?? message

const keyOf = (id: Id): string => JSON.stringify(id)
