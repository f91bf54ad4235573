/** Making a mind, with what it knows from the beginning. */
import { CausewayError } from '@causeway/protocol'
import type { Limits } from '../limits.ts'
import { memoryId } from './hash.ts'
import type { NewMind } from './mind-table.ts'
import type { Tables } from './tables.ts'

/** How a mind came to be. */
export interface Made {
  readonly seq: number
  readonly resumed: boolean
  readonly seeded: number
  /** Memories of a mind that was replaced are gone. */
  readonly replaced: boolean
}

/** Makes a mind, or takes one up again, inside a transaction. Throws `MIND_EXISTS`, `LIMIT_EXCEEDED`. */
export function createMind({ minds, memories }: Tables, mind: NewMind, limits: Limits): Made {
  const { mind_id } = mind
  const existing = minds.find(mind_id)
  const { if_exists, initial_long_term_memories: seeds } = mind.config
  if (existing !== undefined && if_exists === 'error')
    throw new CausewayError('MIND_EXISTS', `Mind ${mind_id} exists`, { data: { mind_id } })
  if (existing !== undefined && if_exists === 'resume') {
    minds.resume(existing.seq, mind)
    return { seq: existing.seq, resumed: true, seeded: 0, replaced: false }
  }
  if (existing !== undefined) minds.remove(existing.seq)
  else if (minds.active() >= limits.minds)
    throw new CausewayError('LIMIT_EXCEEDED', `minds: the limit is ${limits.minds}`, {
      data: { limit: 'minds', most: limits.minds },
    })
  const seq = minds.insert(mind)
  const unique = [...new Set(seeds)]
  for (const content of unique)
    memories.add(seq, {
      id: memoryId(mind_id, seq, 'seed', content),
      content,
      importance: 5,
      sim_time: null,
      location: null,
      kind: 'seed',
      subject: null,
      tags: [],
    })
  return { seq, resumed: false, seeded: unique.length, replaced: existing !== undefined }
}
