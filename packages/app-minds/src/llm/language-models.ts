import type { Env } from '@causeway/app-kit'
import { toGameDay } from '../domain/policy/state.ts'
import { MindsError } from '../errors.ts'
import type { MindsFile } from '../store/minds-file.ts'
import type { MindRow } from '../store/types.ts'
import type { MindConfig } from '../wire/read-config.ts'
import { ChatModel } from './chat-model.ts'
import { type Provider, readProviders } from './provider.ts'

interface ModelOptions {
  readonly file: MindsFile
  /** Unix time in milliseconds. */
  readonly now: () => number
}

const msPerHour = 3_600_000

export class LanguageModels {
  readonly #providers: ReturnType<typeof readProviders>
  readonly #options: ModelOptions
  readonly #models = new Map<string, ChatModel>()

  constructor(settings: Env['settings'], options: ModelOptions) {
    this.#providers = readProviders(settings)
    this.#options = options
  }

  get isConfigured(): boolean {
    return this.#providers.byName.size > 0
  }

  canDecide(config: MindConfig): boolean {
    return this.#findProvider(config) !== undefined
  }

  /** Returns `undefined` if the policy decides. Throws `LLM_NOT_CONFIGURED` if a required model is missing. */
  find(config: MindConfig, mindId: string): ChatModel | undefined {
    const provider = this.#findProvider(config)
    if (provider !== undefined) return this.#getModel(provider)
    if (config.selector !== 'llm') return undefined
    throw new MindsError('LLM_NOT_CONFIGURED', `no language model is available for the mind ${mindId}`, {
      data: { mind_id: mindId, llm_provider: config.llm_provider ?? null },
    })
  }

  /** Whether a budget of the mind or the server is spent. `time` is in game minutes. */
  async isOverBudget({ seq, config }: MindRow, time: number): Promise<boolean> {
    const provider = this.#findProvider(config)
    if (provider === undefined) return false
    const { tokens_per_game_day, cost_per_hour } = config.budget
    const { budget } = provider
    const hourAgoMs = this.#options.now() - msPerHour
    if (tokens_per_game_day !== undefined) {
      const { tokens } = await this.#readUsage(seq, 0, toGameDay(time))
      if (tokens >= tokens_per_game_day) return true
    }
    if (cost_per_hour !== undefined) {
      const { cost } = await this.#readUsage(seq, hourAgoMs, null)
      if (cost >= cost_per_hour) return true
    }
    if (budget.tokens_per_hour === undefined && budget.cost_per_hour === undefined) return false
    const { tokens, cost } = await this.#readUsage(null, hourAgoMs, null)
    return (
      tokens >= (budget.tokens_per_hour ?? Number.POSITIVE_INFINITY) ||
      cost >= (budget.cost_per_hour ?? Number.POSITIVE_INFINITY)
    )
  }

  health(): Readonly<Record<string, unknown>> {
    const { defaultProvider } = this.#providers
    if (defaultProvider === undefined) return { configured: false }
    const { name: provider, model } = defaultProvider
    const unknownHealth = { provider, model, reachable: null, last_error: null }
    return { configured: true, ...(this.#models.get(provider)?.health() ?? unknownHealth) }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#models.values()].map((model) => model.close()))
  }

  #findProvider({ selector, llm_provider }: MindConfig): Provider | undefined {
    if (selector === 'policy') return undefined
    const { defaultProvider, byName } = this.#providers
    return llm_provider === undefined ? defaultProvider : byName.get(llm_provider)
  }

  #getModel(provider: Provider): ChatModel {
    const cachedModel = this.#models.get(provider.name)
    if (cachedModel !== undefined) return cachedModel
    const model = new ChatModel(provider, { now: () => performance.now(), random: Math.random })
    this.#models.set(provider.name, model)
    return model
  }

  async #readUsage(seq: number | null, sinceMs: number, simDay: number | null) {
    const { file } = this.#options
    const usage = await file.read(({ records }) => records.readUsage(seq, sinceMs, simDay))
    return { tokens: (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0), cost: usage.cost ?? 0 }
  }
}
