/** Where a language model is, and how it may be used. Keys come from settings alone. */
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { defaultModel } from '../wire/read-config.ts'

const optionsSchema = z.strictObject({
  /** Which form of answers the server is asked to enforce. */
  structured: z.enum(['json_schema', 'json_object', 'none']).optional(),
  timeout_ms: z.number().int().min(10).max(600_000).default(20_000),
  connect_timeout_ms: z.number().int().min(10).max(60_000).default(3000),
  /** One decision in all, ms. */
  decision_ms: z.number().int().min(50).max(600_000).default(15_000),
  max_retries: z.number().int().min(0).max(10).default(2),
  max_concurrency: z.number().int().min(1).max(1000).default(4),
  queue: z.number().int().min(0).max(100_000).default(256),
  /** Calls to the provider for one decision. */
  calls_per_decision: z.number().int().min(1).max(100).default(12),
  rpm: z.number().int().min(1).optional(),
  tpm: z.number().int().min(1).optional(),
  price: z.strictObject({ in_per_m: z.number().min(0), out_per_m: z.number().min(0) }).optional(),
  /** Of all minds. */
  budget: z
    .strictObject({
      tokens_per_hour: z.number().int().min(0).optional(),
      cost_per_hour: z.number().min(0).optional(),
    })
    .default({}),
  headers: z.record(z.string(), z.string()).default({}),
})

/** How a provider is used; the names are those of `MINDS_LLM_OPTIONS`. */
export type ProviderOptions = z.output<typeof optionsSchema>

/** A provider. */
export interface Provider extends Omit<ProviderOptions, 'structured'> {
  readonly name: string
  /** Without `/chat/completions`. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly model: string
  /** The model is the server's choice and not the mind's. */
  readonly isModelFixed: boolean
  readonly structured: 'json_schema' | 'json_object' | 'none'
}

/** Addresses and defaults of providers that are known by name. */
const presets = {
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', model: defaultModel, structured: 'json_schema' },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', model: 'llama3.2', structured: 'json_schema' },
  llamacpp: { baseUrl: 'http://127.0.0.1:8080/v1', model: 'default', structured: 'json_schema' },
  vllm: { baseUrl: 'http://127.0.0.1:8000/v1', model: 'default', structured: 'json_schema' },
} as const

/** The settings that name providers. */
export interface ProviderSettings {
  readonly openrouterApiKey?: unknown
  readonly mindsLlmUrl?: unknown
  readonly mindsLlmKey?: unknown
  readonly mindsLlmModel?: unknown
  readonly mindsLlmProvider?: unknown
  readonly mindsLlmOptions?: unknown
}

/** The providers that can be used, by name, and which one a mind gets that names none. */
export interface Providers {
  readonly byName: ReadonlyMap<string, Provider>
  readonly chosen: Provider | undefined
}

/** Reads the settings; throws `INVALID_CONFIG` for options that are none. */
export function readProviders(settings: ProviderSettings): Providers {
  const parsed = optionsSchema.safeParse(settings.mindsLlmOptions ?? {})
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new CausewayError('INVALID_CONFIG', `MINDS_LLM_OPTIONS: ${issue?.path.join('.')} ${issue?.message}`)
  }
  const options = parsed.data
  const [url, key, model, named] = [
    word(settings.mindsLlmUrl),
    word(settings.mindsLlmKey),
    word(settings.mindsLlmModel),
    word(settings.mindsLlmProvider),
  ]
  const openrouter = word(settings.openrouterApiKey)
  const make = (
    name: string,
    preset: { baseUrl: string; model: string; structured: Provider['structured'] },
    apiKey?: string,
  ): Provider => ({
    ...options,
    name,
    baseUrl: preset.baseUrl.replace(/\/+$/, ''),
    apiKey,
    model: model ?? preset.model,
    isModelFixed: model !== undefined,
    structured: options.structured ?? preset.structured,
  })
  const byName = new Map<string, Provider>()
  if (url !== undefined)
    byName.set(
      'custom',
      make('custom', { baseUrl: url, model: defaultModel, structured: 'json_schema' }, key),
    )
  if (openrouter !== undefined) byName.set('openrouter', make('openrouter', presets.openrouter, openrouter))
  // Local servers take part where they are asked for by name: nobody else's port is knocked at.
  for (const name of ['ollama', 'llamacpp', 'vllm'] as const)
    if (named === name) byName.set(name, make(name, presets[name], key))
  const chosen = named === undefined ? (byName.get('custom') ?? byName.get('openrouter')) : byName.get(named)
  return { byName, chosen }
}

const word = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
