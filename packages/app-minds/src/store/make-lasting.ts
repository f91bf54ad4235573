/** Memories of a day become lasting ones: none stands twice, and a newer fact replaces the older one. */
import { lexicalScores, questionWords } from '../domain/lexical.ts'
import { supersedes } from '../domain/supersede.ts'
import { postingsOf } from './material.ts'
import type { Lasting } from './memory-table.ts'
import type { Tables } from './tables.ts'
import type { MemoryRow } from './types.ts'

/** What became of a batch of daily memories. */
export interface Moved {
  readonly moved: number
  readonly merged: number
}

/** A batch of a mind's daily memories, with vectors of a space. */
export interface LastingBatch {
  readonly mindSeq: number
  readonly embedderId: string
  readonly batch: readonly Lasting[]
}

/** Moves daily memories with the ids they have, inside a transaction; what says the same as one that lasts joins it. */
export function makeLasting(
  { minds, memories }: Tables,
  { mindSeq, embedderId, batch }: LastingBatch,
): Moved {
  let moved = 0
  let merged = 0
  let importance = 0
  for (const { memory, vector } of batch) {
    if (!memories.dropDaily(memory.id)) continue
    moved += 1
    importance += memory.importance
    const alike = memories.alike(mindSeq, memory)
    const seq = alike === undefined ? memories.add(mindSeq, memory) : undefined
    if (alike !== undefined) memories.merge(alike.seq, memory)
    if (seq === undefined) merged += 1
    else memories.addVector(mindSeq, seq, embedderId, vector)
    if (memory.kind === 'fact') replaceOlder(memories, mindSeq, { ...memory, id: alike?.id ?? memory.id })
  }
  if (moved > 0) minds.remembered(mindSeq, importance)
  return { moved, merged }
}

/** Memories that a new fact is held against: those that share most of its words. */
const mostCompared = 20

function replaceOlder(
  memories: Tables['memories'],
  mindSeq: number,
  fact: Omit<MemoryRow, 'seq' | 'superseded_by'>,
): void {
  const words = questionWords(fact.content)
  const postings = postingsOf(memories, mindSeq, words)
  const scores = lexicalScores(words, postings, { memories: mostCompared * 10, most: mostCompared })
  for (const older of memories.bySeqs([...scores.keys()]))
    if (older.kind === 'fact' && older.id !== fact.id && supersedes(fact, older))
      memories.supersede(older.id, fact.id, fact.sim_time)
}
