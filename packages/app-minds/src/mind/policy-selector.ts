/** The policy as a selector: the same four steps as a model takes, without one. Deterministic. */

import { policyName, policyNotice } from '../domain/policy/constants.ts'
import { formMemories } from '../domain/policy/form-memories.ts'
import { selectAction } from '../domain/policy/select.ts'
import type { Recollection } from '../domain/policy/speech.ts'
import { factualMemory } from '../domain/policy/working-memory.ts'
import { heuristicQueries, lastHeard } from '../domain/queries.ts'
import { randomFor } from '../domain/random.ts'
import type { Recalled } from '../domain/retrieval.ts'
import type { ActionSelector } from './selector.ts'

/** Makes the selector. */
export const policySelector = (): ActionSelector => ({
  async select({ cycle, recall, step }) {
    const { mind, observation, situation, perception, conversations, constants, weights } = cycle
    const transcripts = conversations.map(({ messages }) => messages)
    const heard = lastHeard(observation.entity_id, transcripts) ?? cycle.heard.at(-1)?.message
    const queries = await step('memory_query', () =>
      heuristicQueries(observation, mind.working_memory, heard),
    )
    const { recalled, byQuery, warnings } = await step('memory_retrieval', () => recall(queries))
    const { state, places, happenings } = perception
    const choice = await step('action_selection', () =>
      selectAction({
        outlook: {
          situation,
          places,
          needs: observation.needs,
          weights,
          gains: state.gains,
          constants,
          reminders: recalled.map(({ content, relevance, importance }) => ({
            content,
            relevance,
            importance,
          })),
          blocked: state.blocked,
        },
        state,
        conversations,
        heard: cycle.heard,
        recollections: heard === undefined ? [] : (byQuery[0] ?? []).map(recollectionOf),
        random: randomFor(mind.rng_seed, observation.time, state.counter),
      }),
    )
    return step('cognitive_update', () => {
      const { memories, formed } = formMemories(observation, happenings, cycle.heard, state.formed)
      const { action, because, candidates, goal, talks, quoted } = choice
      return {
        action,
        decided_by: 'policy' as const,
        model: policyName,
        working_memory: factualMemory(mind.working_memory, {
          observation,
          happenings,
          candidates,
          because,
          constants,
        }),
        memories,
        goal,
        talks,
        formed,
        recalled: recalled.map(({ id }) => id),
        explanation: {
          notice: policyNotice,
          because,
          candidates,
          queries,
          recalled: recalled.map(recalledView),
          ...(quoted === null ? {} : { quoted }),
        },
        warnings,
        calls: [],
      }
    })
  },
})

const recollectionOf = ({ id, content, relevance, score, tags }: Recalled): Recollection => ({
  id,
  content,
  relevance,
  score,
  tags,
})

/** A memory that came to mind, for an explanation. */
export const recalledView = ({ id, content, score, relevance, importance, recency, query }: Recalled) => ({
  id,
  content,
  query,
  score: rounded(score),
  terms: { relevance: rounded(relevance), importance: importance / 10, recency: rounded(recency) },
})

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4
