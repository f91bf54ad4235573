/** Which space the vectors of memories are of: that of an endpoint, or of everyday language. */
import { openEndpoint } from '@causeway/embed'
import { type Embedding, embeddingOver } from './embedding.ts'
import { everydayEmbedding, type ModelStore } from './everyday-embedding.ts'

/** What vectors are made with. */
export interface EmbeddingOptions {
  readonly url?: string | undefined
  readonly model?: string | undefined
  readonly dimensions?: number | undefined
  readonly apiKey?: string | undefined
}

/** Opens the space: an endpoint where one is set, else the analysis of everyday language that comes with this package. */
export function openEmbedding(
  { url, model, dimensions, apiKey }: EmbeddingOptions,
  store: ModelStore,
): Embedding {
  if (url === undefined) return everydayEmbedding(store)
  return embeddingOver(
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
