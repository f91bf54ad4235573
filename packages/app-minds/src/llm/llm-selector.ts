/** A language model as a selector: four steps, each checked, corrected at most twice, and kept as far as it is sound. */
import type { Action } from '../domain/action.ts'
import { gate } from '../domain/gate.ts'
import { readJson } from '../domain/model/json-text.ts'
import { formedBy, type ReadUpdate, readChosen, readQueries, readUpdate } from '../domain/model/outputs.ts'
import { correction, type ModelStep, scaffold, stateText, type Told } from '../domain/model/prompts.ts'
import {
  type AnswerSchema,
  actionSchema,
  mergedSchema,
  querySchema,
  updateSchema,
} from '../domain/model/schemas.ts'
import type { Goal } from '../domain/policy/state.ts'
import { heuristicQueries, lastHeard } from '../domain/queries.ts'
import type { Limits } from '../limits.ts'
import { recalledView } from '../mind/policy-selector.ts'
import type { Cycle } from '../mind/prepare.ts'
import type { ActionSelector, Choice, SelectorContext } from '../mind/selector.ts'
import type { LlmCallRow } from '../store/types.ts'
import { ChatError, type ChatMessage, type ChatModel } from './chat-model.ts'
import { ModelFailure, type Salvaged } from './model-failure.ts'

/** Corrections that a model gets for each step. */
const corrections = 2

/** Most tokens of an answer that was cut off and is asked for again. */
const mostTokens = 4096

/** What judging an answer gives: the value, or what to correct, with what is sound all the same. */
type Judged<T> =
  | { readonly value: T }
  | { readonly problems: readonly string[]; readonly sound?: T | undefined }

interface Deliberation {
  readonly context: SelectorContext
  readonly chat: ChatModel
  readonly limits: Limits
  readonly model: string
  readonly signal: AbortSignal
  readonly until: number
  readonly calls: LlmCallRow[]
  readonly told: Told
  readonly corrected: string[]
  readonly warnings: Set<string>
}

/** Makes the selector of one mind. `now` in ms since the epoch. */
export function llmSelector(
  chat: ChatModel,
  { limits, now }: { readonly limits: Limits; readonly now: () => number },
): ActionSelector {
  return {
    async select(context) {
      const { mind } = context.cycle
      const { provider } = chat
      const calls: LlmCallRow[] = []
      const deliberation: Deliberation = {
        context,
        chat,
        limits,
        model: provider.isModelFixed ? provider.model : (mind.config.llm_model ?? provider.model),
        signal: AbortSignal.timeout(provider.decision_ms),
        until: now() + provider.decision_ms,
        calls,
        told: toldOf(context.cycle, limits),
        corrected: [],
        warnings: new Set(),
      }
      const salvaged: { current: Salvaged } = { current: { memories: [] } }
      try {
        return await deliberate(deliberation, salvaged)
      } catch (error) {
        if (!(error instanceof ChatError)) throw error
        throw new ModelFailure(error.code, error.message, calls, salvaged.current)
      }
    },
  }
}

async function deliberate(work: Deliberation, salvaged: { current: Salvaged }): Promise<Choice> {
  const { context, told } = work
  const { cycle, step } = context
  const { mind, observation, situation } = cycle
  const queries = await step('memory_query', () => queriesOf(work))
  const { recalled, warnings } = await step('memory_retrieval', () => context.recall(queries))
  const remembering = { ...told, recalled }
  const judgeUpdate = (value: unknown): ReadUpdate => readUpdate(value, mind.working_memory, work.limits)
  const keep = (update: ReadUpdate | undefined): void => {
    if (update === undefined) return
    const memories = formedBy(update.memories, observation.time, observation.position)
    salvaged.current =
      update.working_memory === undefined ? { memories } : { working_memory: update.working_memory, memories }
  }
  let action: Action
  if (mind.config.pipeline === 'merged') {
    action = await step('action_selection', () =>
      ask(
        work,
        'reflection',
        stateText({ ...remembering, menu: situation.menu }),
        mergedSchema(situation.menu),
        (value) => {
          keep(judgeUpdate(value))
          return judgeAction(value, cycle)
        },
      ),
    )
  } else {
    await step('cognitive_update', async () => {
      const update = await ask(
        work,
        'cognitive_update',
        stateText(remembering),
        updateSchema,
        (value): Judged<ReadUpdate> => {
          const read = judgeUpdate(value)
          return read.problems.length === 0 ? { value: read } : { problems: read.problems, sound: read }
        },
      ).catch((error: unknown) => {
        // Without a new state of mind the present one stays; the character still has to act.
        if (error instanceof ChatError && error.code === 'LLM_INVALID_OUTPUT') return undefined
        throw error
      })
      keep(update)
    })
    const workingMemory = salvaged.current.working_memory ?? mind.working_memory
    action = await step('action_selection', () =>
      ask(
        work,
        'action_selection',
        stateText({ ...remembering, workingMemory, menu: situation.menu }),
        actionSchema(situation.menu),
        (value) => judgeAction(value, cycle),
      ),
    )
  }
  const { state } = cycle.perception
  return {
    action,
    decided_by: 'llm',
    model: work.calls.findLast(({ model_served }) => model_served !== null)?.model_served ?? work.model,
    working_memory: salvaged.current.working_memory ?? mind.working_memory,
    memories: salvaged.current.memories,
    goal: goalOf(action, cycle),
    talks: spoken(action, cycle),
    formed: state.formed,
    recalled: recalled.map(({ id }) => id),
    explanation: {
      notice: 'decided by a language model',
      model: work.model,
      queries,
      recalled: recalled.map(recalledView),
      menu: situation.menu.map((option) => option.action),
      ...(work.corrected.length === 0 ? {} : { corrected: work.corrected }),
    },
    warnings: [...warnings, ...work.warnings],
    calls: work.calls,
  }
}

/** Associations of the model, or those that need none; a model that cannot name any is not asked for more. */
async function queriesOf(work: Deliberation): Promise<readonly string[]> {
  const { cycle } = work.context
  const { observation, mind, conversations } = cycle
  const heard = lastHeard(
    observation.entity_id,
    conversations.map(({ messages }) => messages),
  )
  const plain = () => heuristicQueries(observation, mind.working_memory, heard)
  if (mind.config.memory_query === 'heuristic') return plain()
  try {
    return await ask(
      work,
      'memory_query',
      stateText(work.told),
      querySchema,
      (value): Judged<readonly string[]> => {
        const read = readQueries(value)
        return 'queries' in read ? { value: read.queries } : { problems: [read.problem] }
      },
    )
  } catch (error) {
    if (error instanceof ChatError && error.code === 'LLM_INVALID_OUTPUT') return plain()
    throw error
  }
}

/** One step: asks, judges, corrects. Throws `ChatError`; `LLM_INVALID_OUTPUT` where nothing of the last answer is sound. */
async function ask<T>(
  work: Deliberation,
  step: ModelStep,
  state: string,
  schema: AnswerSchema,
  judge: (value: unknown) => Judged<T>,
): Promise<T> {
  const { chat, calls, context } = work
  const { config, mind_id } = context.cycle.mind
  const messages: ChatMessage[] = [
    { role: 'system', content: scaffold(step) },
    { role: 'user', content: state },
  ]
  let maxTokens = config.max_tokens
  let sound: T | undefined
  let isCut = false
  for (let attempt = 0; attempt <= corrections; attempt++) {
    const answer = await chat.ask({
      step,
      attempt,
      model: work.model,
      messages,
      maxTokens,
      temperature: config.temperature,
      seed: config.seed,
      user: mind_id,
      schema,
      signal: work.signal,
      until: work.until,
      record: (row) => {
        calls.push(row)
        noteCut(work, row, messages)
      },
      mayCall: () => calls.length < chat.provider.calls_per_decision,
    })
    const read = judged(answer.text, judge)
    if ('value' in read) return read.value
    sound = read.sound ?? sound
    isCut = answer.isCut
    if (isCut && maxTokens < mostTokens) {
      // Cut off is not wrong: it is asked for again with more room, and not corrected.
      maxTokens = Math.min(mostTokens, maxTokens * 2)
      continue
    }
    work.corrected.push(`${step}: ${read.problems.join('; ')}`.slice(0, 500))
    messages.push(
      { role: 'assistant', content: answer.text.slice(0, 8000) },
      { role: 'user', content: correction(read.problems) },
    )
  }
  if (sound !== undefined) return sound
  if (isCut) throw new ChatError('LLM_TRUNCATED', `the answer for ${step} was cut off`)
  throw new ChatError('LLM_INVALID_OUTPUT', `no usable answer for ${step} after ${corrections} corrections`)
}

/** Some servers cut a prompt that is too long for them without a word; the tokens that they count give it away. */
function noteCut(
  { warnings }: Deliberation,
  { prompt_tokens }: LlmCallRow,
  messages: readonly ChatMessage[],
): void {
  const estimate = messages.reduce((sum, { content }) => sum + content.length, 0) / 3.5
  if (prompt_tokens !== null && prompt_tokens > 0 && prompt_tokens < estimate / 2)
    warnings.add(`the provider read ${prompt_tokens} tokens where about ${Math.round(estimate)} were sent`)
}

function judged<T>(text: string, judge: (value: unknown) => Judged<T>): Judged<T> {
  const read = readJson(text)
  return 'problem' in read ? { problems: [read.problem] } : judge(read.value)
}

function judgeAction(value: unknown, { situation }: Cycle): Judged<Action> {
  const chosen = readChosen(value)
  if (chosen === undefined)
    return { problems: ['chosen_action must be an object with action and parameters'] }
  const verdict = gate(chosen, situation)
  return 'action' in verdict ? { value: verdict.action } : verdict
}

const toldOf = ({ mind, observation, conversations, events }: Cycle, limits: Limits): Told => ({
  observation,
  traits: mind.config.traits,
  dimensions: mind.config.personality_dimensions,
  workingMemory: mind.working_memory,
  conversations,
  events,
  mostEntities: limits.prompt_entities,
  mostChars: limits.prompt_chars,
})

/** What a chosen use is for, so that its refusal can be told from its success. */
function goalOf({ action, parameters }: Action, { observation }: Cycle): Goal | null {
  if (action !== 'interact_with') return null
  const { entity_id, interaction_name } = parameters
  const entity = observation.entities?.find((one) => one.entity_id === entity_id)
  const interaction = entity?.interactions.find(({ name }) => name === interaction_name)
  if (entity === undefined || interaction === undefined) return null
  return {
    entity_id: entity.entity_id,
    interaction_name: interaction.name,
    need: interaction.fills[0] ?? null,
    score: 0,
  }
}

/** The character's parts in conversations after it has spoken. */
function spoken({ action }: Action, { perception, observation }: Cycle): Choice['talks'] {
  const { talks } = perception.state
  if (action !== 'act_in_interaction') return talks
  const id = observation.current?.interaction_id ?? Object.keys(talks)[0]
  const talk = id === null || id === undefined ? undefined : talks[id]
  if (id === null || id === undefined || talk === undefined) return talks
  return { ...talks, [id]: { ...talk, own_turns: talk.own_turns + 1, heard_at: observation.time } }
}
