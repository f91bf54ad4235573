import { type Embedder, encodeVector } from '@causeway/embed'
import { isCausewayError } from '@causeway/protocol'
import { MindsError } from '../errors.ts'

/** The vector space of all minds. */
export interface Embedding {
  /** Identifier of the space, stored with each vector. Only vectors of one space are comparable. */
  readonly id: string
  /** Display name: `lsa everyday language, 96 dimensions`. */
  readonly name: string
  readonly width: number
  /** Returns a vector per text, `undefined` for a text without direction. Throws `EMBEDDING_ERROR`, also after `withinMs`. */
  vectors(texts: readonly string[], withinMs?: number): Promise<readonly (Float32Array | undefined)[]>
  /** Size of the cache in bytes. */
  bytes(): number
  shrink(bytes: number): number
  close(): Promise<void>
}

const maxEntries = 16_384

export class CachedEmbedding implements Embedding {
  readonly id: string
  readonly name: string
  readonly width: number
  readonly #embedder: Embedder
  readonly #vectors = new Map<string, Float32Array | undefined>()
  #bytes = 0

  constructor(embedder: Embedder) {
    const { fingerprint, provider, model, dimensions } = embedder.space
    this.id = fingerprint.slice(0, 32)
    this.name = `${provider} ${model}, ${dimensions} dimensions`
    this.width = dimensions
    this.#embedder = embedder
  }

  async vectors(texts: readonly string[], withinMs?: number) {
    const missing = [...new Set(texts.filter((text) => !this.#vectors.has(text)))]
    const made = missing.length === 0 ? [] : await this.#embed(missing, withinMs)
    const byText = new Map(missing.map((text, index) => [text, made[index]]))
    const vectors = texts.map((text) => (byText.has(text) ? byText.get(text) : this.#vectors.get(text)))
    for (const [text, vector] of byText) this.#add(text, vector)
    return vectors
  }

  bytes(): number {
    return this.#bytes
  }

  shrink(bytes: number): number {
    const before = this.#bytes
    for (const text of [...this.#vectors.keys()]) if (before - this.#bytes < bytes) this.#evict(text)
    return before - this.#bytes
  }

  close(): Promise<void> {
    return this.#embedder.close()
  }

  async #embed(texts: readonly string[], withinMs: number | undefined) {
    try {
      const signal = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs)
      return await this.#embedder.embedDocuments(texts, { signal })
    } catch (error) {
      if (!isCausewayError(error)) throw error
      throw new MindsError('EMBEDDING_ERROR', error.message, { remedy: error.remedy, cause: error })
    }
  }

  #add(text: string, vector: Float32Array | undefined): void {
    this.#evict(text)
    this.#vectors.set(text, vector)
    this.#bytes += entryBytes(text, vector)
    const [oldest] = this.#vectors.keys()
    if (this.#vectors.size > maxEntries && oldest !== undefined) this.#evict(oldest)
  }

  #evict(text: string): void {
    if (!this.#vectors.has(text)) return
    this.#bytes -= entryBytes(text, this.#vectors.get(text))
    this.#vectors.delete(text)
  }
}

const entryBytes = (text: string, vector: Float32Array | undefined): number =>
  text.length + (vector?.byteLength ?? 0) + 150

export const packVector = (vector: Float32Array | undefined): Uint8Array | null =>
  vector === undefined ? null : encodeVector(vector)
