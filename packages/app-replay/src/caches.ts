import type { Cache } from '@causeway/app-kit'
import { mostCharacters } from './pictures.ts'
import type { Replay } from './store.ts'

/** What Replay holds in memory: recordings in their workers, answers that were given before, and the latest pictures. */
export const replayCaches = ({ memory, pictures }: Replay): readonly Cache[] => [
  { name: 'recordings', costMs: 300, isInHeap: false, mostBytes: 2 * 1024 ** 3, ...memory.workers },
  { name: 'answers', costMs: 800, isInHeap: true, mostBytes: 64 * 1024 ** 2, ...memory.answers },
  {
    name: 'pictures',
    costMs: 1500,
    isInHeap: true,
    mostBytes: mostCharacters,
    bytes: () => pictures.bytes,
    shrink: (bytes) => pictures.shrink(bytes),
  },
]
