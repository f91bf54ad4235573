/** Searching vectors where it disturbs nobody: small minds here, big ones in a worker that starts when it is needed. */
import {
  inWorker,
  type RestingWorkers,
  restingWorkers,
  SharedWorker,
  startWorker,
  workerFile,
} from '@causeway/worker'
import type { Limits } from '../limits.ts'
import type { SearchMethods } from './search-methods.ts'
import { type LoadVectors, type VectorAnswer, type VectorQuestion, vectorCache } from './vector-cache.ts'

/** Searches vectors of any mind. */
export interface VectorSearch {
  search(question: VectorQuestion, memoryCount: number): Promise<VectorAnswer>
  /** To be called after memories were removed, or vectors added to old ones. */
  drop(mindSeq: number): void
  readonly bytes: number
  /** Forgets vectors of this thread until so many bytes are given back; gives the bytes. */
  shrink(bytes: number): number
  /** The memory of the worker. */
  readonly worker: RestingWorkers
  close(): Promise<void>
}

/** Opens the search over the data folder; `load` reads here, the worker reads by itself. */
export function openVectorSearch(dir: string, load: LoadVectors, limits: Limits): VectorSearch {
  const cache = vectorCache(load, limits.vector_cache_bytes)
  const worker = new SharedWorker<SearchMethods>(() =>
    inWorker(
      () =>
        startWorker<SearchMethods>(workerFile('../search-worker', import.meta.url), {
          name: 'the worker that searches memories',
        }),
      async (link) => {
        await link.call('open', { dir, mostBytes: limits.vector_cache_bytes })
        return link
      },
    ),
  )
  return {
    async search(question, memoryCount) {
      if (memoryCount < limits.worker_search_from) return cache.search(question)
      cache.drop(question.mindSeq)
      return worker.call('search', question)
    },
    drop(mindSeq) {
      cache.drop(mindSeq)
      // A worker that has just died holds nothing that could be out of date.
      void worker.link?.call('drop', { mindSeq }).catch(() => {})
    },
    get bytes() {
      return cache.bytes
    },
    shrink: (bytes) => cache.shrink(bytes),
    worker: restingWorkers(() => [worker.link]),
    async close() {
      await worker.stop()
    },
  }
}
