import { decodeLsa, type Embedder, openEndpoint, openLsa, type WantedSpace } from '@causeway/embed'

export type EmbeddingSettings =
  | { readonly provider: 'none' }
  | { readonly provider: 'lsa' }
  | {
      readonly provider: 'openai'
      readonly baseUrl: string
      readonly model: string
      readonly dimensions: number
      readonly requestDimensions: boolean
      readonly apiKey?: string | undefined
    }

/** 256 dimensions do not improve results. */
export const lsaDimensions = 128

/** Each LSA training creates its own space, and any stored LSA space is valid. */
export const getWantedSpace = (settings: EmbeddingSettings): WantedSpace =>
  settings.provider === 'openai'
    ? { provider: 'openai', model: settings.model, dimensions: settings.dimensions }
    : { provider: settings.provider }

const queryTimeoutMs = 5000

/** Returns `undefined` if no embedder is configured or the LSA model is missing. Throws `EMBEDDINGS_INVALID`. */
export function openEmbedder(
  settings: EmbeddingSettings,
  model: Uint8Array | undefined,
): Embedder | undefined {
  if (settings.provider === 'openai')
    return openEndpoint({ ...settings, maxAttempts: 1, timeoutMs: queryTimeoutMs })
  if (settings.provider === 'none' || model === undefined) return undefined
  return openLsa(decodeLsa(model))
}
