import { createHash } from 'node:crypto'
import { decodeLsa, openLsa } from '@causeway/embed'
import { asCausewayError } from '@causeway/protocol'
import { resolveWorkerFile, WorkerLink } from '@causeway/worker'
import { MindsError } from '../errors.ts'
import { CachedEmbedding, type Embedding } from './embedding.ts'
import { everydayDimensions, everydayLanguage } from './everyday-language.ts'
import type { SearchMethods } from './search-worker.ts'

export interface ModelStore {
  model(name: string): Promise<Uint8Array | undefined>
  saveModel(name: string, bytes: Uint8Array): Promise<void>
}

/**
 * The vector space of everyday language. Reads or trains its model on first use. Each data file stores its
 * model, because a later version may train differently. The id contains the hash of the training texts.
 */
export class EverydayEmbedding implements Embedding {
  readonly id: string
  readonly name = `lsa everyday language, ${everydayDimensions} dimensions`
  readonly width = everydayDimensions
  readonly #store: ModelStore
  readonly #stopping = new AbortController()
  #opening: Promise<CachedEmbedding> | undefined
  #embedding: CachedEmbedding | undefined

  constructor(store: ModelStore) {
    const hash = createHash('sha256').update(everydayLanguage.join('\n')).digest('hex').slice(0, 16)
    this.id = `everyday-${everydayDimensions}-${hash}`
    this.#store = store
  }

  async vectors(texts: readonly string[], withinMs?: number) {
    this.#opening ??= this.#open()
    const opening = this.#opening
    this.#embedding = await opening.catch((error: unknown) => {
      // The next call retries.
      if (this.#opening === opening) this.#opening = undefined
      const { message } = asCausewayError(error)
      throw new MindsError('EMBEDDING_ERROR', `the vector space of memories: ${message}`, { cause: error })
    })
    return this.#embedding.vectors(texts, withinMs)
  }

  bytes(): number {
    return this.#embedding?.bytes() ?? 0
  }

  shrink(bytes: number): number {
    return this.#embedding?.shrink(bytes) ?? 0
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    const embedding = await this.#opening?.catch(() => undefined)
    await embedding?.close()
  }

  async #open(): Promise<CachedEmbedding> {
    const model = (await this.#store.model(this.id)) ?? (await this.#train())
    return new CachedEmbedding(openLsa(decodeLsa(model)))
  }

  async #train(): Promise<Uint8Array> {
    const link = new WorkerLink<SearchMethods>(resolveWorkerFile('search-worker', import.meta.url), {
      name: 'the worker that trains the vector space of memories',
    })
    try {
      const bytes = await link.call('train', undefined, { signal: this.#stopping.signal })
      await this.#store.saveModel(this.id, bytes)
      return bytes
    } finally {
      await link.stop()
    }
  }
}
