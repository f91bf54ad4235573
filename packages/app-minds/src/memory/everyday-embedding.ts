/**
 * The space of everyday language. Its id is known before its model is there: it holds the hash of the texts that the model
 * is trained on. The model itself is trained once for a data file and kept in it, so that all vectors of a file are of one
 * model, whatever a later version of the training would make of the same texts.
 */
import { createHash } from 'node:crypto'
import { decodeLsa, openLsa } from '@causeway/embed'
import { asCausewayError, CausewayError } from '@causeway/protocol'
import { startWorker, workerFile } from '@causeway/worker'
import { type Embedding, embeddingOver } from './embedding.ts'
import { everydayDimensions, everydayLanguage } from './everyday-language.ts'
import type { SearchMethods } from './search-methods.ts'

/** Where the trained model is kept between starts. */
export interface ModelStore {
  model(name: string): Promise<Uint8Array | undefined>
  keepModel(name: string, bytes: Uint8Array): Promise<void>
}

/** Opens the space at once; its model is read, or trained in a worker, for the first vectors: a server without minds does neither. */
export function everydayEmbedding(store: ModelStore): Embedding {
  const texts = createHash('sha256').update(everydayLanguage.join('\n')).digest('hex').slice(0, 16)
  const id = `everyday-${everydayDimensions}-${texts}`
  const stopping = new AbortController()
  const begin = (): Promise<Embedding> =>
    modelOf(id, store, stopping.signal).then((bytes) => embeddingOver(openLsa(decodeLsa(bytes))))
  /** The space on its way, and once it is there. */
  const state: { coming?: Promise<Embedding> | undefined; space?: Embedding } = {}
  return {
    id,
    name: `lsa everyday language, ${everydayDimensions} dimensions`,
    width: everydayDimensions,
    async vectors(given, withinMs) {
      state.coming ??= begin()
      const own = state.coming
      const space = await own.catch((error: unknown) => {
        // All who waited for it are told; the next one who asks begins another attempt.
        if (state.coming === own) state.coming = undefined
        const { message } = asCausewayError(error)
        throw new CausewayError('EMBEDDING_ERROR', `the space of memories: ${message}`, { cause: error })
      })
      state.space = space
      return space.vectors(given, withinMs)
    },
    bytes: () => state.space?.bytes() ?? 0,
    shrink: (bytes) => state.space?.shrink(bytes) ?? 0,
    async close() {
      stopping.abort()
      const space = await state.coming?.catch(() => undefined)
      await space?.close()
    },
  }
}

/** The model as it was kept, else trained now and kept. */
async function modelOf(name: string, store: ModelStore, signal: AbortSignal): Promise<Uint8Array> {
  const known = await store.model(name)
  if (known !== undefined) return known
  const link = startWorker<SearchMethods>(workerFile('../search-worker', import.meta.url), {
    name: 'the worker that trains the space of memories',
  })
  try {
    const bytes = await link.call('train', undefined, { signal })
    await store.keepModel(name, bytes)
    return bytes
  } finally {
    await link.stop()
  }
}
