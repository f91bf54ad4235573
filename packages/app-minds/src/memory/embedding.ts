/** Vectors of memories and questions: by the space that this server has for all minds, each text once. */

import { createHash } from 'node:crypto'
import { decodeLsa, type Embedder, openEndpoint, openLsa, vectorBytes } from '@causeway/embed'
import { asCausewayError, CausewayError, isCausewayError } from '@causeway/protocol'
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

/**
 * The space of everyday language. Its id holds the hash of its texts, so it is known before the model is there: that is
 * trained in a worker while the server starts, waited for by the first vectors, and kept in the data file.
 */
function everydayEmbedding(store: ModelStore): Embedding {
  const texts = createHash('sha256').update(everydayLanguage.join('\n')).digest('hex').slice(0, 16)
  const id = `everyday-${everydayDimensions}-${texts}`
  const train = async (): Promise<Embedding> =>
    embeddingOver(openLsa(decodeLsa(await everydayModel(id, store))))
  let trained = train()
  // Whoever asks first is told of a failure; the next one tries anew.
  trained.catch(() => {})
  return {
    id,
    name: `lsa everyday language, ${everydayDimensions} dimensions`,
    width: everydayDimensions,
    async vectors(given, signal) {
      const space = await trained.catch((error: unknown) => {
        trained = train()
        trained.catch(() => {})
        throw new CausewayError(
          'EMBEDDING_ERROR',
          `the space of memories: ${asCausewayError(error).message}`,
          {
            cause: error,
          },
        )
      })
      return space.vectors(given, signal)
    },
    close: () =>
      trained.then(
        (space) => space.close(),
        () => {},
      ),
  }
}

/** The model as it was kept, else trained now and kept. */
async function everydayModel(name: string, store: ModelStore): Promise<Uint8Array> {
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
    name: `${space.provider} ${space.model}, ${space.dimensions} dimensions`,
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
