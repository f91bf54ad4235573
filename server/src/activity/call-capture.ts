import type { AuditEntry } from '../audit/audit-entry.ts'

/** JSON text, or only its length if it is too long. */
export interface CapturedJson {
  /** Length of the JSON, or of an answer's text if the answer is too long. */
  readonly chars: number
  readonly json?: string
}

interface CapturedCall {
  readonly arguments: CapturedJson
  /** The MCP result, or the error object of a failed call. */
  readonly answer: CapturedJson
}

interface CaptureState {
  readonly session: string
  /** Unix milliseconds. */
  readonly until_ms: number
  readonly calls: number
}

type CapturedEntry = Pick<AuditEntry, 'session' | 'request_id' | 'answer_chars'>

const maxCalls = 100
const durationMs = 10 * 60 * 1000
const maxChars = 100_000

/**
 * Stores the last 100 calls of one session in memory, for ten minutes. A person must start the capture, because
 * calls can be private.
 */
export class CallCapture {
  readonly #now: () => number
  /** By request id, oldest first. */
  readonly #calls = new Map<string, CapturedCall>()
  #session: string | undefined
  #untilMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  get state(): CaptureState | null {
    const session = this.#getCapturedSession()
    return session === undefined ? null : { session, until_ms: this.#untilMs, calls: this.#calls.size }
  }

  start(session: string): void {
    this.stop()
    this.#session = session
    this.#untilMs = this.#now() + durationMs
    this.#timer = setTimeout(() => this.stop(), durationMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#session = undefined
    this.#calls.clear()
  }

  add({ session, request_id, answer_chars }: CapturedEntry, args: unknown, answer: unknown): void {
    if (this.#session === undefined || session !== this.#getCapturedSession()) return
    this.#calls.delete(request_id)
    this.#calls.set(request_id, {
      arguments: toCapturedJson(args),
      // Converting a long answer to JSON would block the event loop.
      answer: (answer_chars ?? 0) > maxChars ? { chars: answer_chars as number } : toCapturedJson(answer),
    })
    if (this.#calls.size > maxCalls) this.#calls.delete(this.#calls.keys().next().value as string)
  }

  find(requestId: string): CapturedCall | undefined {
    return this.#getCapturedSession() === undefined ? undefined : this.#calls.get(requestId)
  }

  /** Also stops an expired capture, because timers do not run while the machine sleeps. */
  #getCapturedSession(): string | undefined {
    if (this.#session !== undefined && this.#now() >= this.#untilMs) this.stop()
    return this.#session
  }
}

function toCapturedJson(value: unknown): CapturedJson {
  const json = JSON.stringify(value) ?? 'null'
  return json.length > maxChars ? { chars: json.length } : { chars: json.length, json }
}
