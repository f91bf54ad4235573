import type { StoredMessage } from './conversation.ts'
import type { Observation } from './observation.ts'
import { computeNeedShare } from './observation.ts'
import type { WorkingMemory } from './policy/working-memory.ts'

export function findLastMessage(
  selfId: string,
  transcripts: readonly (readonly StoredMessage[])[],
): string | undefined {
  for (const messages of transcripts) {
    const lastNonSystemMessage = messages.filter(({ is_system }) => !is_system).at(-1)
    if (lastNonSystemMessage !== undefined && lastNonSystemMessage.speaker_id !== selfId)
      return lastNonSystemMessage.message
  }
  return undefined
}

/** Derives at most 5 memory queries by rules. */
export function makeHeuristicQueries(
  observation: Observation,
  workingMemory: WorkingMemory,
  lastMessage: string | undefined,
): readonly string[] {
  const lowestNeed = [...observation.needs].sort((a, b) => computeNeedShare(a) - computeNeedShare(b))[0]
  const names = (observation.entities ?? []).slice(0, 5).map(({ display_name }) => display_name)
  const goal = workingMemory.active_goals[0]
  const queries = [
    lastMessage,
    lowestNeed === undefined
      ? undefined
      : `${lowestNeed.name} ${[...findFillingInteractions(observation, lowestNeed.name)].join(' ')}`.trim(),
    names.length === 0 ? undefined : names.join(' '),
    goal,
    observation.current?.name,
  ]
  return [...new Set(queries.filter((query) => query !== undefined && query.trim() !== ''))].slice(
    0,
    5,
  ) as string[]
}

function findFillingInteractions({ entities }: Observation, need: string): Set<string> {
  const interactions = (entities ?? []).flatMap((entity) => entity.interactions)
  return new Set(interactions.filter(({ fills }) => fills.includes(need)).map(({ name }) => name))
}
