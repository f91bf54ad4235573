/** What a character searches its memory for, where no model thinks of it: its lowest need, what it sees, what was said. */
import type { KeptMessage } from './conversation.ts'
import type { Observation } from './observation.ts'
import { shareOf } from './observation.ts'
import type { WorkingMemory } from './policy/working-memory.ts'

/** The last thing that another said, which may want an answer. */
export function lastHeard(
  self: string,
  transcripts: readonly (readonly KeptMessage[])[],
): string | undefined {
  for (const messages of transcripts) {
    const last = messages.filter(({ is_system }) => !is_system).at(-1)
    if (last !== undefined && last.speaker_id !== self) return last.message
  }
  return undefined
}

/** One to five questions, each once. */
export function heuristicQueries(
  observation: Observation,
  workingMemory: WorkingMemory,
  heard: string | undefined,
): readonly string[] {
  const lowest = [...observation.needs].sort((a, b) => shareOf(a) - shareOf(b))[0]
  const names = (observation.entities ?? []).slice(0, 5).map(({ display_name }) => display_name)
  const goal = workingMemory.active_goals[0]
  const queries = [
    heard,
    lowest === undefined
      ? undefined
      : `${lowest.name} ${[...fillersOf(observation, lowest.name)].join(' ')}`.trim(),
    names.length === 0 ? undefined : names.join(' '),
    goal,
    observation.current?.name,
  ]
  return [...new Set(queries.filter((query) => query !== undefined && query.trim() !== ''))].slice(
    0,
    5,
  ) as string[]
}

function fillersOf({ entities }: Observation, need: string): Set<string> {
  const interactions = (entities ?? []).flatMap((entity) => entity.interactions)
  return new Set(interactions.filter(({ fills }) => fills.includes(need)).map(({ name }) => name))
}
