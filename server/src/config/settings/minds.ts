import { z } from 'zod'
import { appSettings, setting, whole } from './setting.ts'

const optionalText = z.string().min(1).optional()

/** A value of `schema` in the configuration file, or its JSON text. */
const json = <Schema extends z.ZodType>(schema: Schema, kind: string) =>
  z.union([
    schema,
    z.string().transform((text, { addIssue }): z.output<Schema> => {
      try {
        return schema.parse(JSON.parse(text))
      } catch {
        addIssue(`not a JSON ${kind}`)
        return z.NEVER
      }
    }),
  ])
const jsonObject = json(z.record(z.string(), z.unknown()), 'object').default({})
const jsonList = json(z.array(z.unknown()), 'list').default([])

export const mindsSettings = appSettings('Minds', {
  openrouterApiKey: setting({
    env: 'OPENROUTER_API_KEY',
    isSecret: true,
    schema: optionalText,
    meaning: 'API key for OpenRouter; with it a language model decides for minds, without it rules do',
  }),
  mindsLlmUrl: setting({
    env: 'MINDS_LLM_URL',
    schema: z.url().optional(),
    meaning:
      'base URL of an OpenAI-compatible server to use instead of OpenRouter: `http://127.0.0.1:11434/v1`',
  }),
  mindsLlmKey: setting({
    env: 'MINDS_LLM_API_KEY',
    isSecret: true,
    schema: optionalText,
    meaning: 'API key for the server of `MINDS_LLM_URL`, if it requires one',
  }),
  mindsLlmModel: setting({
    env: 'MINDS_LLM_MODEL',
    schema: optionalText,
    defaultText: '`google/gemini-2.0-flash-lite-001` on OpenRouter',
    meaning:
      'model of every mind; overrides the model in the configuration of a mind, because providers retire models',
  }),
  mindsLlmProvider: setting({
    env: 'MINDS_LLM_PROVIDER',
    schema: optionalText,
    defaultText:
      '`custom` with `MINDS_LLM_URL`, `openrouter` with its key, otherwise the first of the list, if any',
    meaning:
      'provider of language models: `openrouter`, `custom`, a name from `MINDS_LLM_PROVIDERS`, or `ollama`, `llamacpp`, `vllm` on their default local ports',
  }),
  mindsLlmProviders: setting({
    env: 'MINDS_LLM_PROVIDERS',
    isSecret: true,
    schema: jsonList,
    defaultText: '`[]`',
    meaning:
      'JSON list of additional providers: `name`, `base_url`, `default_model`, `api_key_env` (the variable that contains the key), and any of `MINDS_LLM_OPTIONS`; a mind selects one with `llm_provider`',
  }),
  mindsLlmOptions: setting({
    env: 'MINDS_LLM_OPTIONS',
    isSecret: true,
    schema: jsonObject,
    defaultText: '`{}`',
    meaning:
      'JSON object: `structured`, `timeout_ms`, `connect_timeout_ms`, `decision_ms`, `max_retries`, `max_concurrency`, `queue`, `calls_per_decision`, `rpm`, `tpm`, `price`, `budget`, `headers`',
  }),
  mindsEmbeddingsUrl: setting({
    env: 'MINDS_EMBEDDINGS_URL',
    schema: z.url().optional(),
    defaultText: 'none: the built-in model of everyday language',
    meaning: 'base URL of an OpenAI-compatible server for embeddings of memories',
  }),
  mindsEmbeddingsModel: setting({
    env: 'MINDS_EMBEDDINGS_MODEL',
    schema: optionalText,
    defaultText: '`text-embedding-3-small`',
    meaning: 'embedding model for memories',
  }),
  mindsEmbeddingsDimensions: setting({
    env: 'MINDS_EMBEDDINGS_DIMENSIONS',
    schema: whole(1536, { min: 1, max: 8192 }),
    meaning: 'dimensions of the embeddings',
  }),
  mindsEmbeddingsKey: setting({
    env: 'MINDS_EMBEDDINGS_API_KEY',
    isSecret: true,
    schema: optionalText,
    meaning: 'API key for the server of `MINDS_EMBEDDINGS_URL`',
  }),
  mindsDurability: setting({
    env: 'CAUSEWAY_MINDS_DURABILITY',
    schema: z.enum(['normal', 'full']).default('normal'),
    meaning:
      '`full`: every decision survives a power failure and takes 4 ms longer; `normal`: it survives a crash of the process',
  }),
  mindsLimits: setting({
    env: 'CAUSEWAY_MINDS_LIMITS',
    schema: jsonObject,
    defaultText: '`{}`',
    meaning:
      'JSON object of limits by name, such as `{"memories": 100000, "queue": 8}`; docs/minds.md lists them',
  }),
})
