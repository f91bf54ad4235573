import { policyName, policyNotice } from '../domain/policy/constants.ts'
import { findQuestion } from '../domain/policy/dialogue.ts'
import { formMemories } from '../domain/policy/form-memories.ts'
import { selectAction } from '../domain/policy/select.ts'
import { updateFactualFields } from '../domain/policy/working-memory.ts'
import { findLastMessage, makeHeuristicQueries } from '../domain/queries.ts'
import { createRandom } from '../domain/random.ts'
import type { RecalledMemory } from '../domain/retrieval.ts'
import type { Choice, SelectorContext } from './selector.ts'

/** Chooses an action by the deterministic, rule-based policy, in the same four steps as with a model. */
export async function selectByPolicy({ cycle, relations, recall, step }: SelectorContext): Promise<Choice> {
  const { mind, observation, situation, perception, conversations, constants, weights, newMessages } = cycle
  const { state, places, derivedEvents } = perception
  const transcripts = conversations.map(({ messages }) => messages)
  const lastMessage = findLastMessage(observation.entity_id, transcripts) ?? newMessages.at(-1)?.message
  const openText = lastMessage === undefined ? undefined : (findQuestion(lastMessage)?.text ?? lastMessage)
  const queries = await step('memory_query', () =>
    makeHeuristicQueries(observation, mind.working_memory, openText),
  )
  const { recalled, byQuery, warnings } = await step('memory_retrieval', () => recall(queries))
  const choice = await step('action_selection', () =>
    selectAction({
      situation,
      state,
      places,
      weights,
      constants,
      conversations,
      newMessages,
      reminders: recalled,
      recollections: lastMessage === undefined ? [] : (byQuery[0] ?? []),
      mood: mind.working_memory.emotional_state,
      relations,
      random: createRandom(mind.rng_seed, observation.time, state.counter),
    }),
  )
  const { action, because, candidates, goal, talks, shared, quotedMemoryId } = choice
  return step('cognitive_update', () => {
    const facts = { observation, derivedEvents, candidates, because, constants }
    return {
      action,
      decided_by: 'policy' as const,
      model: policyName,
      working_memory: updateFactualFields(mind.working_memory, facts),
      ...formMemories(observation, derivedEvents, newMessages, state.formed),
      goal,
      talks,
      shared,
      recalled: recalled.map(({ id }) => id),
      explanation: {
        notice: policyNotice,
        because,
        candidates,
        queries,
        recalled: recalled.map(describeRecalled),
        ...(quotedMemoryId === null ? {} : { quoted: quotedMemoryId }),
      },
      warnings,
      calls: [],
    }
  })
}

export const describeRecalled = ({
  id,
  content,
  score,
  relevance,
  importance,
  recency,
  query,
}: RecalledMemory) => ({
  id,
  content,
  query,
  score: round(score),
  terms: { relevance: round(relevance), importance: importance / 10, recency: round(recency) },
})

const round = (value: number): number => Math.round(value * 1e4) / 1e4
