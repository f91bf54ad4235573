import type { Action } from '../domain/action.ts'
import { validateAction } from '../domain/gate.ts'
import { readJson } from '../domain/model/json-text.ts'
import {
  type MemoryUpdate,
  readChosenAction,
  readQueries,
  readUpdate,
  toDrafts,
} from '../domain/model/outputs.ts'
import {
  createSystemPrompt,
  formatCorrection,
  formatState,
  type ModelStep,
  type PromptState,
} from '../domain/model/prompts.ts'
import {
  type AnswerSchema,
  createActionSchema,
  createMergedSchema,
  querySchema,
  updateSchema,
} from '../domain/model/schemas.ts'
import type { Goal } from '../domain/policy/state.ts'
import { findLastMessage, makeHeuristicQueries } from '../domain/queries.ts'
import type { Limits } from '../limits.ts'
import { describeRecalled } from '../mind/policy-selector.ts'
import type { Cycle } from '../mind/prepare.ts'
import type { Choice, SelectorContext } from '../mind/selector.ts'
import type { LlmCallRow } from '../store/types.ts'
import { ChatError, type ChatMessage, type ChatModel } from './chat-model.ts'
import type { ModelFailure, SalvagedOutput } from './model-failure.ts'

const maxCorrections = 2

const maxRetryTokens = 4096

type JudgeResult<T> =
  | { readonly value: T }
  | { readonly problems: readonly string[]; readonly partial?: T | undefined }

interface ModelQuestion<T> {
  readonly step: ModelStep
  readonly state: PromptState
  readonly schema: AnswerSchema
  readonly judge: (value: unknown) => JudgeResult<T>
}

/**
 * Validates each answer, requests at most two corrections per step, and uses the valid parts of the answers. Returns a
 * failure if the model could not decide.
 */
export async function selectByModel(
  context: SelectorContext,
  chat: ChatModel,
  limits: Limits,
): Promise<Choice | ModelFailure> {
  const modelRun = new ModelRun(context, chat, limits)
  try {
    return await modelRun.decide()
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    return { code: error.code, message: error.message, calls: modelRun.calls, salvaged: modelRun.salvaged }
  }
}

class ModelRun {
  readonly calls: LlmCallRow[] = []
  salvaged: SalvagedOutput = { memories: [] }
  readonly #context: SelectorContext
  readonly #chat: ChatModel
  readonly #limits: Limits
  readonly #model: string
  readonly #signal: AbortSignal
  readonly #deadline: number
  readonly #correctedProblems: string[] = []
  readonly #warnings = new Set<string>()

  constructor(context: SelectorContext, chat: ChatModel, limits: Limits) {
    const { provider } = chat
    this.#context = context
    this.#chat = chat
    this.#limits = limits
    const { llm_model = provider.model } = context.cycle.mind.config
    this.#model = provider.isModelFixed ? provider.model : llm_model
    this.#signal = AbortSignal.timeout(provider.decision_ms)
    this.#deadline = performance.now() + provider.decision_ms
  }

  async decide(): Promise<Choice> {
    const { cycle, step, recall } = this.#context
    const { mind, situation } = cycle
    const state = makePromptState(cycle, this.#limits)
    const queries = await step('memory_query', () => this.#findQueries(state))
    const { recalled, warnings } = await step('memory_retrieval', () => recall(queries))
    const stateWithMemories = { ...state, recalled }
    const isMerged = mind.config.pipeline === 'merged'
    if (!isMerged) await step('cognitive_update', () => this.#updateMemory(stateWithMemories))
    const action = await step('action_selection', () =>
      isMerged ? this.#decideMerged(stateWithMemories) : this.#chooseAction(stateWithMemories),
    )
    return {
      action,
      decided_by: 'llm',
      model: this.calls.findLast(({ model_served }) => model_served !== null)?.model_served ?? this.#model,
      working_memory: this.salvaged.working_memory ?? mind.working_memory,
      memories: this.salvaged.memories,
      goal: findGoal(action, cycle),
      talks: updateTalks(action, cycle),
      formed: cycle.perception.state.formed,
      recalled: recalled.map(({ id }) => id),
      explanation: {
        notice: 'decided by a language model',
        model: this.#model,
        queries,
        recalled: recalled.map(describeRecalled),
        menu: situation.menu.map((option) => option.action),
        ...(this.#correctedProblems.length === 0 ? {} : { corrected: this.#correctedProblems }),
      },
      warnings: [...warnings, ...this.#warnings],
      calls: this.calls,
    }
  }

  async #findQueries(state: PromptState): Promise<readonly string[]> {
    const { observation, mind, conversations } = this.#context.cycle
    const transcripts = conversations.map(({ messages }) => messages)
    const lastMessage = findLastMessage(observation.entity_id, transcripts)
    const findHeuristic = () => makeHeuristicQueries(observation, mind.working_memory, lastMessage)
    if (mind.config.memory_query === 'heuristic') return findHeuristic()
    const queries = await this.#askIfValid<readonly string[]>({
      step: 'memory_query',
      state,
      schema: querySchema,
      judge(value) {
        const result = readQueries(value)
        return 'queries' in result ? { value: result.queries } : { problems: [result.problem] }
      },
    })
    return queries ?? findHeuristic()
  }

  async #updateMemory(state: PromptState): Promise<void> {
    const update = await this.#askIfValid<MemoryUpdate>({
      step: 'cognitive_update',
      state,
      schema: updateSchema,
      judge: (value) => {
        const update = this.#readUpdate(value)
        return update.problems.length === 0
          ? { value: update }
          : { problems: update.problems, partial: update }
      },
    })
    if (update !== undefined) this.#salvage(update)
  }

  #chooseAction(state: PromptState): Promise<Action> {
    const { cycle } = this.#context
    const { menu } = cycle.situation
    const workingMemory = this.salvaged.working_memory ?? cycle.mind.working_memory
    return this.#ask({
      step: 'action_selection',
      state: { ...state, workingMemory, menu },
      schema: createActionSchema(menu),
      judge: (value) => judgeAction(value, cycle),
    })
  }

  #decideMerged(state: PromptState): Promise<Action> {
    const { cycle } = this.#context
    const { menu } = cycle.situation
    return this.#ask({
      step: 'reflection',
      state: { ...state, menu },
      schema: createMergedSchema(menu),
      judge: (value) => {
        this.#salvage(this.#readUpdate(value))
        return judgeAction(value, cycle)
      },
    })
  }

  #readUpdate(value: unknown): MemoryUpdate {
    return readUpdate(value, this.#context.cycle.mind.working_memory, this.#limits)
  }

  #salvage({ working_memory, memories }: MemoryUpdate): void {
    const { time, position } = this.#context.cycle.observation
    const drafts = toDrafts(memories, time, position)
    this.salvaged = working_memory === undefined ? { memories: drafts } : { working_memory, memories: drafts }
  }

  #askIfValid<T>(question: ModelQuestion<T>): Promise<T | undefined> {
    return this.#ask(question).catch((error: unknown) => {
      if (error instanceof ChatError && error.code === 'LLM_INVALID_OUTPUT') return undefined
      throw error
    })
  }

  /** Throws `ChatError`, with `LLM_INVALID_OUTPUT` if no part of the answers is valid. */
  async #ask<T>({ step, state, schema, judge }: ModelQuestion<T>): Promise<T> {
    const { config, mind_id } = this.#context.cycle.mind
    const { temperature, seed } = config
    const messages: ChatMessage[] = [
      { role: 'system', content: createSystemPrompt(step) },
      { role: 'user', content: formatState(state) },
    ]
    let maxTokens = config.max_tokens
    let partial: T | undefined
    let isTruncated = false
    for (let attempt = 0; attempt <= maxCorrections; attempt++) {
      const options = { step, attempt, messages, maxTokens, temperature, seed, user: mind_id, schema }
      const reply = await this.#send(options)
      const result = judgeText(reply.text, judge)
      if ('value' in result) return result.value
      partial = result.partial ?? partial
      isTruncated = reply.isTruncated
      if (isTruncated && maxTokens < maxRetryTokens) {
        maxTokens = Math.min(maxRetryTokens, maxTokens * 2)
        continue
      }
      this.#correctedProblems.push(`${step}: ${result.problems.join('; ')}`.slice(0, 500))
      messages.push(
        { role: 'assistant', content: reply.text.slice(0, 8000) },
        { role: 'user', content: formatCorrection(result.problems) },
      )
    }
    if (partial !== undefined) return partial
    if (isTruncated) throw new ChatError('LLM_TRUNCATED', `the answer for ${step} was truncated`)
    const problem = `no usable answer for ${step} after ${maxCorrections} corrections`
    throw new ChatError('LLM_INVALID_OUTPUT', problem)
  }

  #send(
    request: Omit<Parameters<ChatModel['send']>[0], 'model' | 'signal' | 'deadline' | 'record' | 'canCall'>,
  ) {
    return this.#chat.send({
      ...request,
      model: this.#model,
      signal: this.#signal,
      deadline: this.#deadline,
      record: (row) => {
        this.calls.push(row)
        this.#checkTruncation(row, request.messages)
      },
      canCall: () => this.calls.length < this.#chat.provider.calls_per_decision,
    })
  }

  #checkTruncation({ prompt_tokens }: LlmCallRow, messages: readonly ChatMessage[]): void {
    const estimatedTokens = messages.reduce((sum, { content }) => sum + content.length, 0) / 3.5
    if (prompt_tokens !== null && prompt_tokens > 0 && prompt_tokens < estimatedTokens / 2)
      this.#warnings.add(
        `the provider read ${prompt_tokens} tokens, but about ${Math.round(estimatedTokens)} were sent`,
      )
  }
}

function judgeText<T>(text: string, judge: (value: unknown) => JudgeResult<T>): JudgeResult<T> {
  const parsed = readJson(text)
  return 'problem' in parsed ? { problems: [parsed.problem] } : judge(parsed.value)
}

function judgeAction(value: unknown, { situation }: Cycle): JudgeResult<Action> {
  const proposal = readChosenAction(value)
  if (proposal === undefined)
    return { problems: ['chosen_action must be an object with action and parameters'] }
  const validation = validateAction(proposal, situation)
  return 'action' in validation ? { value: validation.action } : validation
}

const makePromptState = (
  { mind, observation, conversations, events }: Cycle,
  limits: Limits,
): PromptState => ({
  observation,
  traits: mind.config.traits,
  dimensions: mind.config.personality_dimensions,
  workingMemory: mind.working_memory,
  conversations,
  events,
  maxEntities: limits.prompt_entities,
  maxChars: limits.prompt_chars,
})

/** Returns the goal from which the next decision detects a refusal. */
function findGoal({ action, parameters }: Action, { observation }: Cycle): Goal | null {
  if (action !== 'interact_with') return null
  const { entity_id, interaction_name } = parameters
  const entity = observation.entities?.find((candidate) => candidate.entity_id === entity_id)
  const interaction = entity?.interactions.find(({ name }) => name === interaction_name)
  if (entity === undefined || interaction === undefined) return null
  const need = interaction.fills[0] ?? null
  return { entity_id: entity.entity_id, interaction_name: interaction.name, need, score: 0 }
}

function updateTalks({ action }: Action, { perception, observation }: Cycle): Choice['talks'] {
  const { talks } = perception.state
  if (action !== 'act_in_interaction') return talks
  const id = observation.current?.interaction_id ?? Object.keys(talks)[0] ?? ''
  const conversationState = talks[id]
  if (conversationState === undefined) return talks
  return {
    ...talks,
    [id]: { ...conversationState, own_turns: conversationState.own_turns + 1, heard_at: observation.time },
  } // cspell:ignore heard -- a stored field
}
