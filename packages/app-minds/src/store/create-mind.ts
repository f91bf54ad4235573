import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { createMemoryId } from './hash.ts'
import type { NewMind } from './mind-table.ts'
import type { Tables } from './minds-file.ts'

export function requireActive(activeCount: number, { minds }: Limits): void {
  if (activeCount < minds) return
  throw new MindsError('LIMIT_EXCEEDED', `minds: the limit is ${minds}`, {
    data: { limit: 'minds', most: minds },
  })
}

/** Throws `MIND_EXISTS` and `LIMIT_EXCEEDED`. */
export function createMind({ minds, memories }: Tables, mind: NewMind, limits: Limits) {
  const { mind_id } = mind
  const existing = minds.find(mind_id)
  const { if_exists, initial_long_term_memories: seedTexts } = mind.config
  if (existing !== undefined && if_exists === 'error')
    throw new MindsError('MIND_EXISTS', `Mind ${mind_id} exists`, { data: { mind_id } })
  if (existing?.status !== 'active') requireActive(minds.countActive(), limits)
  if (existing !== undefined && if_exists === 'resume') {
    minds.resume(existing.seq, mind)
    return { resumed: true, seededCount: 0 }
  }
  if (existing !== undefined) minds.remove(mind_id)
  const seq = minds.insert(mind)
  const uniqueSeeds = [...new Set(seedTexts)]
  const values = {
    importance: 5,
    sim_time: null,
    location: null,
    kind: 'seed',
    subject: null,
    tags: [],
  } as const
  for (const content of uniqueSeeds)
    memories.add(seq, { ...values, id: createMemoryId(mind_id, seq, 'seed', content), content })
  return { resumed: false, seededCount: uniqueSeeds.length }
}
