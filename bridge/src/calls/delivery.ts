import type { IncomingHttpHeaders } from 'node:http'
import type { CausewayError, Id } from '@causeway/protocol'
import type { ServerEvent } from '../http/sse.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import { readElements, readEnvelope, withId } from '../stdio/envelope.ts'
import { parsed } from '../stdio/json.ts'
import { errorLine, failedCall, tooLarge } from './answer.ts'
import { type Call, findRequest, type PendingCalls } from './pending-calls.ts'
import type { ServerRequests } from './server-requests.ts'

interface Options {
  readonly calls: PendingCalls
  readonly serverRequests: ServerRequests
  readonly write: (json: Buffer) => void
  readonly maxMessageBytes: number
  readonly log: Log
}

/** Delivers the messages of the server to the client. Each id receives exactly one response. */
export class Delivery {
  readonly #calls: PendingCalls
  readonly #serverRequests: ServerRequests
  readonly #write: (json: Buffer) => void
  readonly #maxMessageBytes: number
  readonly #log: Log

  constructor({ calls, serverRequests, write, maxMessageBytes, log }: Options) {
    this.#calls = calls
    this.#serverRequests = serverRequests
    this.#write = write
    this.#maxMessageBytes = maxMessageBytes
    this.#log = log
  }

  /** Delivers what was received for `call`. Returns `false` if it is not JSON-RPC. */
  deliver(bytes: Buffer, headers: IncomingHttpHeaders, call?: Call): boolean {
    const envelope = readEnvelope(bytes)
    if (envelope === undefined) return this.#deliverBatch(bytes, headers, call)
    const { kind, id, hasResult } = envelope
    if (kind === 'invalid') return false
    if (kind !== 'response') this.#write(this.#serverRequests.toClient(bytes, envelope))
    else if (id === null) this.#deliverErrorWithoutId(bytes, call)
    else if (this.#settle(id, bytes, { headers, call, hasResult })) this.#write(bytes)
    return true
  }

  deliverEvent(event: ServerEvent, headers: IncomingHttpHeaders, call?: Call): void {
    const { data, size } = event
    this.#log(`< event, ${size} bytes`, data)
    if (call?.intercept?.(event, headers)) return
    // A message over the maximum is not stored. Only a response can be that long.
    if (data === undefined) {
      if (call !== undefined) this.failTooLarge(call, size)
    } else if (!this.deliver(data, headers, call))
      this.#log('dropped an event that is not a JSON-RPC message')
  }

  fail(call: Call, error: CausewayError): void {
    for (const id of this.#calls.settleAll(call)) this.#write(errorLine(id, error))
  }

  failTooLarge(call: Call, size: number): void {
    const error = tooLarge(size, this.#maxMessageBytes)
    for (const id of this.#calls.settleAll(call))
      this.#write(failedCall(id, findRequest(call, id).method, error))
  }

  /** Marks an id as answered. Returns `false` if it is not pending. */
  #settle(
    id: Id,
    bytes: Buffer,
    {
      headers,
      call,
      hasResult,
    }: { headers: IncomingHttpHeaders; call: Call | undefined; hasResult: boolean },
  ): boolean {
    const owner = call?.open.has(JSON.stringify(id)) ? call : this.#calls.find(id)
    if (owner === undefined) {
      this.#log(`dropped a response without a pending request, id ${id}`)
      return false
    }
    if (hasResult) owner.onResult?.(findRequest(owner, id), headers, () => parseResult(bytes))
    return this.#calls.settle(owner, id)
  }

  /** An error without an id answers the call that it was received for. */
  #deliverErrorWithoutId(bytes: Buffer, call: Call | undefined): void {
    if (call === undefined) this.#log('dropped an error without an id')
    else for (const id of this.#calls.settleAll(call)) this.#write(withId(bytes, id))
  }

  /** Removes responses without a pending request. Only sessions of 2025-03-26 have batches. */
  #deliverBatch(bytes: Buffer, headers: IncomingHttpHeaders, call: Call | undefined): boolean {
    const elements = readElements(bytes)
    if (elements === undefined) return false
    const delivered = elements.flatMap((element) => {
      const envelope = readEnvelope(element)
      if (envelope === undefined) return [element]
      const { kind, id, hasResult } = envelope
      if (kind !== 'response') return [this.#serverRequests.toClient(element, envelope)]
      return id === null || this.#settle(id, element, { headers, call, hasResult }) ? [element] : []
    })
    if (elements.every((element, index) => delivered[index] === element)) this.#write(bytes)
    else if (delivered.length > 0) this.#write(Buffer.from(`[${delivered.join(',')}]`))
    return true
  }
}

const parseResult = (bytes: Buffer): unknown => (parsed(bytes) as { result?: unknown } | undefined)?.result
