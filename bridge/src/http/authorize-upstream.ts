import { asCausewayError, type CausewayError, errorResponse, isCausewayError } from '@causeway/protocol'
import type { UpstreamLogin } from '../login/upstream-login.ts'
import type { Fields } from './headers.ts'
import { respond, sendWithSecondTry } from './second-try.ts'
import type { Exchange, Reader, Upstream } from './upstream.ts'

type Send = (fields: Fields, reader: Reader) => Exchange

/** Returns an upstream that sends and refreshes the token of a login, or answers with `NEEDS_LOGIN`. */
export function authorizeUpstream(upstream: Upstream, login: UpstreamLogin): Upstream {
  const sendWith = (token: Fields, send: Send, fields: Fields, reader: Reader): Exchange =>
    sendWithSecondTry((gate) => send({ ...fields, ...token }, gate), {
      reader,
      maxBytes: upstream.maxMessageBytes,
      holds: (status) => status === 401 || status === 403,
      async replace(reply) {
        const next = await login.answer(reply, token)
        if (isCausewayError(next)) return respondWithError(reader, next)
        return next && send({ ...fields, ...next }, reader)
      },
    })
  const run = (send: Send, fields: Fields, reader: Reader): Exchange => {
    // Without a login, the request is sent in this turn of the event loop.
    if (!login.isKnown) return sendWith({}, send, fields, reader)
    return startLater(
      login.authorize().then(
        (token) => sendWith(token, send, fields, reader),
        (error: unknown) => respondWithError(reader, asCausewayError(error)),
      ),
    )
  }
  return {
    ...upstream,
    post: (fields, body, reader, path) =>
      run((own, gate) => upstream.post(own, body, gate, path), fields, reader),
    listen: (fields, reader) => run(upstream.listen, fields, reader),
    resume: (fields, reader) => run(upstream.resume, fields, reader),
    remove: (fields, reader) => run(upstream.remove, fields, reader),
  }
}

function startLater(starting: Promise<Exchange>): Exchange {
  let started: Exchange | undefined
  let isAborted = false
  const begun = starting.then((exchange) => {
    started = exchange
    if (isAborted) exchange.abort()
    return exchange
  })
  return {
    done: begun.then(({ done }) => done),
    wasWritten: () => started?.wasWritten() ?? false,
    whenWritten: () => begun.then((exchange) => exchange.whenWritten()),
    abort() {
      isAborted = true
      started?.abort()
    },
  }
}

/** An error without an id answers every posted request. */
const respondWithError = (reader: Reader, error: CausewayError): Exchange =>
  respond(reader, {
    status: error.definition.status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(errorResponse(null, error))),
  })
