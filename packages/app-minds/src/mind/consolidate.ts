import { MindsError } from '../errors.ts'
import { packVector } from '../memory/embedding.ts'
import { consolidateBatch } from '../store/consolidate-batch.ts'
import type { MindRow } from '../store/types.ts'
import { reflect } from './reflect.ts'
import type { MindServices } from './services.ts'

export type ConsolidationResult = Awaited<ReturnType<typeof consolidateMind>>

const batchSize = 32

/**
 * Moves daily memories to long-term memory. A memory that cannot be moved remains. Throws `EMBEDDING_ERROR` if all
 * remain.
 */
export async function consolidateMind(
  mindId: string,
  batchId: string,
  services: MindServices,
  progress: (done: number, total?: number) => void = () => {},
) {
  const { file, embedding } = services
  const readMind = () => file.read(({ minds }) => minds.get(mindId))
  const mind = await readMind()
  const daily = await file.read(({ memories }) => memories.daily(mind.seq))
  let moved = 0
  let merged = 0
  let failed = 0
  for (let start = 0; start < daily.length; start += batchSize) {
    const rows = daily.slice(start, start + batchSize)
    try {
      const vectors = await embedding.computeVectors(rows.map(({ content }) => content))
      const batch = rows.map((memory, i) => ({ memory, vector: packVector(vectors[i]) }))
      const counts = await file.write((tables) =>
        consolidateBatch(tables, { mindSeq: mind.seq, embedderId: embedding.id, batch }),
      )
      moved += counts.moved
      merged += counts.merged
    } catch (error) {
      if (!MindsError.is(error, 'EMBEDDING_ERROR')) throw error
      failed += rows.length
      await file.write(({ memories }) => {
        for (const { id } of rows) memories.markDailyFailed(id, error.message)
      })
    }
    progress(Math.min(start + batchSize, daily.length), daily.length)
  }
  if (failed > 0 && moved === 0)
    throw new MindsError('EMBEDDING_ERROR', `none of ${failed} memories could be consolidated; they remain`, {
      data: { failed_count: failed },
    })
  const reflected = failed === 0 ? await reflect(await readMind(), services) : 0
  const longTerm = await evictExcess(await readMind(), services)
  services.changed(mindId)
  return {
    status: 'success',
    consolidated_count: moved,
    merged_count: merged,
    failed_count: failed,
    reflections_count: reflected,
    long_term_memory_count: longTerm,
    batch_id: batchId,
  }
}

async function evictExcess(
  { seq, memory_count, last_sim_time }: MindRow,
  { file, limits, search }: MindServices,
): Promise<number> {
  const excess = memory_count - limits.memories
  if (excess <= 0) return memory_count
  const evicted = await file.write(({ minds, memories }) => {
    minds.markMemoriesChanged(seq, 0)
    return memories.evict(seq, last_sim_time, excess)
  })
  search.drop(seq)
  return memory_count - evicted
}
