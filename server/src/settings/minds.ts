import { z } from 'zod'
import { setting, whole } from './setting.ts'

const app = 'Minds'
const word = z.string().min(1).optional()

/** JSON, or an object in the configuration file. */
const json = z
  .union([
    z.record(z.string(), z.unknown()),
    z.string().transform((text, { addIssue }): Record<string, unknown> => {
      try {
        return z.record(z.string(), z.unknown()).parse(JSON.parse(text))
      } catch {
        addIssue('not a JSON object')
        return z.NEVER
      }
    }),
  ])
  .default({})

/** The same for a list. */
const jsonList = z
  .union([
    z.array(z.unknown()),
    z.string().transform((text, { addIssue }): unknown[] => {
      try {
        return z.array(z.unknown()).parse(JSON.parse(text))
      } catch {
        addIssue('not a JSON list')
        return z.NEVER
      }
    }),
  ])
  .default([])

/** Settings of Minds. */
export const mindsSettings = {
  openrouterApiKey: setting({
    env: 'OPENROUTER_API_KEY',
    isSecret: true,
    schema: word,
    defaultText: 'none',
    meaning: 'key for OpenRouter: minds are then decided for by a language model; without it by rules',
    app,
  }),
  mindsLlmUrl: setting({
    env: 'MINDS_LLM_URL',
    schema: z.url().optional(),
    defaultText: 'none',
    meaning:
      'base address of any OpenAI-compatible server, `http://127.0.0.1:11434/v1`, in the place of OpenRouter',
    app,
  }),
  mindsLlmKey: setting({
    env: 'MINDS_LLM_API_KEY',
    isSecret: true,
    schema: word,
    defaultText: 'none',
    meaning: 'key for the server of `MINDS_LLM_URL`, where it wants one',
    app,
  }),
  mindsLlmModel: setting({
    env: 'MINDS_LLM_MODEL',
    schema: word,
    defaultText: '`google/gemini-2.0-flash-lite-001` on OpenRouter',
    meaning: 'model of every mind, before the one that a mind names: pinned models get retired',
    app,
  }),
  mindsLlmProvider: setting({
    env: 'MINDS_LLM_PROVIDER',
    schema: word,
    defaultText:
      '`custom` with `MINDS_LLM_URL`, `openrouter` with its key, else the first of the list, else none',
    meaning:
      'where language models are: `openrouter`, `custom`, a name of `MINDS_LLM_PROVIDERS`, or `ollama`, `llamacpp`, `vllm` at their usual local ports',
    app,
  }),
  mindsLlmProviders: setting({
    env: 'MINDS_LLM_PROVIDERS',
    isSecret: true,
    schema: jsonList,
    defaultText: '`[]`',
    meaning:
      'JSON list of further servers: `name`, `base_url`, `default_model`, `api_key_env` (the variable that holds the key), and any of `MINDS_LLM_OPTIONS`; a mind chooses one by `llm_provider`',
    app,
  }),
  mindsLlmOptions: setting({
    env: 'MINDS_LLM_OPTIONS',
    isSecret: true,
    schema: json,
    defaultText: '`{}`',
    meaning:
      'JSON: `structured`, `timeout_ms`, `connect_timeout_ms`, `decision_ms`, `max_retries`, `max_concurrency`, `queue`, `calls_per_decision`, `rpm`, `tpm`, `price`, `budget`, `headers`',
    app,
  }),
  mindsEmbeddingsUrl: setting({
    env: 'MINDS_EMBEDDINGS_URL',
    schema: z.url().optional(),
    defaultText: 'none: the built-in analysis of everyday language',
    meaning: 'base address of an OpenAI-compatible server for the vectors of memories',
    app,
  }),
  mindsEmbeddingsModel: setting({
    env: 'MINDS_EMBEDDINGS_MODEL',
    schema: word,
    defaultText: '`text-embedding-3-small`',
    meaning: 'model for the vectors of memories',
    app,
  }),
  mindsEmbeddingsDimensions: setting({
    env: 'MINDS_EMBEDDINGS_DIMENSIONS',
    schema: whole(1536, { min: 1, max: 8192 }),
    meaning: 'components of those vectors',
    app,
  }),
  mindsEmbeddingsKey: setting({
    env: 'MINDS_EMBEDDINGS_API_KEY',
    isSecret: true,
    schema: word,
    defaultText: 'none',
    meaning: 'key for the server of `MINDS_EMBEDDINGS_URL`',
    app,
  }),
  mindsDurability: setting({
    env: 'CAUSEWAY_MINDS_DURABILITY',
    schema: z.enum(['normal', 'full']).default('normal'),
    meaning:
      '`full`: every decision survives a power cut, at 4 ms each; `normal`: it survives the end of the process',
    app,
  }),
  mindsLimits: setting({
    env: 'CAUSEWAY_MINDS_LIMITS',
    schema: json,
    defaultText: '`{}`',
    meaning:
      'JSON: limits of minds by name, as in `{"memories": 100000, "queue": 8}`; docs/minds.md lists them',
    app,
  }),
}
