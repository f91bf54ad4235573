import type { EmbeddingSpace } from './space.ts'

/** What a call to an embedder may use. */
export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined
  /** Called after each batch with the texts done and in all. */
  readonly progress?: ((done: number, total: number) => void) | undefined
}

/**
 * Makes vectors of texts, all of one space. A vector has length 1 and `space.dimensions` components; it is undefined
 * for a text that has no direction there, such as one without any known word.
 */
export interface Embedder {
  readonly space: EmbeddingSpace
  /** One vector for each text, in order. Throws `EMBEDDINGS_UNAVAILABLE`, `EMBEDDINGS_INVALID`, `CANCELLED`. */
  embedDocuments(
    texts: readonly string[],
    options?: EmbedOptions,
  ): Promise<readonly (Float32Array | undefined)[]>
  /** The vector of a question. Throws as `embedDocuments`. */
  embedQuery(text: string, options?: EmbedOptions): Promise<Float32Array | undefined>
  close(): Promise<void>
}
