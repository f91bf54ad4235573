import type { IncomingHttpHeaders } from 'node:http'
import { joined } from './lines.ts'
import { EventParser, type ServerEvent } from './sse.ts'
import type { Reader } from './upstream.ts'

/** A complete HTTP answer. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** `events`: the messages have been given out one by one. */
  readonly type: 'events' | 'json' | 'other'
  /** The body of a JSON or other answer; undefined where it was longer than the limit. */
  readonly body: Buffer | undefined
  /** Length of the body in bytes. */
  readonly size: number
}

/** Reads one answer, whatever its form. */
export interface ReplyReader extends Reader {
  /** What has come; undefined as long as there is no status. */
  reply(): Reply | undefined
  /** The parser of an event stream, for its last event id and reconnection time. */
  readonly events: EventParser
}

/** `limit` in bytes is for one message; `onEvent` gets each event of an event stream at once. */
export function createReplyReader(
  limit: number,
  onEvent: (event: ServerEvent, headers: IncomingHttpHeaders) => void,
): ReplyReader {
  const events = new EventParser(limit)
  let pieces: Buffer[] = []
  let size = 0
  let head: Pick<Reply, 'status' | 'headers' | 'type'> | undefined

  return {
    events,
    head(status, headers) {
      head = { status, headers, type: typeOf(status, headers) }
    },
    data(chunk) {
      if (head?.type === 'events') {
        for (const event of events.push(chunk)) onEvent(event, head.headers)
        return
      }
      size += chunk.length
      if (size > limit) pieces = []
      else pieces.push(chunk)
    },
    kept: () => (head?.type === 'events' ? events.kept : size > limit ? 0 : size),
    reply: () => head && { ...head, size, body: size > limit ? undefined : joined(pieces) },
  }
}

function typeOf(status: number, headers: IncomingHttpHeaders): Reply['type'] {
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  const name = type.trim().toLowerCase()
  if (name === 'text/event-stream') return status < 300 ? 'events' : 'other'
  return name === 'application/json' || name.endsWith('+json') ? 'json' : 'other'
}
