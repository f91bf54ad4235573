import { GatewayError } from '../errors.ts'
import type { HostedCall } from './hosted-call.ts'

const maxParkedMs = 5 * 60_000
const maxPerClient = 16

interface Entry {
  readonly call: HostedCall
  readonly timer: NodeJS.Timeout
}

/** Calls that wait for their client's answer. */
export class ParkedCalls {
  readonly #entries = new Map<string, Entry>()

  get size(): number {
    return this.#entries.size
  }

  /** If the client has too many parked calls, cancels this call and throws `TOO_MANY_QUESTIONS`. */
  park(call: HostedCall): void {
    const isOpen = (other: HostedCall): boolean => other.clientKey === call.clientKey && !other.isSettled
    const count = [...this.#entries.values()].filter((other) => isOpen(other.call)).length
    if (count >= maxPerClient) {
      const error = new GatewayError('TOO_MANY_QUESTIONS', `${count} calls of the client wait for its answer`)
      call.cancel(error)
      throw error
    }
    const timer = setTimeout(() => this.#expire(call), maxParkedMs).unref()
    this.#entries.set(call.id, { call, timer })
  }

  /** Throws `QUESTION_EXPIRED` if the call has ended. */
  take(id: string, clientKey: string): HostedCall {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.call.clientKey !== clientKey)
      throw new GatewayError('QUESTION_EXPIRED', 'the call that asked has ended')
    clearTimeout(entry.timer)
    this.#entries.delete(id)
    return entry.call
  }

  close(): void {
    for (const { call, timer } of this.#entries.values()) {
      clearTimeout(timer)
      call.cancel(new GatewayError('UPSTREAM_GONE', 'the server stops'))
    }
    this.#entries.clear()
  }

  #expire(call: HostedCall): void {
    this.#entries.delete(call.id)
    call.cancel(
      new GatewayError('QUESTION_EXPIRED', `the client did not answer within ${maxParkedMs / 1000} s`),
    )
  }
}
