import { openEndpoint } from '@causeway/embed'
import { CachedEmbedding, type Embedding } from './embedding.ts'
import { EverydayEmbedding, type ModelStore } from './everyday-embedding.ts'

interface EmbeddingOptions {
  readonly url?: string | undefined
  readonly model?: string | undefined
  readonly dimensions?: number | undefined
  readonly apiKey?: string | undefined
}

/** Opens the vector space of an endpoint or, without a URL, of everyday language. */
export function openEmbedding(
  { url, model, dimensions, apiKey }: EmbeddingOptions,
  store: ModelStore,
): Embedding {
  if (url === undefined) return new EverydayEmbedding(store)
  return new CachedEmbedding(
    openEndpoint({
      baseUrl: url,
      model: model ?? 'text-embedding-3-small',
      dimensions: dimensions ?? 1536,
      apiKey,
      timeoutMs: 10_000,
      tries: 2,
    }),
  )
}
