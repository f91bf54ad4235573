import { asObject, type CausewayError, type Id } from '@causeway/protocol'
import type { ServerEvent } from '../http/sse.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import { readElements, readEnvelope, replaceId } from '../stdio/envelope.ts'
import { parseJson } from '../stdio/json.ts'
import { createErrorLine, createFailure, createTooLargeError } from './answer.ts'
import { type Answer, type Call, findRequest, type PendingCalls } from './pending-calls.ts'
import { ServerRequests } from './server-requests.ts'

interface Options {
  readonly calls: PendingCalls
  readonly write: (json: Buffer) => void
  readonly maxMessageBytes: number
  readonly log: Log
}

/** Delivers the server's messages to the client. Each id receives exactly one response. */
export class Delivery {
  readonly serverRequests = new ServerRequests()
  readonly write: (json: Buffer) => void
  readonly #calls: PendingCalls
  readonly #maxMessageBytes: number
  readonly #log: Log

  constructor({ calls, write, maxMessageBytes, log }: Options) {
    this.write = write
    this.#calls = calls
    this.#maxMessageBytes = maxMessageBytes
    this.#log = log
  }

  /** Delivers a message or batch. Returns `false` if the bytes are not JSON-RPC. */
  deliver(bytes: Buffer, call?: Call): boolean {
    const envelope = readEnvelope(bytes)
    if (envelope === undefined) return this.#deliverBatch(bytes, call)
    const { kind, id, hasResult } = envelope
    if (kind === 'invalid') return false
    if (kind !== 'response') this.write(this.serverRequests.toClient(bytes, envelope))
    else if (id === null) this.#deliverErrorWithoutId(bytes, call)
    else if (this.#settle(id, { json: bytes, hasResult }, call)) this.write(bytes)
    return true
  }

  deliverEvent(event: ServerEvent, call?: Call): void {
    const { data, size } = event
    this.#log(`< event, ${size} bytes`, data)
    if (call?.intercept?.(event)) return
    // The data is missing if it exceeded the maximum. Only a response is expected to be that long.
    if (data === undefined) {
      if (call !== undefined) this.failTooLarge(call, size)
    } else if (!this.deliver(data, call)) this.#log('dropped an event that is not a JSON-RPC message')
  }

  fail(call: Call, error: CausewayError): void {
    this.#failAll(call, (id) => createErrorLine(id, error))
  }

  failTooLarge(call: Call, size: number): void {
    const error = createTooLargeError(size, this.#maxMessageBytes)
    this.#failAll(call, (id) => createFailure(id, findRequest(call, id).method, error))
  }

  #failAll(call: Call, toResponse: (id: Id) => Buffer): void {
    for (const id of [...call.pendingIds]) {
      const json = toResponse(id)
      this.#calls.answer(call, id, { json, hasResult: false })
      this.write(json)
    }
  }

  #settle(id: Id, response: Answer, call: Call | undefined): boolean {
    const owner = call?.pendingIds.has(id) ? call : this.#calls.find(id)
    if (owner === undefined) {
      this.#log(`dropped a response without a pending request, id ${id}`)
      return false
    }
    const { json, hasResult } = response
    if (hasResult) owner.onResult?.(owner, findRequest(owner, id), () => parseResult(json))
    return this.#calls.answer(owner, id, response)
  }

  #deliverErrorWithoutId(bytes: Buffer, call: Call | undefined): void {
    if (call === undefined) this.#log('dropped an error without an id')
    else this.#failAll(call, (id) => replaceId(bytes, id))
  }

  /** Drops responses without a pending request. */
  #deliverBatch(bytes: Buffer, call: Call | undefined): boolean {
    const elements = readElements(bytes)
    if (elements === undefined) return false
    const delivered = elements.flatMap((element) => {
      const envelope = readEnvelope(element)
      if (envelope === undefined) return [element]
      const { kind, id, hasResult } = envelope
      if (kind !== 'response') return [this.serverRequests.toClient(element, envelope)]
      return id === null || this.#settle(id, { json: element, hasResult }, call) ? [element] : []
    })
    if (elements.every((element, index) => delivered[index] === element)) this.write(bytes)
    else if (delivered.length > 0) this.write(Buffer.from(`[${delivered.join(',')}]`))
    return true
  }
}

const parseResult = (bytes: Buffer): unknown => asObject(parseJson(bytes)).result
