import type { CallRecord } from './types.ts'

const maxRows = 10_000
const rateWindowSeconds = 60

/** The newest received calls, at most 11,000, and counters of all. */
export class CallLog {
  /** Oldest first. */
  readonly #rows: CallRecord[] = []
  readonly #knownKeys = new Set<string>()
  /** Calls by second of Unix time. */
  readonly #rates = new Map<number, { calls: number; errors: number }>()
  #totalCount = 0
  #errorCount = 0
  #missedCount = 0

  get total(): number {
    return this.#totalCount
  }

  get errors(): number {
    return this.#errorCount
  }

  get missed(): number {
    return this.#missedCount
  }

  /** Adds calls, oldest first. Ignores calls that are stored already. */
  add(calls: readonly CallRecord[], missed = 0): void {
    this.#missedCount += missed
    for (const call of calls) {
      const key = toKey(call)
      if (this.#knownKeys.has(key)) continue
      this.#knownKeys.add(key)
      this.#rows.push(call)
      this.#totalCount += 1
      if (!call.success) this.#errorCount += 1
      this.#countRate(call)
    }
    // Removes calls in batches, because each removal moves all remaining calls.
    const excessCount = this.#rows.length - maxRows
    if (excessCount > maxRows / 10)
      for (const removedCall of this.#rows.splice(0, excessCount)) this.#knownKeys.delete(toKey(removedCall))
  }

  find(matches: (call: CallRecord) => boolean): readonly CallRecord[] {
    return this.#rows.filter(matches).reverse()
  }

  has(call: CallRecord): boolean {
    return this.#knownKeys.has(toKey(call))
  }

  /** Merges calls of the audit into rows of `find`. Both are newest first. */
  merge(rows: readonly CallRecord[], auditedCalls: readonly CallRecord[]): readonly CallRecord[] {
    const missingCalls = auditedCalls.filter((call) => !this.has(call))
    if (missingCalls.length === 0) return rows
    const mergedCalls: CallRecord[] = []
    let at = 0
    for (const row of rows) {
      for (; (missingCalls[at]?.timestamp ?? '') > row.timestamp; at++)
        mergedCalls.push(missingCalls[at] as CallRecord)
      mergedCalls.push(row)
    }
    return [...mergedCalls, ...missingCalls.slice(at)]
  }

  /** Returns the calls and errors of each of the last 60 s, oldest first. `now` is Unix time in ms. */
  getRates(now: number): readonly { readonly calls: number; readonly errors: number }[] {
    const lastSecond = Math.floor(now / 1000)
    for (const second of this.#rates.keys())
      if (second <= lastSecond - rateWindowSeconds) this.#rates.delete(second)
    return Array.from(
      { length: rateWindowSeconds },
      (_, at) => this.#rates.get(lastSecond - rateWindowSeconds + 1 + at) ?? { calls: 0, errors: 0 },
    )
  }

  #countRate({ timestamp, success }: CallRecord): void {
    const second = Math.floor(Date.parse(timestamp) / 1000)
    const rate = this.#rates.get(second) ?? { calls: 0, errors: 0 }
    rate.calls += 1
    if (!success) rate.errors += 1
    this.#rates.set(second, rate)
  }
}

const toKey = ({ timestamp, toolName, metadata }: CallRecord): string =>
  `${metadata.request_id} ${toolName} ${timestamp}`
