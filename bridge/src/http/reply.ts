import type { IncomingHttpHeaders } from 'node:http'
import { concat } from '../stdio/lines.ts'
import { EventParser, type ServerEvent } from './sse.ts'
import type { Reader } from './upstream.ts'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** `events`: each event was passed to `onEvent`. */
  readonly type: 'events' | 'json' | 'other'
  /** `undefined` if the body is longer than the limit. */
  readonly body: Buffer | undefined
  readonly size: number
}

export class ReplyReader implements Reader {
  readonly #limit: number
  readonly #onEvent: (event: ServerEvent, headers: IncomingHttpHeaders) => void
  #pieces: Buffer[] = []
  #size = 0
  #events: EventParser | undefined
  #head: Pick<Reply, 'status' | 'headers' | 'type'> | undefined

  constructor(limit: number, onEvent: (event: ServerEvent, headers: IncomingHttpHeaders) => void) {
    this.#limit = limit
    this.#onEvent = onEvent
  }

  get events(): Pick<EventParser, 'lastEventId' | 'retryMs'> {
    return this.#events ?? { lastEventId: '', retryMs: undefined }
  }

  /** The reply so far; `undefined` before the status. */
  get reply(): Reply | undefined {
    const body = this.#size > this.#limit ? undefined : concat(this.#pieces)
    return this.#head && { ...this.#head, size: this.#size, body }
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#head = { status, headers, type: findType(status, headers) }
    if (this.#head.type === 'events') this.#events = new EventParser(this.#limit)
  }

  data(chunk: Buffer): number {
    const events = this.#events
    if (events !== undefined) {
      for (const event of events.push(chunk)) this.#onEvent(event, this.#head?.headers ?? {})
      return events.bufferedBytes
    }
    this.#size += chunk.length
    if (this.#size > this.#limit) this.#pieces = []
    else this.#pieces.push(chunk)
    return this.#size > this.#limit ? 0 : this.#size
  }
}

function findType(status: number, headers: IncomingHttpHeaders): Reply['type'] {
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  const name = type.trim().toLowerCase()
  if (name === 'text/event-stream') return status < 300 ? 'events' : 'other'
  return name === 'application/json' || name.endsWith('+json') ? 'json' : 'other'
}
