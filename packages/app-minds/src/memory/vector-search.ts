/** Searching vectors where it disturbs nobody: small minds here, big ones in a worker that starts when it is needed. */
import {
  type RestingWorkers,
  restingWorkers,
  startWorker,
  type WorkerLink,
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
  let worker: { readonly link: WorkerLink<SearchMethods>; readonly ready: Promise<void> } | undefined
  const link = async (): Promise<WorkerLink<SearchMethods>> => {
    if (worker === undefined || !worker.link.isAlive) {
      const started = startWorker<SearchMethods>(workerFile('../search-worker', import.meta.url), {
        name: 'the worker that searches memories',
      })
      worker = { link: started, ready: started.call('open', { dir, mostBytes: limits.vector_cache_bytes }) }
    }
    await worker.ready
    return worker.link
  }
  return {
    async search(question, memoryCount) {
      if (memoryCount < limits.worker_search_from) return cache.search(question)
      cache.drop(question.mindSeq)
      return (await link()).call('search', question)
    },
    drop(mindSeq) {
      cache.drop(mindSeq)
      // A worker that has just died holds nothing that could be out of date.
      if (worker?.link.isAlive === true) void worker.link.call('drop', { mindSeq }).catch(() => {})
    },
    get bytes() {
      return cache.bytes
    },
    shrink: (bytes) => cache.shrink(bytes),
    worker: restingWorkers(() => [worker?.link]),
    async close() {
      await worker?.link.stop()
    },
  }
}
