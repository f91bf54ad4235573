import { setTimeout as sleep } from 'node:timers/promises'
import { CausewayError, claimedVersion, type JsonObject } from '@causeway/protocol'
import { type Asked, ask } from '../http/ask.ts'
import type { Connections } from '../http/connections.ts'
import { type Fields, messageFields, noSession, type SessionKey, sessionFields } from '../http/headers.ts'
import { type Reply, ReplyReader } from '../http/reply.ts'
import { createUpstream, type Upstream } from '../http/upstream.ts'
import { toLine } from '../stdio/message.ts'

export interface MessageOptions {
  readonly fields?: Fields
  readonly key?: SessionKey
}

/** A working server answers a handshake within a second. */
const deadlineMs = 10_000
const maxBytes = 1024 * 1024

export class Probe {
  readonly #upstream: Upstream
  readonly #getFields: () => Fields

  constructor(url: URL, connections: Connections, getFields: () => Fields) {
    const ignored = { backpressure: { update() {}, end() {} }, onResponse() {} }
    this.#upstream = createUpstream({ url, maxMessageBytes: maxBytes, connections, ...ignored })
    this.#getFields = getFields
  }

  async get(path: string): Promise<Reply> {
    const reader = new ReplyReader(maxBytes)
    const fields = { ...this.#getFields(), accept: 'application/json' }
    await withDeadline(this.#upstream.send({ method: 'GET', path, fields }, reader).done)
    return reader.reply as Reply
  }

  request(method: string, params: JsonObject, options: MessageOptions = {}): Promise<Asked> {
    return this.#post({ id: 'doctor', method, params }, options)
  }

  notify(method: string, options: MessageOptions): Promise<Asked> {
    return this.#post({ method, params: {} }, options)
  }

  async deleteSession(key: SessionKey): Promise<void> {
    const reader = new ReplyReader(0)
    const fields = { ...this.#getFields(), ...sessionFields(key) }
    await withDeadline(this.#upstream.send({ method: 'DELETE', fields }, reader).done)
  }

  close(): Promise<void> {
    return this.#upstream.destroy()
  }

  #post(
    message: { readonly id?: string; readonly method: string; readonly params: JsonObject },
    { fields, key = noSession }: MessageOptions,
  ): Promise<Asked> {
    const own = messageFields({ ...message, claimed: claimedVersion(message) }, key)
    const body = toLine({ jsonrpc: '2.0', ...message })
    return withDeadline(ask(this.#upstream, { ...this.#getFields(), ...own, ...fields }, body))
  }
}

const withDeadline = <T>(response: Promise<T>): Promise<T> =>
  Promise.race([
    response,
    sleep(deadlineMs, undefined, { ref: false }).then(() => {
      throw new CausewayError('DEADLINE_EXCEEDED', `no response within ${deadlineMs / 1000} s`)
    }),
  ])
