import type { IncomingHttpHeaders } from 'node:http'
import { concat } from '../stdio/lines.ts'
import { EventParser, type ServerEvent } from './sse.ts'
import type { Reader } from './upstream.ts'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** For `events`, each event was passed to `onEvent`. */
  readonly type: 'events' | 'json' | 'other'
  /** `undefined` if the body is longer than the limit. */
  readonly body: Buffer | undefined
  readonly size: number
}

interface Handlers {
  readonly onEvent?: (event: ServerEvent) => void
  /** Called before the first event. */
  readonly onHead?: (status: number, headers: IncomingHttpHeaders) => void
}

export class ReplyReader implements Reader {
  readonly #maxBytes: number
  readonly #handlers: Handlers
  #chunks: Buffer[] = []
  #size = 0
  #events: EventParser | undefined
  #head: Pick<Reply, 'status' | 'headers' | 'type'> | undefined

  /** Messages longer than `maxBytes` are discarded. */
  constructor(maxBytes: number, handlers: Handlers = {}) {
    this.#maxBytes = maxBytes
    this.#handlers = handlers
  }

  get events(): Pick<EventParser, 'lastEventId' | 'retryMs'> {
    return this.#events ?? { lastEventId: '', retryMs: undefined }
  }

  /** The reply so far; `undefined` before its status arrives. */
  get reply(): Reply | undefined {
    if (this.#head === undefined) return undefined
    const { status, headers, type } = this.#head
    const body = this.#size > this.#maxBytes ? undefined : concat(this.#chunks)
    return { status, headers, type, body, size: this.#size }
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#head = { status, headers, type: findType(status, headers) }
    if (this.#head.type === 'events') this.#events = new EventParser(this.#maxBytes)
    this.#handlers.onHead?.(status, headers)
  }

  data(chunk: Buffer): number {
    const events = this.#events
    if (events !== undefined) {
      for (const event of events.push(chunk)) this.#handlers.onEvent?.(event)
      return events.bufferedBytes
    }
    this.#size += chunk.length
    const isTooLong = this.#size > this.#maxBytes
    if (isTooLong) this.#chunks = []
    else this.#chunks.push(chunk)
    return isTooLong ? 0 : this.#size
  }
}

function findType(status: number, headers: IncomingHttpHeaders): Reply['type'] {
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  const name = type.trim().toLowerCase()
  if (name === 'text/event-stream') return status < 300 ? 'events' : 'other'
  return name === 'application/json' || name.endsWith('+json') ? 'json' : 'other'
}
