/** Which vectors the settings ask for. */
import { decodeLsa, type Embedder, openEndpoint, openLsa, type WantedSpace } from '@causeway/embed'

/** Where vectors come from; plain data, so that a worker can be told. */
export type EmbeddingSettings =
  | { readonly provider: 'none' }
  | { readonly provider: 'lsa' }
  | {
      readonly provider: 'openai'
      readonly baseUrl: string
      readonly model: string
      readonly dimensions: number
      /** True where the endpoint is asked for this many dimensions. */
      readonly requestDimensions: boolean
      readonly apiKey?: string | undefined
    }

/** Components of a vector of the analysis of the corpus: 128 is measured to find as much as 256. */
export const lsaDimensions = 128

/** The vectors that the settings ask for. Each training on the corpus is a space of its own, and the stored one is the right one. */
export const wantedSpace = (settings: EmbeddingSettings): WantedSpace =>
  settings.provider === 'openai'
    ? { provider: 'openai', model: settings.model, dimensions: settings.dimensions }
    : { provider: settings.provider }

/** One attempt of a question at an endpoint, ms: beyond that the words alone are the better answer. */
const questionMs = 5000

/** An embedder for questions to stored vectors; undefined where none is configured. Throws `EMBEDDINGS_INVALID`. */
export function openEmbedder(
  settings: EmbeddingSettings,
  model: Uint8Array | undefined,
): Embedder | undefined {
  if (settings.provider === 'openai') return openEndpoint({ ...settings, tries: 1, timeoutMs: questionMs })
  if (settings.provider === 'none' || model === undefined) return undefined
  return openLsa(decodeLsa(model))
}
