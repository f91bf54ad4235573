import { MindsError } from '../errors.ts'
import { packVector } from '../memory/embedding.ts'
import { consolidateBatch } from '../store/consolidate-batch.ts'
import type { MindRow } from '../store/types.ts'
import { reflect } from './reflect.ts'
import type { MindServices } from './services.ts'

export type ConsolidationResult = Awaited<ReturnType<typeof consolidateMind>>

const batchSize = 32

/**
 * Moves daily memories to long-term memory. Memories without computable vectors stay. Throws `EMBEDDING_ERROR` if all
 * stay.
 */
export async function consolidateMind(
  mindId: string,
  batchId: string,
  services: MindServices,
  reportProgress: (done: number, total?: number) => void = () => {},
) {
  const { file, embedding } = services
  const readMind = () => file.read(({ minds }) => minds.get(mindId))
  const mind = await readMind()
  const dailyMemories = await file.read(({ memories }) => memories.listDaily(mind.seq))
  let movedCount = 0
  let mergedCount = 0
  let failedCount = 0
  for (let start = 0; start < dailyMemories.length; start += batchSize) {
    const rows = dailyMemories.slice(start, start + batchSize)
    try {
      const vectors = await embedding.computeVectors(rows.map(({ content }) => content))
      const batch = rows.map((memory, i) => ({ memory, vector: packVector(vectors[i]) }))
      const counts = await file.write((tables) =>
        consolidateBatch(tables, { mindSeq: mind.seq, embedderId: embedding.id, batch }),
      )
      movedCount += counts.movedCount
      mergedCount += counts.mergedCount
    } catch (error) {
      if (!MindsError.is(error, 'EMBEDDING_ERROR')) throw error
      failedCount += rows.length
      await file.write(({ memories }) => {
        for (const { id } of rows) memories.markDailyFailed(id, error.message)
      })
    }
    reportProgress(Math.min(start + batchSize, dailyMemories.length), dailyMemories.length)
  }
  if (failedCount > 0 && movedCount === 0)
    throw new MindsError(
      'EMBEDDING_ERROR',
      `none of ${failedCount} memories could be consolidated; they remain`,
      {
        data: { failed_count: failedCount },
      },
    )
  const reflectionCount = failedCount === 0 ? await reflect(await readMind(), services) : 0
  const longTermCount = await evictExcess(await readMind(), services)
  services.markChanged(mindId)
  return {
    status: 'success',
    consolidated_count: movedCount,
    merged_count: mergedCount,
    failed_count: failedCount,
    reflections_count: reflectionCount,
    long_term_memory_count: longTermCount,
    batch_id: batchId,
  }
}

async function evictExcess(
  { seq, memory_count, last_sim_time }: MindRow,
  { file, limits, search }: MindServices,
): Promise<number> {
  const excess = memory_count - limits.memories
  if (excess <= 0) return memory_count
  const evictedCount = await file.write(({ minds, memories }) => {
    minds.markMemoriesChanged(seq, 0)
    return memories.evict(seq, last_sim_time, excess)
  })
  search.drop(seq)
  return memory_count - evictedCount
}
