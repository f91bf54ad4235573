/** Moving the memories of a day to those that last: with the ids, times and places that they formed with, none twice. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { bytesOf } from '../memory/embedding.ts'
import type { MindsFile } from '../store/minds-file.ts'
import type { MindRow } from '../store/types.ts'
import type { MindParts } from './parts.ts'
import { reflect } from './reflect.ts'

/** What `consolidate_memories` answers. */
export interface ConsolidationAnswer {
  readonly status: 'success'
  /** Memories that left the daily buffer. */
  readonly consolidated_count: number
  /** Those of them that joined one that says the same. */
  readonly merged_count: number
  /** Those that stay in the buffer, for another attempt. */
  readonly failed_count: number
  /** Conclusions drawn from lasting memories, new or other than before. */
  readonly reflections_count: number
  readonly long_term_memory_count: number
  readonly batch_id: string
  readonly replayed?: boolean
}

/** Memories that get vectors and move in one transaction. */
const batchSize = 32

/** Consolidates a mind that has its turn. Throws `EMBEDDING_ERROR` where nothing could be moved. */
export async function consolidateMind(
  mindId: string,
  batchId: string,
  parts: MindParts,
  progress: (done: number, total?: number) => void = () => {},
): Promise<ConsolidationAnswer> {
  const { file, embedding } = parts
  const mind = await file.mind(mindId)
  const daily = await file.daily(mind.seq)
  let moved = 0
  let merged = 0
  let failed = 0
  for (let start = 0; start < daily.length; start += batchSize) {
    const batch = daily.slice(start, start + batchSize)
    try {
      const vectors = await embedding.vectors(batch.map(({ content }) => content))
      const lasting = batch.map((memory, index) => ({ memory, vector: bytesOf(vectors[index]) }))
      const done = await file.consolidate(mind.seq, embedding.id, lasting)
      moved += done.moved
      merged += done.merged
    } catch (error) {
      if (!isCausewayError(error) || error.code !== 'EMBEDDING_ERROR') throw error
      failed += batch.length
      await file.failDaily(
        batch.map(({ id }) => id),
        error.message,
      )
    }
    progress(Math.min(start + batchSize, daily.length), daily.length)
  }
  if (failed > 0 && moved === 0)
    throw new CausewayError(
      'EMBEDDING_ERROR',
      `none of ${failed} memories could be consolidated; they stay`,
      {
        data: { failed_count: failed },
      },
    )
  const reflected = failed === 0 ? await reflect(await file.mind(mindId), parts) : 0
  const after = await evictBeyond(await file.mind(mindId), parts)
  parts.changed(mindId)
  return {
    status: 'success',
    consolidated_count: moved,
    merged_count: merged,
    failed_count: failed,
    reflections_count: reflected,
    long_term_memory_count: after,
    batch_id: batchId,
  }
}

async function evictBeyond(
  { seq, memory_count, last_sim_time }: MindRow,
  {
    file,
    limits,
    search,
  }: Pick<MindParts, 'limits' | 'search'> & { readonly file: Pick<MindsFile, 'evict'> },
): Promise<number> {
  const excess = memory_count - limits.memories
  if (excess <= 0) return memory_count
  const gone = await file.evict(seq, last_sim_time, excess)
  search.drop(seq)
  return memory_count - gone
}
