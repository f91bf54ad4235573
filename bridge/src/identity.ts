import { randomUUID } from 'node:crypto'
import { type Id, headers as names } from '@causeway/protocol'
import type { Fields } from './headers.ts'

/** Who this bridge is to the server, for its whole life. */
export interface Identity {
  /** The field that every HTTP request carries; state that belongs to one client hangs on it. */
  readonly fields: Fields
  /**
   * Names one call for ever, and the trace that it belongs to: the one of the message, else one of its own. The bridge
   * sends both again only when it repeats that very call.
   */
  call(id: Id, traceparent: unknown): Fields
}

/** An id that may stand in a header as it is; any other is left out, the number alone names the call. */
const shownId = /^[A-Za-z0-9._-]{1,64}$/

/** A W3C trace (https://www.w3.org/TR/trace-context/#traceparent-header). */
const traceForm = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

/** A trace that begins here: its id is in the server's log and audit. UUIDs, since Node draws those from a stock. */
function newTrace(): string {
  const [trace, span] = [randomUUID(), randomUUID()].map((id) => id.replaceAll('-', ''))
  return `00-${trace}-${span?.slice(16)}-01`
}

/**
 * `session` names the client. `run` is random per process: with a session that outlives processes, the ids of two
 * runs would otherwise be the same and the second run would get the answers of the first.
 */
export function createIdentity(session: string, run: string): Identity {
  let calls = 0
  return {
    fields: { [names.causewaySession]: session },
    call(id, traceparent) {
      // A client may use an id again after its answer; the number keeps two calls two.
      calls += 1
      const shown = shownId.test(String(id)) ? `.${id}` : ''
      return {
        [names.causewayRequest]: `${session}.${run}-${calls}${shown}`,
        traceparent:
          typeof traceparent === 'string' && traceForm.test(traceparent) ? traceparent : newTrace(),
      }
    },
  }
}
