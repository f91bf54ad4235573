import { concat } from '../stdio/lines.ts'

export interface ServerEvent {
  readonly type: string
  readonly id: string
  /** `undefined` if the data exceeds the limit. */
  readonly data: Buffer | undefined
  readonly size: number
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a
const space = 0x20
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const newline = Buffer.from('\n')

/**
 * Parses server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream) in linear time:
 * concatenates data once per event.
 */
export class EventParser {
  readonly #limit: number
  #line: Buffer[] = []
  #lineBytes = 0
  #data: Buffer[] = []
  #dataBytes = 0
  #hasData = false
  #type = ''
  #idBuffer = ''
  #id = ''
  #retryMs: number | undefined
  #isAtStart = true
  #isAfterReturn = false

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Empty if the server sent no id. */
  get lastEventId(): string {
    return this.#id
  }

  get retryMs(): number | undefined {
    return this.#retryMs
  }

  /** Size of the incomplete event. */
  get bufferedBytes(): number {
    return Math.min(this.#lineBytes, this.#limit) + (this.#dataBytes > this.#limit ? 0 : this.#dataBytes)
  }

  push(chunk: Buffer): ServerEvent[] {
    const events: ServerEvent[] = []
    let start = 0
    let lf = -2
    let cr = -2
    if (this.#isAfterReturn && chunk.length > 0) {
      this.#isAfterReturn = false
      if (chunk[0] === lineFeed) start = 1
    }
    while (start < chunk.length) {
      // Searches for the next LF or CR only after passing the previous one, so that a chunk is searched once.
      if (lf !== -1 && lf < start) lf = chunk.indexOf(lineFeed, start)
      if (cr !== -1 && cr < start) cr = chunk.indexOf(carriageReturn, start)
      const end = lf === -1 ? cr : cr === -1 ? lf : Math.min(lf, cr)
      this.#append(end === -1 ? chunk.subarray(start) : chunk.subarray(start, end))
      if (end === -1) break
      this.#endLine(events)
      start = end + 1
      if (end !== cr) continue
      if (start === chunk.length) this.#isAfterReturn = true
      else if (chunk[start] === lineFeed) start += 1
    }
    return events
  }

  #append(chunk: Buffer): void {
    this.#lineBytes += chunk.length
    // The first chunk contains the field name, so it is always stored.
    if (chunk.length > 0 && (this.#line.length === 0 || this.#lineBytes <= this.#limit + 64))
      this.#line.push(chunk)
  }

  #endLine(events: ServerEvent[]): void {
    let line = concat(this.#line)
    let size = this.#lineBytes
    this.#line = []
    this.#lineBytes = 0
    if (this.#isAtStart && line.subarray(0, 3).equals(byteOrderMark)) {
      line = line.subarray(3)
      size -= 3
    }
    this.#isAtStart = false
    if (size === 0) this.#dispatch(events)
    else this.#handleField(line, size)
  }

  #handleField(line: Buffer, size: number): void {
    const at = line.indexOf(colon)
    if (at === 0) return
    const name = line.toString('latin1', 0, at === -1 ? Math.min(line.length, 16) : at)
    const from = at === -1 ? line.length : line[at + 1] === space ? at + 2 : at + 1
    if (name === 'data') this.#addData(line.subarray(from), size - from)
    else if (name === 'event') this.#type = line.toString('utf8', from)
    else if (name === 'id' && !line.includes(0, from)) this.#idBuffer = line.toString('utf8', from)
    else if (name === 'retry') this.#setRetry(line.toString('latin1', from))
  }

  #addData(value: Buffer, size: number): void {
    this.#dataBytes += size + (this.#hasData ? 1 : 0)
    if (this.#dataBytes > this.#limit) this.#data = []
    else this.#data.push(...(this.#hasData ? [newline, value] : [value]))
    this.#hasData = true
  }

  #setRetry(text: string): void {
    if (/^\d{1,9}$/.test(text)) this.#retryMs = Number(text)
  }

  /** An event without data (a priming event) only sets the last event id. */
  #dispatch(events: ServerEvent[]): void {
    this.#id = this.#idBuffer
    const size = this.#dataBytes
    if (size > 0) {
      const data = size > this.#limit ? undefined : concat(this.#data)
      events.push({ type: this.#type || 'message', id: this.#id, data, size })
    }
    this.#data = []
    this.#dataBytes = 0
    this.#hasData = false
    this.#type = ''
  }
}
