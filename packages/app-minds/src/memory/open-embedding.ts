import { type Env, numberSetting } from '@causeway/app-kit'
import { openEndpoint } from '@causeway/embed'
import { toText } from '../wire/validation.ts'
import { CachedEmbedding, type Embedding } from './embedding.ts'
import { EverydayEmbedding, type ModelStore } from './everyday-embedding.ts'

/** Opens the vector space of an endpoint or, without a URL, of everyday language. */
export function openEmbedding(settings: Env['settings'], store: ModelStore): Embedding {
  const url = toText(settings.mindsEmbeddingsUrl)
  if (url === undefined) return new EverydayEmbedding(store)
  return new CachedEmbedding(
    openEndpoint({
      baseUrl: url,
      model: toText(settings.mindsEmbeddingsModel) ?? 'text-embedding-3-small',
      dimensions: numberSetting(settings, 'mindsEmbeddingsDimensions') ?? 1536,
      apiKey: toText(settings.mindsEmbeddingsKey),
      timeoutMs: 10_000,
      tries: 2,
    }),
  )
}
