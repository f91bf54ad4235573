/** Vectors of memories and questions: by the space that this server has for all minds, each text once. */

import { createHash } from 'node:crypto'
import { decodeLsa, type Embedder, openEndpoint, openLsa, vectorBytes } from '@causeway/embed'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { startWorker, workerFile } from '@causeway/worker'
import { everydayDimensions, everydayLanguage } from './everyday-language.ts'
import type { SearchMethods } from './search-methods.ts'

/** What vectors are made with. */
export interface EmbeddingOptions {
  readonly url?: string | undefined
  readonly model?: string | undefined
  readonly dimensions?: number | undefined
  readonly apiKey?: string | undefined
}

/** Vectors by text. */
export interface Embedding {
  /** Which vectors may be compared; stored beside each. */
  readonly id: string
  /** For people: `lsa everyday language, 96 dimensions`. */
  readonly name: string
  readonly width: number
  /** One for each text; undefined where it has no direction. Throws `EMBEDDING_ERROR`. */
  vectors(texts: readonly string[], signal?: AbortSignal): Promise<readonly (Float32Array | undefined)[]>
  close(): Promise<void>
}

/** Vectors kept by text. */
const kept = 4096

/** Where the trained model is kept between starts. */
export interface ModelStore {
  model(name: string): Promise<Uint8Array | undefined>
  keepModel(name: string, bytes: Uint8Array): Promise<void>
}

/**
 * Opens the space: an endpoint where one is set, else the analysis of everyday language that comes with this package,
 * trained in a worker at the first start and kept in the data file.
 */
export async function openEmbedding(
  { url, model, dimensions, apiKey }: EmbeddingOptions,
  store: ModelStore,
): Promise<Embedding> {
  if (url === undefined) return embeddingOver(openLsa(decodeLsa(await everydayModel(store))))
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

/** The model of everyday language; its name holds the hash of its texts, so that changed texts are trained anew. */
async function everydayModel(store: ModelStore): Promise<Uint8Array> {
  const texts = createHash('sha256').update(everydayLanguage.join('\n')).digest('hex').slice(0, 16)
  const name = `everyday-${everydayDimensions}-${texts}`
  const known = await store.model(name)
  if (known !== undefined) return known
  const link = startWorker<SearchMethods>(workerFile('../search-worker', import.meta.url), {
    name: 'the worker that trains the space of memories',
  })
  try {
    const bytes = await link.call('train', undefined)
    await store.keepModel(name, bytes)
    return bytes
  } finally {
    await link.stop()
  }
}

/** Vectors of any embedder. */
export function embeddingOver(embedder: Embedder): Embedding {
  const { space } = embedder
  const known = new Map<string, Float32Array | undefined>()
  const keep = (text: string, vector: Float32Array | undefined): void => {
    known.set(text, vector)
    if (known.size > kept) known.delete(known.keys().next().value as string)
  }
  return {
    id: space.fingerprint.slice(0, 32),
    name: `${space.provider} ${space.provider === 'lsa' ? 'everyday language' : space.model}, ${space.dimensions} dimensions`,
    width: space.dimensions,
    async vectors(texts, signal) {
      const fresh = [...new Set(texts.filter((text) => !known.has(text)))]
      const made = fresh.length === 0 ? [] : await embed(embedder, fresh, signal)
      const byText = new Map(fresh.map((text, index) => [text, made[index]]))
      const answers = texts.map((text) => (byText.has(text) ? byText.get(text) : known.get(text)))
      for (const [text, vector] of byText) keep(text, vector)
      return answers
    },
    close: () => embedder.close(),
  }
}

/** The bytes of a vector for the data file, null where there is none. */
export const bytesOf = (vector: Float32Array | undefined): Uint8Array | null =>
  vector === undefined ? null : vectorBytes(vector)

async function embed(embedder: Embedder, texts: readonly string[], signal: AbortSignal | undefined) {
  try {
    return await embedder.embedDocuments(texts, { signal })
  } catch (error) {
    if (!isCausewayError(error)) throw error
    throw new CausewayError('EMBEDDING_ERROR', error.message, { remedy: error.remedy, cause: error })
  }
}
