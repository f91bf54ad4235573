import type { CallRecord } from './types.ts'

const maxRows = 10_000
const rateSeconds = 60

/** The newest received calls, at most 11,000, and counters of all. */
export class CallLog {
  /** Oldest first. */
  readonly #rows: CallRecord[] = []
  readonly #known = new Set<string>()
  /** Calls by second of Unix time. */
  readonly #rates = new Map<number, { calls: number; errors: number }>()
  #total = 0
  #errors = 0
  #missed = 0

  get total(): number {
    return this.#total
  }

  get errors(): number {
    return this.#errors
  }

  get missed(): number {
    return this.#missed
  }

  /** Adds calls, oldest first. Ignores calls that are stored already. */
  add(calls: readonly CallRecord[], missed = 0): void {
    this.#missed += missed
    for (const call of calls) {
      const key = toKey(call)
      if (this.#known.has(key)) continue
      this.#known.add(key)
      this.#rows.push(call)
      this.#total += 1
      if (!call.success) this.#errors += 1
      this.#countRate(call)
    }
    // Removes calls in batches, because each removal moves all remaining calls.
    const excess = this.#rows.length - maxRows
    if (excess > maxRows / 10) for (const old of this.#rows.splice(0, excess)) this.#known.delete(toKey(old))
  }

  find(matches: (call: CallRecord) => boolean): readonly CallRecord[] {
    return this.#rows.filter(matches).reverse()
  }

  has(call: CallRecord): boolean {
    return this.#known.has(toKey(call))
  }

  /** Merges calls of the audit into rows of `find`. Both are newest first. */
  merge(rows: readonly CallRecord[], audited: readonly CallRecord[]): readonly CallRecord[] {
    const others = audited.filter((call) => !this.has(call))
    if (others.length === 0) return rows
    const merged: CallRecord[] = []
    let at = 0
    for (const row of rows) {
      for (; (others[at]?.timestamp ?? '') > row.timestamp; at++) merged.push(others[at] as CallRecord)
      merged.push(row)
    }
    return [...merged, ...others.slice(at)]
  }

  /** Returns the calls and errors of each of the last 60 s, oldest first. `now` is Unix time in ms. */
  getRates(now: number): readonly { readonly calls: number; readonly errors: number }[] {
    const last = Math.floor(now / 1000)
    for (const second of this.#rates.keys()) if (second <= last - rateSeconds) this.#rates.delete(second)
    return Array.from(
      { length: rateSeconds },
      (_, at) => this.#rates.get(last - rateSeconds + 1 + at) ?? { calls: 0, errors: 0 },
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
