import type { IncomingHttpHeaders } from 'node:http'
import type { CausewayError, Id } from '@causeway/protocol'
import { errorLine, failedCall, tooLarge } from './answer.ts'
import { type Call, type Calls, requestOf } from './calls.ts'
import type { Log } from './debug-log.ts'
import { readElements, readEnvelope, withId } from './envelope.ts'
import type { Incoming } from './message.ts'
import type { Output } from './output.ts'
import { parsed } from './parsed.ts'
import type { Questions } from './questions.ts'
import type { ServerEvent } from './sse.ts'

/** Called with a good answer to a method that tells something, before the client gets it. */
export type OnResult = (request: Incoming, headers: IncomingHttpHeaders, result: unknown) => void

/** From the server to the client: each id gets exactly one answer, everything else passes. */
export interface Deliver {
  /** A message, or a batch of them, that came in answer to `call` or unasked; false when it is no JSON-RPC. */
  message(bytes: Buffer, headers: IncomingHttpHeaders, call?: Call): boolean
  /** An event of a stream. */
  event(event: ServerEvent, headers: IncomingHttpHeaders, call?: Call): void
  /** Answers with an error whatever of the call has no answer. */
  fail(call: Call, error: CausewayError): void
  /** Answers with an error that stands in for an answer longer than the client reads. */
  failTooLarge(call: Call, size: number): void
}

interface Parts {
  readonly calls: Calls
  readonly questions: Questions
  readonly output: Output
  /** Greatest length of a line in bytes. */
  readonly limit: number
  readonly onResult: OnResult
  readonly log: Log
}

/** Methods whose results tell the bridge something; all others pass unread. */
const telling = new Set(['initialize', 'server/discover', 'tools/list'])

export function createDeliver({ calls, questions, output, limit, onResult, log }: Parts): Deliver {
  /** Takes the answer off the call that waits for it, or says that none does. */
  const settle = (id: Id, headers: IncomingHttpHeaders, call: Call | undefined, result?: () => unknown) => {
    const owner = call?.open.has(JSON.stringify(id)) ? call : calls.find(id)
    if (owner === undefined) {
      log(`dropped an answer that nobody waits for, id ${id}`)
      return false
    }
    const request = requestOf(owner, id)
    if (result !== undefined && telling.has(request.method)) onResult(request, headers, result())
    return calls.settle(owner, id)
  }

  /** An error that does not say whose it is belongs to the call in whose answer it came. */
  const anonymousError = (bytes: Buffer, call: Call | undefined): void => {
    if (call === undefined) log('dropped an error without an id')
    else {
      for (const id of calls.settleAll(call)) output.write(withId(bytes, id))
    }
  }

  /** A batch belongs to a session of 2025-03-26. Answers in it that nobody waits for are taken out. */
  const batch = (bytes: Buffer, headers: IncomingHttpHeaders, call: Call | undefined): boolean => {
    const elements = readElements(bytes)
    if (elements === undefined) return false
    const wanted = elements.flatMap((element) => {
      const envelope = readEnvelope(element)
      if (envelope === undefined) return [element]
      const { kind, id, hasResult } = envelope
      if (kind !== 'response') return [questions.toClient(element, envelope)]
      const isWanted =
        id === null || settle(id, headers, call, hasResult ? () => resultIn(element) : undefined)
      return isWanted ? [element] : []
    })
    if (elements.every((element, at) => wanted[at] === element)) output.write(bytes)
    else if (wanted.length > 0) output.write(Buffer.from(`[${wanted.join(',')}]`))
    return true
  }

  const deliver: Deliver = {
    message(bytes, headers, call) {
      const envelope = readEnvelope(bytes)
      if (envelope === undefined) return batch(bytes, headers, call)
      const { kind, id, hasResult } = envelope
      if (kind === 'invalid') return false
      if (kind !== 'response') output.write(questions.toClient(bytes, envelope))
      else if (id === null) anonymousError(bytes, call)
      else if (settle(id, headers, call, hasResult ? () => resultIn(bytes) : undefined)) output.write(bytes)
      return true
    },
    event({ data, size }, headers, call) {
      log(`< event, ${size} bytes`, data)
      if (data === undefined) {
        // Of a text that was not kept nothing is known, but the one message that gets so long is the answer.
        if (call !== undefined) deliver.failTooLarge(call, size)
      } else if (!deliver.message(data, headers, call)) log('dropped an event that is no JSON-RPC message')
    },
    fail(call, error) {
      for (const id of calls.settleAll(call)) output.write(errorLine(id, error))
    },
    failTooLarge(call, size) {
      const error = tooLarge(size, limit)
      for (const id of calls.settleAll(call)) output.write(failedCall(id, requestOf(call, id).method, error))
    },
  }
  return deliver
}

const resultIn = (bytes: Buffer): unknown => (parsed(bytes) as { result?: unknown } | undefined)?.result
