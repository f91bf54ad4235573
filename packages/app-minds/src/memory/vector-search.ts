import {
  initializeWorker,
  resolveWorkerFile,
  SharedWorker,
  WorkerLink,
  type WorkerMemory,
} from '@causeway/worker'
import type { Limits } from '../limits.ts'
import type { SearchMethods } from './search-worker.ts'
import { type LoadVectors, VectorCache, type VectorMatches, type VectorQuery } from './vector-cache.ts'

/** Searches vectors of small minds in this thread, and of large minds in a worker. */
export class VectorSearch {
  readonly cache: VectorCache
  readonly #worker: SharedWorker<SearchMethods>
  readonly #minWorkerMemories: number

  constructor(dir: string, load: LoadVectors, limits: Limits) {
    const maxBytes = limits.vector_cache_bytes
    this.cache = new VectorCache(load, maxBytes)
    this.#minWorkerMemories = limits.worker_search_from
    this.#worker = new SharedWorker<SearchMethods>(() => {
      const file = resolveWorkerFile('search-worker', import.meta.url)
      const link = new WorkerLink<SearchMethods>(file, { name: 'the worker that searches memories' })
      return initializeWorker(link, async () => {
        await link.call('open', { dir, maxBytes })
        return link
      })
    })
  }

  get worker(): WorkerMemory {
    return this.#worker.memory
  }

  async search(query: VectorQuery, memoryCount: number): Promise<VectorMatches> {
    if (memoryCount < this.#minWorkerMemories) return this.cache.search(query)
    this.cache.drop(query.mindSeq)
    return this.#worker.call('search', query)
  }

  /** Evicts a mind. Must be called after memories are removed or existing memories get vectors. */
  drop(mindSeq: number): void {
    this.cache.drop(mindSeq)
    void this.#worker.link?.call('drop', { mindSeq }).catch(() => {})
  }

  async close(): Promise<void> {
    await this.#worker.stop()
  }
}
