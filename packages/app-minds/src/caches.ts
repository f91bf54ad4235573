import type { Cache } from '@causeway/app-kit'
import type { MindParts } from './mind/parts.ts'

const mebibyte = 1024 ** 2

/** What minds hold in memory; all of it is in the data file or comes of its texts. */
export const mindsCaches = ({
  search,
  embedding,
  day,
  shelf,
  limits,
}: Pick<MindParts, 'search' | 'embedding' | 'day' | 'shelf' | 'limits'>): readonly Cache[] => [
  {
    name: 'stems',
    costMs: 5,
    isInHeap: true,
    mostBytes: 128 * mebibyte,
    bytes: () => day.bytes(),
    shrink: (bytes) => day.shrink(bytes),
  },
  {
    name: 'memories',
    costMs: 10,
    isInHeap: true,
    mostBytes: limits.memory_cache_bytes,
    bytes: () => shelf.bytes,
    shrink: (bytes) => shelf.shrink(bytes),
  },
  {
    name: 'vectors',
    costMs: 15,
    isInHeap: false,
    mostBytes: limits.vector_cache_bytes,
    bytes: () => search.bytes,
    shrink: (bytes) => search.shrink(bytes),
  },
  {
    name: 'vector_worker',
    costMs: 120,
    isInHeap: false,
    // A worker has a heap beside the vectors.
    mostBytes: limits.vector_cache_bytes + 128 * mebibyte,
    ...search.worker,
  },
  {
    name: 'texts',
    costMs: 250,
    isInHeap: false,
    mostBytes: 128 * mebibyte,
    bytes: () => embedding.bytes(),
    shrink: (bytes) => embedding.shrink(bytes),
  },
]
