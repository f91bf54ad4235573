import { computeLexicalScores, getQueryWords } from '../domain/lexical.ts'
import { supersedes } from '../domain/supersede.ts'
import type { MemoryTable } from './memory-table.ts'
import type { Tables } from './minds-file.ts'
import type { MemoryRow } from './types.ts'

/** `vector` is `null` for a zero vector. */
interface EmbeddedMemory {
  readonly memory: MemoryRow
  readonly vector: Uint8Array | null
}

interface ConsolidationBatch {
  readonly mindSeq: number
  readonly embedderId: string
  readonly batch: readonly EmbeddedMemory[]
}

/**
 * Moves daily memories to long-term memory under the same ids. Merges memories of a kind with the same words. New facts
 * supersede contradicted facts.
 */
export function consolidateBatch(
  { minds, memories }: Tables,
  { mindSeq, embedderId, batch }: ConsolidationBatch,
): { readonly movedCount: number; readonly mergedCount: number } {
  let movedCount = 0
  let mergedCount = 0
  let importance = 0
  for (const { memory, vector } of batch) {
    if (!memories.removeDaily(memory.id)) continue
    movedCount += 1
    importance += memory.importance
    const duplicate = memories.findDuplicate(mindSeq, memory)
    const seq = duplicate === undefined ? memories.add(mindSeq, memory) : undefined
    if (duplicate !== undefined) memories.merge(duplicate.seq, memory)
    if (seq === undefined) mergedCount += 1
    else memories.addVector(mindSeq, seq, embedderId, vector)
    if (memory.kind === 'fact')
      supersedeOlderFacts(memories, mindSeq, { ...memory, id: duplicate?.id ?? memory.id })
  }
  if (movedCount > 0) minds.markMemoriesChanged(mindSeq, importance)
  return { movedCount, mergedCount }
}

/** Maximum memories to compare with a new fact, highest lexical scores first. */
const maxCompared = 20

function supersedeOlderFacts(memories: MemoryTable, mindSeq: number, fact: MemoryRow): void {
  const words = getQueryWords(fact.content)
  const postings = memories.readPostings(mindSeq, words)
  const scores = computeLexicalScores(words, postings, { memoryCount: maxCompared * 10, limit: maxCompared })
  for (const olderMemory of memories.listBySeqs([...scores.keys()]))
    if (olderMemory.kind === 'fact' && olderMemory.id !== fact.id && supersedes(fact, olderMemory))
      memories.supersede(olderMemory.id, fact.id, fact.sim_time)
}
