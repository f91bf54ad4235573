import { asCausewayError, type CausewayError, isCausewayError } from '@causeway/protocol'
import { errorLine } from '../calls/answer.ts'
import type { UpstreamLogin } from '../login/upstream-login.ts'
import type { Fields } from './headers.ts'
import { respond, sendWithSecondTry, sequence } from './sequence.ts'
import type { Exchange, HttpRequest, Reader, Upstream } from './upstream.ts'

/** Returns an upstream that sends and refreshes the token of a login, or answers with `NEEDS_LOGIN`. */
export function authorizeUpstream(upstream: Upstream, login: UpstreamLogin): Upstream {
  const send = (request: HttpRequest, token: Fields, reader: Reader): Exchange =>
    upstream.send({ ...request, fields: { ...request.fields, ...token } }, reader)
  const sendWith = (token: Fields, request: HttpRequest, reader: Reader): Exchange =>
    sendWithSecondTry((gate) => send(request, token, gate), {
      reader,
      maxBytes: upstream.maxMessageBytes,
      holds: (status) => status === 401 || status === 403,
      async replace(reply) {
        const next = await login.answer(reply, token)
        if (isCausewayError(next)) return respondWithError(reader, next)
        return next && send(request, next, reader)
      },
    })
  return {
    ...upstream,
    send(request, reader) {
      // Without a login, the request is sent in this turn of the event loop.
      if (!login.isKnown) return sendWith({}, request, reader)
      return sequence(async (follow) => {
        const token = await login.authorize().catch(asCausewayError)
        const isFailed = isCausewayError(token)
        await follow(isFailed ? respondWithError(reader, token) : sendWith(token, request, reader))
      })
    },
  }
}

/** An error without an id answers every posted request. */
const respondWithError = (reader: Reader, error: CausewayError): Exchange =>
  respond(reader, {
    status: error.definition.status,
    headers: { 'content-type': 'application/json' },
    body: errorLine(null, error),
  })
