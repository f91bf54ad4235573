import type { Env } from '@causeway/app-kit'
import { z } from 'zod'
import { MindsError } from '../errors.ts'
import { defaultModel } from '../wire/read-config.ts'
import { toText } from '../wire/validation.ts'

const optionsSchema = z.strictObject({
  /** The response format to request. */
  structured: z.enum(['json_schema', 'json_object', 'none']).optional(),
  timeout_ms: z.number().int().min(10).max(600_000).default(20_000),
  connect_timeout_ms: z.number().int().min(10).max(60_000).default(3000),
  /** Maximum duration of a decision. */
  decision_ms: z.number().int().min(50).max(600_000).default(15_000),
  max_retries: z.number().int().min(0).max(10).default(2),
  max_concurrency: z.number().int().min(1).max(1000).default(4),
  queue: z.number().int().min(0).max(100_000).default(256),
  calls_per_decision: z.number().int().min(1).max(100).default(12),
  rpm: z.number().int().min(1).optional(),
  tpm: z.number().int().min(1).optional(),
  price: z.strictObject({ in_per_m: z.number().min(0), out_per_m: z.number().min(0) }).optional(),
  budget: z
    .strictObject({
      tokens_per_hour: z.number().int().min(0).optional(),
      cost_per_hour: z.number().min(0).optional(),
    })
    .default({}),
  headers: z.record(z.string(), z.string()).default({}),
})

type ProviderOptions = z.output<typeof optionsSchema>

export interface Provider extends Omit<ProviderOptions, 'structured'> {
  readonly name: string
  /** URL that precedes `/chat/completions`. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly model: string
  /** Whether the server's settings override the model of the mind. */
  readonly isModelFixed: boolean
  readonly structured: 'json_schema' | 'json_object' | 'none'
}

const presets = {
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', model: defaultModel, structured: 'json_schema' },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', model: 'llama3.2', structured: 'json_schema' },
  llamacpp: { baseUrl: 'http://127.0.0.1:8080/v1', model: 'default', structured: 'json_schema' },
  vllm: { baseUrl: 'http://127.0.0.1:8000/v1', model: 'default', structured: 'json_schema' },
} as const

/** An entry of `MINDS_LLM_PROVIDERS`. Its options override `MINDS_LLM_OPTIONS`. */
const listedProviderSchema = optionsSchema.extend({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/),
  base_url: z.url(),
  default_model: z.string().min(1),
  api_key_env: z.string().min(1).optional(),
})

export function readProviders(
  settings: Env['settings'],
  environment: Readonly<Record<string, string | undefined>> = process.env,
) {
  const options = validateSetting('MINDS_LLM_OPTIONS', optionsSchema, settings.mindsLlmOptions ?? {})
  const [url, key, model, selectedName] = [
    toText(settings.mindsLlmUrl),
    toText(settings.mindsLlmKey),
    toText(settings.mindsLlmModel),
    toText(settings.mindsLlmProvider),
  ]
  const openrouterKey = toText(settings.openrouterApiKey)
  const createProvider = (
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
      createProvider('custom', { baseUrl: url, model: defaultModel, structured: 'json_schema' }, key),
    )
  if (openrouterKey !== undefined)
    byName.set('openrouter', createProvider('openrouter', presets.openrouter, openrouterKey))
  // Local servers are contacted only if the settings name them.
  for (const name of ['ollama', 'llamacpp', 'vllm'] as const)
    if (selectedName === name) byName.set(name, createProvider(name, presets[name], key))
  const listedProviders = readListedProviders(settings, environment)
  for (const provider of listedProviders) byName.set(provider.name, provider)
  if (
    selectedName !== undefined &&
    !byName.has(selectedName) &&
    selectedName !== 'custom' &&
    !(selectedName in presets)
  )
    throw new MindsError('INVALID_CONFIG', `MINDS_LLM_PROVIDER names an unknown provider: ${selectedName}`)
  const defaultProvider =
    selectedName === undefined
      ? (byName.get('custom') ?? byName.get('openrouter') ?? listedProviders[0])
      : byName.get(selectedName)
  return { byName, defaultProvider }
}

function readListedProviders(
  { mindsLlmProviders, mindsLlmOptions }: Env['settings'],
  environment: Readonly<Record<string, string | undefined>>,
): readonly Provider[] {
  const entries = validateSetting('MINDS_LLM_PROVIDERS', z.array(z.looseObject({})), mindsLlmProviders ?? [])
  return entries.map((entry) => {
    const mergedOptions = { ...(mindsLlmOptions as object | undefined), ...entry }
    const { base_url, default_model, api_key_env, structured, ...provider } = validateSetting(
      'MINDS_LLM_PROVIDERS',
      listedProviderSchema,
      mergedOptions,
    )
    return {
      ...provider,
      baseUrl: base_url.replace(/\/+$/, ''),
      apiKey: api_key_env === undefined ? undefined : toText(environment[api_key_env]),
      model: default_model,
      isModelFixed: false,
      structured: structured ?? 'json_schema',
    }
  })
}

function validateSetting<Schema extends z.ZodType>(
  setting: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new MindsError('INVALID_CONFIG', `${setting}: ${issue?.path.join('.')} ${issue?.message}`)
}
