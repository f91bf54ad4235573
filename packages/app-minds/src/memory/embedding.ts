import { type Embedder, encodeVector } from '@causeway/embed'
import { asCausewayError, isCausewayError } from '@causeway/protocol'
import { MindsError } from '../errors.ts'

interface VectorSpace {
  /** Identifier of the vector space, stored with each vector. Only vectors of the same space are comparable. */
  readonly id: string
  /** Display name, for example `lsa everyday language, 96 dimensions`. */
  readonly name: string
  readonly width: number
}

type OpenEmbedder = (signal: AbortSignal) => Promise<Embedder>

const maxEntries = 16_384

/** The vector space of all minds. Opens its embedder on first use and caches vectors. */
export class Embedding implements VectorSpace {
  readonly id: string
  readonly name: string
  readonly width: number
  readonly #open: OpenEmbedder
  readonly #closing = new AbortController()
  readonly #vectors = new Map<string, Float32Array | undefined>()
  #opening: Promise<Embedder> | undefined
  #bytes = 0

  /** The signal that `open` receives aborts when the embedding closes. */
  constructor({ id, name, width }: VectorSpace, open: OpenEmbedder) {
    this.id = id
    this.name = name
    this.width = width
    this.#open = open
  }

  /**
   * Returns one result per text: the vector, or `undefined` for a zero vector. Throws `EMBEDDING_ERROR`, for example
   * after `timeoutMs`.
   */
  async computeVectors(
    texts: readonly string[],
    timeoutMs?: number,
  ): Promise<readonly (Float32Array | undefined)[]> {
    const missingTexts = [...new Set(texts.filter((text) => !this.#vectors.has(text)))]
    const newVectors = missingTexts.length === 0 ? [] : await this.#embed(missingTexts, timeoutMs)
    const newVectorsByText = new Map(missingTexts.map((text, index) => [text, newVectors[index]]))
    const vectors = texts.map((text) =>
      newVectorsByText.has(text) ? newVectorsByText.get(text) : this.#vectors.get(text),
    )
    for (const [text, vector] of newVectorsByText) this.#add(text, vector)
    return vectors
  }

  bytes(): number {
    return this.#bytes
  }

  shrink(bytes: number): number {
    const initialBytes = this.#bytes
    for (const text of [...this.#vectors.keys()]) if (initialBytes - this.#bytes < bytes) this.#evict(text)
    return initialBytes - this.#bytes
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const embedder = await this.#opening?.catch(() => undefined)
    await embedder?.close()
  }

  async #embed(texts: readonly string[], timeoutMs: number | undefined) {
    const embedder = await this.#getEmbedder()
    try {
      const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
      return await embedder.embedDocuments(texts, { signal })
    } catch (error) {
      if (!isCausewayError(error)) throw error
      throw new MindsError('EMBEDDING_ERROR', error.message, { remedy: error.remedy, cause: error })
    }
  }

  async #getEmbedder(): Promise<Embedder> {
    this.#opening ??= this.#open(this.#closing.signal)
    const opening = this.#opening
    try {
      return await opening
    } catch (error) {
      // The next call retries.
      if (this.#opening === opening) this.#opening = undefined
      const { message } = asCausewayError(error)
      throw new MindsError('EMBEDDING_ERROR', `the vector space of memories: ${message}`, { cause: error })
    }
  }

  #add(text: string, vector: Float32Array | undefined): void {
    this.#evict(text)
    this.#vectors.set(text, vector)
    this.#bytes += measureEntry(text, vector)
    const [oldestText] = this.#vectors.keys()
    if (this.#vectors.size > maxEntries && oldestText !== undefined) this.#evict(oldestText)
  }

  #evict(text: string): void {
    if (!this.#vectors.has(text)) return
    this.#bytes -= measureEntry(text, this.#vectors.get(text))
    this.#vectors.delete(text)
  }
}

const measureEntry = (text: string, vector: Float32Array | undefined): number =>
  text.length + (vector?.byteLength ?? 0) + 150

export const packVector = (vector: Float32Array | undefined): Uint8Array | null =>
  vector === undefined ? null : encodeVector(vector)
