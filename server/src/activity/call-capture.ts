import type { AuditEntry } from '../audit/audit-entry.ts'

/** JSON text, or only its length if it is too long to be kept. */
export interface CapturedJson {
  readonly chars: number
  readonly json?: string
}

/** What a call received and returned. */
export interface CapturedCall {
  readonly arguments: CapturedJson
  /** The MCP result, or the error object of a failed call. */
  readonly answer: CapturedJson
}

/** The session whose calls are captured. */
export interface CaptureState {
  readonly session: string
  /** Unix time in milliseconds. */
  readonly until_ms: number
  readonly calls: number
}

const maxCalls = 100
const durationMs = 10 * 60 * 1000
const maxChars = 100_000

/**
 * Keeps arguments and answers of the calls of one session, which belong to other people: in memory only, after a person started it, for
 * ten minutes and at most the last 100 calls. At the end they are deleted.
 */
export class CallCapture {
  readonly #now: () => number
  /** By request id, the oldest first. */
  readonly #calls = new Map<string, CapturedCall>()
  #session: string | undefined
  #untilMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** `null` if nothing is captured. */
  get state(): CaptureState | null {
    const session = this.#runningSession()
    return session === undefined ? null : { session, until_ms: this.#untilMs, calls: this.#calls.size }
  }

  /** Starts with no calls. A capture of another session ends. */
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

  /** Keeps a call if its session is captured. */
  add({ session, request_id }: Pick<AuditEntry, 'session' | 'request_id'>, args: unknown, answer: unknown) {
    if (this.#session === undefined || session !== this.#runningSession()) return
    this.#calls.delete(request_id)
    this.#calls.set(request_id, { arguments: toCapturedJson(args), answer: toCapturedJson(answer) })
    if (this.#calls.size > maxCalls) this.#calls.delete(this.#calls.keys().next().value as string)
  }

  find(requestId: string): CapturedCall | undefined {
    return this.#runningSession() === undefined ? undefined : this.#calls.get(requestId)
  }

  /** The timer may be late, because it does not run while the machine sleeps. */
  #runningSession(): string | undefined {
    if (this.#session !== undefined && this.#now() >= this.#untilMs) this.stop()
    return this.#session
  }
}

function toCapturedJson(value: unknown): CapturedJson {
  const json = JSON.stringify(value) ?? 'null'
  return json.length > maxChars ? { chars: json.length } : { chars: json.length, json }
}
