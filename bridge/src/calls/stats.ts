import { createHistogram } from 'node:perf_hooks'
import type { Id } from '@causeway/protocol'
import type { Stage } from '../stages/stage.ts'
import { isOwnId } from '../stdio/message.ts'

const maxDurationUs = 3.6e10

/** Cannot occur within a string, where quotes are escaped. */
const toolErrorBytes = Buffer.from('"isError":true')

/** Excludes the bridge's own calls. */
export class Stats {
  readonly #now: () => number
  readonly #start: number
  /** In microseconds. */
  readonly #durations = createHistogram({ highest: maxDurationUs, figures: 2 })
  #calls = 0
  #errors = 0
  #sessions = 0
  #bytesIn = 0
  #bytesOut = 0

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now
    this.#start = now()
  }

  readonly stage: Stage = ({ toServer, toClient }) => ({
    toServer: (line) => {
      this.#bytesIn += line.length
      toServer(line)
    },
    toClient: (json) => {
      this.#bytesOut += json.length
      toClient(json)
    },
  })

  /** Counts the client's calls. Returns their start time. */
  countCalls(ids: Iterable<Id>): number {
    for (const id of ids) if (!isOwnId(id)) this.#calls += 1
    return this.#now()
  }

  countResponse(
    id: Id,
    { json, hasResult }: { readonly json: Buffer; readonly hasResult: boolean },
    startedAt: number,
  ): void {
    if (isOwnId(id)) return
    const durationUs = Math.round((this.#now() - startedAt) * 1000)
    this.#durations.record(Math.min(maxDurationUs, Math.max(1, durationUs)))
    if (!hasResult || json.includes(toolErrorBytes)) this.#errors += 1
  }

  countSession(): void {
    this.#sessions += 1
  }

  format(inFlight: Iterable<Id>): string {
    const formatPercentile = (percentile: number): string =>
      this.#durations.count === 0 ? '-' : formatMs(this.#durations.percentile(percentile) / 1000)
    const clientCalls = [...inFlight].filter((id) => !isOwnId(id))
    return [
      `${this.#calls} calls, ${this.#errors} errors, ${clientCalls.length} in flight`,
      `p50 ${formatPercentile(50)} ms, p95 ${formatPercentile(95)} ms`,
      `${this.#bytesIn} bytes from the client, ${this.#bytesOut} bytes to the client`,
      `${Math.max(0, this.#sessions - 1)} reconnects, ${Math.round((this.#now() - this.#start) / 1000)} s`,
    ].join(', ')
  }
}

function formatMs(ms: number): string {
  return ms < 100 ? ms.toPrecision(3) : String(Math.round(ms))
}
