import type { StoredMessage } from './conversation.ts'
import type { Observation } from './observation.ts'
import { computeNeedShare } from './observation.ts'
import type { WorkingMemory } from './policy/working-memory.ts'

export function findLastMessage(
  self: string,
  transcripts: readonly (readonly StoredMessage[])[],
): string | undefined {
  for (const messages of transcripts) {
    const last = messages.filter(({ is_system }) => !is_system).at(-1)
    if (last !== undefined && last.speaker_id !== self) return last.message
  }
  return undefined
}

/** Derives 1 to 5 memory queries by rules. */
export function makeHeuristicQueries(
  observation: Observation,
  workingMemory: WorkingMemory,
  lastMessage: string | undefined,
): readonly string[] {
  const lowest = [...observation.needs].sort((a, b) => computeNeedShare(a) - computeNeedShare(b))[0]
  const names = (observation.entities ?? []).slice(0, 5).map(({ display_name }) => display_name)
  const goal = workingMemory.active_goals[0]
  const queries = [
    lastMessage,
    lowest === undefined
      ? undefined
      : `${lowest.name} ${[...findFillers(observation, lowest.name)].join(' ')}`.trim(),
    names.length === 0 ? undefined : names.join(' '),
    goal,
    observation.current?.name,
  ]
  return [...new Set(queries.filter((query) => query !== undefined && query.trim() !== ''))].slice(
    0,
    5,
  ) as string[]
}

function findFillers({ entities }: Observation, need: string): Set<string> {
  const interactions = (entities ?? []).flatMap((entity) => entity.interactions)
  return new Set(interactions.filter(({ fills }) => fills.includes(need)).map(({ name }) => name))
}
