import { type Embedder, EmbedError } from '@causeway/embed'
import type { CausewayError } from '@causeway/protocol'

const cooldownMs = 30_000

/** An embedder that does not call an endpoint that failed recently. */
export class CooldownEmbedder implements Embedder {
  readonly space: Embedder['space']
  readonly #embedder: Embedder
  readonly #now: () => number
  #failure: CausewayError | undefined
  #failedUntil = 0

  constructor(embedder: Embedder, now: () => number) {
    this.space = embedder.space
    this.#embedder = embedder
    this.#now = now
  }

  embedDocuments(texts: readonly string[], options?: Parameters<Embedder['embedQuery']>[1]) {
    return this.#embedder.embedDocuments(texts, options)
  }

  async embedQuery(
    text: string,
    options?: Parameters<Embedder['embedQuery']>[1],
  ): Promise<Float32Array | undefined> {
    if (this.#failure !== undefined && this.#now() < this.#failedUntil) throw this.#failure
    try {
      const vector = await this.#embedder.embedQuery(text, options)
      this.#failure = undefined
      return vector
    } catch (error) {
      if (EmbedError.is(error, 'EMBEDDINGS_UNAVAILABLE')) {
        this.#failure = error
        this.#failedUntil = this.#now() + cooldownMs
      }
      throw error
    }
  }

  close(): Promise<void> {
    return this.#embedder.close()
  }
}
