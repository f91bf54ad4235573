/** The models of the settings, opened when they are first asked. */
import { CausewayError } from '@causeway/protocol'
import { dayOf } from '../domain/policy/state.ts'
import type { Limits } from '../limits.ts'
import type { MindsFile } from '../store/minds-file.ts'
import type { MindConfig } from '../wire/read-config.ts'
import { type ChatModel, openChatModel } from './chat-model.ts'
import { llmSelector } from './llm-selector.ts'
import type { Models } from './models.ts'
import { type Provider, type ProviderSettings, readProviders } from './provider.ts'

/** What models are opened with. */
export interface ModelParts {
  readonly file: Pick<MindsFile, 'usage'>
  readonly limits: Limits
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The time that passes, ms: pauses and deadlines go by it, whatever is done to the clock. Default: of the process. */
  readonly steady?: () => number
}

const hourMs = 3_600_000

/** Opens the models; throws `INVALID_CONFIG` for options that are none. Nothing is sent before a mind decides. */
export function openModels(
  settings: ProviderSettings,
  { file, limits, now, steady = () => performance.now() }: ModelParts,
): Models {
  const { byName, chosen } = readProviders(settings)
  const open = new Map<string, ChatModel>()
  const chatOf = (provider: Provider): ChatModel => {
    const known = open.get(provider.name)
    if (known !== undefined) return known
    const chat = openChatModel(provider, { now: steady, random: Math.random })
    open.set(provider.name, chat)
    return chat
  }
  const providerFor = ({ selector, llm_provider }: MindConfig): Provider | undefined => {
    if (selector === 'policy') return undefined
    return llm_provider === undefined ? chosen : byName.get(llm_provider)
  }
  return {
    isConfigured: byName.size > 0,
    usableFor: (config) => providerFor(config) !== undefined,
    selectorFor(config, mindId) {
      const provider = providerFor(config)
      if (provider !== undefined) return llmSelector(chatOf(provider), { limits, now: steady })
      if (config.selector !== 'llm') return undefined
      throw new CausewayError('LLM_NOT_CONFIGURED', `no language model can be used for the mind ${mindId}`, {
        data: { mind_id: mindId, llm_provider: config.llm_provider ?? null },
      })
    },
    async isOverBudget({ seq, config }, time) {
      const provider = providerFor(config)
      if (provider === undefined) return false
      const { tokens_per_game_day, cost_per_hour } = config.budget
      const { budget } = provider
      if (tokens_per_game_day !== undefined) {
        const { prompt_tokens, completion_tokens } = await file.usage(seq, 0, dayOf(time))
        if ((prompt_tokens ?? 0) + (completion_tokens ?? 0) >= tokens_per_game_day) return true
      }
      if (cost_per_hour !== undefined) {
        const { cost } = await file.usage(seq, now() - hourMs, null)
        if ((cost ?? 0) >= cost_per_hour) return true
      }
      if (budget.tokens_per_hour === undefined && budget.cost_per_hour === undefined) return false
      const all = await file.usage(null, now() - hourMs, null)
      const tokens = (all.prompt_tokens ?? 0) + (all.completion_tokens ?? 0)
      return (
        (budget.tokens_per_hour !== undefined && tokens >= budget.tokens_per_hour) ||
        (budget.cost_per_hour !== undefined && (all.cost ?? 0) >= budget.cost_per_hour)
      )
    },
    health() {
      if (chosen === undefined) return { configured: false }
      const chat = open.get(chosen.name)
      return {
        configured: true,
        ...(chat?.health() ?? {
          provider: chosen.name,
          model: chosen.model,
          reachable: null,
          last_error: null,
        }),
      }
    },
    async close() {
      await Promise.all([...open.values()].map((chat) => chat.close()))
    },
  }
}
