import { type CallOptions, SharedCalls } from '@causeway/worker'

/** LRU cache of the analyses of one recording. */
export class ResultCache {
  readonly #maxResults: number
  readonly #results = new Map<string, { readonly result: unknown; readonly bytes: number }>()
  readonly #calls = new SharedCalls<unknown>()
  #bytes = 0

  constructor(maxResults = 16) {
    this.#maxResults = maxResults
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Runs `work` once for all callers that wait for a key. */
  async get(
    key: string,
    work: (options: Required<CallOptions>) => Promise<unknown>,
    options: CallOptions,
  ): Promise<unknown> {
    const cached = this.#results.get(key)
    if (cached !== undefined) {
      this.#results.delete(key)
      this.#results.set(key, cached)
      return cached.result
    }
    const result = await this.#calls.run(key, work, options)
    if (!this.#results.has(key)) {
      const entry = { result, bytes: estimateBytes(result) }
      this.#results.set(key, entry)
      this.#bytes += entry.bytes
      if (this.#results.size > this.#maxResults) this.#evictOldest()
    }
    return result
  }

  shrink(bytes: number): number {
    let releasedBytes = 0
    while (releasedBytes < bytes && this.#results.size > 0) releasedBytes += this.#evictOldest()
    return releasedBytes
  }

  #evictOldest(): number {
    const [oldest] = this.#results
    if (oldest === undefined) return 0
    const [key, { bytes }] = oldest
    this.#results.delete(key)
    this.#bytes -= bytes
    return bytes
  }
}

/** Assumes 8 bytes per number, 1 per character, plus the overhead of containers. */
export function estimateBytes(data: unknown): number {
  if (typeof data === 'string') return 16 + data.length
  if (ArrayBuffer.isView(data)) return 64 + data.byteLength
  if (Array.isArray(data)) return data.reduce<number>((sum, item) => sum + estimateBytes(item), 16)
  if (typeof data !== 'object' || data === null) return 8
  return Object.values(data).reduce<number>((sum, item) => sum + estimateBytes(item), 24)
}
