import { asCausewayError, type CausewayError, errorResponse, isCausewayError } from '@causeway/protocol'
import type { UpstreamLogin } from '../login/upstream-login.ts'
import type { Fields } from './headers.ts'
import { ReplyReader } from './reply.ts'
import type { Exchange, Reader, Upstream } from './upstream.ts'

/** Returns an upstream that sends the token of a login, refreshes it, and answers with `NEEDS_LOGIN` if that is not possible. */
export function authorizeUpstream(upstream: Upstream, login: UpstreamLogin): Upstream {
  const { maxMessageBytes } = upstream
  const run = (fields: Fields, reader: Reader, start: Start): Exchange =>
    exchangeWithLogin((own, gate) => start({ ...fields, ...own }, gate), { login, reader, maxMessageBytes })
  return {
    ...upstream,
    post: (fields, body, reader, path) =>
      run(fields, reader, (own, gate) => upstream.post(own, body, gate, path)),
    listen: (fields, reader) => run(fields, reader, upstream.listen),
    resume: (fields, reader) => run(fields, reader, upstream.resume),
    remove: (fields, reader) => run(fields, reader, upstream.remove),
  }
}

type Start = (fields: Fields, reader: Reader) => Exchange

interface LoginExchange {
  readonly login: UpstreamLogin
  readonly reader: Reader
  readonly maxMessageBytes: number
}

/** Without a login, the request is sent in this turn of the event loop. */
function exchangeWithLogin(start: Start, { login, reader, maxMessageBytes }: LoginExchange): Exchange {
  let current: Exchange | undefined
  let isAborted = false
  let markBegun = (): void => {}
  const begun = new Promise<void>((resolve) => {
    markBegun = resolve
  })
  const send = async (fields: Fields): Promise<ReplyReader | undefined> => {
    const gate = new LoginGate(reader, maxMessageBytes)
    current = start(fields, gate)
    if (isAborted) current.abort()
    markBegun()
    await current.done
    return gate.rejection
  }
  const run = async (): Promise<void> => {
    const fields = login.isKnown ? await login.authorize().catch(asCausewayError) : {}
    if (isCausewayError(fields)) return passError(reader, fields)
    const rejection = await send(fields)
    if (rejection === undefined) return
    const { status = 0, headers = {} } = rejection.reply ?? {}
    const next = await login.answer({ status, headers }, fields)
    if (next === undefined) return passReply(reader, rejection)
    if (isCausewayError(next)) return passError(reader, next)
    const second = await send(next)
    if (second !== undefined) passReply(reader, second)
  }
  return {
    done: run().finally(markBegun),
    wasWritten: () => current?.wasWritten() ?? false,
    async whenWritten() {
      await begun
      await current?.whenWritten()
    },
    abort() {
      isAborted = true
      current?.abort()
    },
  }
}

/** Passes a response on, unless it may require a login. */
class LoginGate implements Reader {
  readonly #reader: Reader
  readonly #maxBytes: number
  rejection: ReplyReader | undefined

  constructor(reader: Reader, maxBytes: number) {
    this.#reader = reader
    this.#maxBytes = maxBytes
  }

  head(...[status, headers]: Parameters<Reader['head']>): void {
    if (status === 401 || status === 403) this.rejection = new ReplyReader(this.#maxBytes, () => {})
    this.#current.head(status, headers)
  }

  data(chunk: Buffer): void {
    this.#current.data(chunk)
  }

  kept(): number {
    return this.#current.kept()
  }

  get #current(): Reader {
    return this.rejection ?? this.#reader
  }
}

function passReply(reader: Reader, { reply }: ReplyReader): void {
  reader.head(reply?.status ?? 0, reply?.headers ?? {})
  if (reply?.body !== undefined && reply.body.length > 0) reader.data(reply.body)
}

/** An error without an id answers every request that was posted. */
function passError(reader: Reader, error: CausewayError): void {
  reader.head(error.definition.status, { 'content-type': 'application/json' })
  reader.data(Buffer.from(JSON.stringify(errorResponse(null, error))))
}
