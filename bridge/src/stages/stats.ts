import { createHistogram } from 'node:perf_hooks'
import { asObject, isId } from '@causeway/protocol'
import { readEnvelope } from '../stdio/envelope.ts'
import { parsed } from '../stdio/json.ts'
import type { Stage } from './stage.ts'

/** Ten hours. */
const maxDurationUs = 3.6e10

/** Never part of a string: quotes in strings are escaped. */
const toolErrorMark = Buffer.from('"isError":true')

export class Stats {
  readonly #now: () => number
  readonly #start: number
  /** Durations in microseconds. */
  readonly #durations = createHistogram({ highest: maxDurationUs, figures: 2 })
  readonly #inFlight = new Map<string, number>()
  #calls = 0
  #errors = 0
  #sessions = 0
  #bytesIn = 0
  #bytesOut = 0

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now
    this.#start = now()
  }

  readonly stage: Stage = ({ toServer, toClient }) => ({
    toServer: (line) => {
      this.#countLine(line)
      toServer(line)
    },
    toClient: (json) => {
      this.#countMessage(json)
      toClient(json)
    },
  })

  /** Each session after the first counts as a reconnect. */
  sessionOpened(): void {
    this.#sessions += 1
  }

  line(): string {
    const ms = (percentile: number): string =>
      this.#durations.count === 0 ? '-' : formatMs(this.#durations.percentile(percentile) / 1000)
    return [
      `${this.#calls} calls, ${this.#errors} errors, ${this.#inFlight.size} in flight`,
      `p50 ${ms(50)} ms, p95 ${ms(95)} ms`,
      `${this.#bytesIn} bytes from the client, ${this.#bytesOut} bytes to the client`,
      `${Math.max(0, this.#sessions - 1)} reconnects, ${Math.round((this.#now() - this.#start) / 1000)} s`,
    ].join(', ')
  }

  #countLine(line: Buffer): void {
    this.#bytesIn += line.length
    const { kind, id } = readEnvelope(line) ?? {}
    if (kind === 'request') {
      this.#calls += 1
      this.#inFlight.set(JSON.stringify(id), this.#now())
    } else if (kind === 'notification' && line.includes('notifications/cancelled')) {
      const { requestId } = asObject(asObject(parsed(line)).params)
      if (isId(requestId)) this.#inFlight.delete(JSON.stringify(requestId))
    }
  }

  #countMessage(json: Buffer): void {
    this.#bytesOut += json.length
    const response = readResponse(json)
    const startedAt = response && this.#inFlight.get(response.id)
    if (response === undefined || startedAt === undefined) return
    this.#inFlight.delete(response.id)
    const durationUs = Math.round((this.#now() - startedAt) * 1000)
    this.#durations.record(Math.min(maxDurationUs, Math.max(1, durationUs)))
    if (response.isError || json.includes(toolErrorMark)) this.#errors += 1
  }
}

const idFirst = /^\{"jsonrpc":"2\.0","id":("[ !#-[\]-~]*"|-?\d+),"result":/
const idLast = /,"jsonrpc":"2\.0","id":("[ !#-[\]-~]*"|-?\d+)\}$/
const resultFirst = '{"result":'
const edgeBytes = 256

/** Longer results of a common shape are not parsed. */
const longBytes = 64 * 1024

/** Returns the id as JSON text; `undefined` for messages that are not responses. */
function readResponse(json: Buffer): { id: string; isError: boolean } | undefined {
  if (json.length > longBytes) {
    const head = json.toString('latin1', 0, edgeBytes)
    const tail = head.startsWith(resultFirst) ? json.toString('latin1', json.length - edgeBytes) : ''
    const id = idFirst.exec(head)?.[1] ?? idLast.exec(tail)?.[1]
    if (id !== undefined) return { id, isError: false }
  }
  const { kind, id, hasResult } = readEnvelope(json) ?? {}
  return kind === 'response' ? { id: JSON.stringify(id), isError: !hasResult } : undefined
}

/** Three significant digits, or whole milliseconds. */
function formatMs(ms: number): string {
  return ms < 100 ? ms.toPrecision(3) : String(Math.round(ms))
}
