import { z } from 'zod'
import {
  anyText,
  appSettings,
  choice,
  defaultInteger,
  flag,
  list,
  setting,
  text,
  url,
  webUrl,
} from './setting.ts'

export const replaySettings = {
  recordingRoots: setting('CAUSEWAY_RECORDING_ROOTS', {
    schema: list(),
    meaning: 'additional folders with simulation recordings, for Replay',
  }),
  ...appSettings('Replay', {
    snapshotCapBytes: setting('CAUSEWAY_SNAPSHOT_CAP_BYTES', {
      schema: defaultInteger(4 * 2 ** 30),
      meaning: 'maximum bytes of private copies of recordings; the least recently used are deleted',
    }),
    recordingsCapBytes: setting('CAUSEWAY_RECORDINGS_CAP_BYTES', {
      schema: defaultInteger(16 * 2 ** 30, { min: 2 ** 20 }),
      meaning: 'maximum bytes of recordings made by the server; the oldest are deleted, but never a live one',
    }),
    recordingsMaxAgeDays: setting('CAUSEWAY_RECORDINGS_MAX_AGE_DAYS', {
      schema: defaultInteger(0),
      meaning: 'recordings made by the server are deleted after this many days; 0 disables deletion',
    }),
    lakeFolder: setting('CAUSEWAY_LAKE_DIR', {
      schema: anyText.optional(),
      defaultText: '`lake` in the data folder',
      meaning:
        'folder of the Parquet files that questions about the frames of all runs read; several servers may share it',
    }),
    clickHouseUrl: setting('CAUSEWAY_CLICKHOUSE_URL', {
      isSecret: true,
      schema: webUrl.optional(),
      defaultText: 'none: DuckDB',
      meaning:
        'HTTP interface of a ClickHouse server that answers these questions: `http://user:password@host:8123`',
    }),
    clickHouseSource: setting('CAUSEWAY_CLICKHOUSE_SOURCE', {
      schema: anyText.default("file('causeway/v1/{table}/*.parquet', 'Parquet')"),
      meaning: 'table function by which ClickHouse reads the Parquet files; `{table}` is `frame` or `state`',
    }),
  }),
}

export const helpSettings = appSettings('Help', {
  helpSources: setting('CAUSEWAY_HELP_SOURCES', {
    schema: list(','),
    defaultText: 'the documentation of Causeway, Fastify and undici',
    meaning:
      'documentation to search, separated by commas: `name=folder`, `name=https://host/llms.txt` for a site, both also as `internal:name=...`, `pkg:name` for an installed package, `npm:name@version` for a package of a registry, `own` for the default',
  }),
  helpRegistry: setting('CAUSEWAY_HELP_REGISTRY', {
    schema: webUrl.default('https://registry.npmjs.org'),
    meaning: 'npm registry for the sources `npm:name@version`, which are fetched once, with the first build',
  }),
  helpOrigins: setting('CAUSEWAY_HELP_ORIGINS', {
    schema: list(',').pipe(z.array(webUrl)),
    meaning:
      'other origins to which an `llms.txt` may link, such as `https://docs.example.org`; a listed origin may have a private address',
  }),
  helpInternal: setting('CAUSEWAY_HELP_INTERNAL', {
    schema: flag(false),
    meaning: 'allow requests for internal documentation; if false, no client receives any',
  }),
  helpBuild: setting('CAUSEWAY_HELP_BUILD', {
    schema: flag(true),
    meaning: 'index new and changed pages in the background when the server starts',
  }),
  helpChunkSize: setting('HELP_CHUNK_SIZE', {
    schema: defaultInteger(1600, { min: 200, max: 20_000 }),
    meaning: 'maximum characters of a chunk of a page; after a change run help:rebuild',
  }),
  helpOverlapSize: setting('HELP_OVERLAP_SIZE', {
    schema: defaultInteger(200, { max: 5000 }),
    meaning: 'maximum characters that a chunk repeats from the previous one',
  }),
  helpVectors: setting('CAUSEWAY_HELP_VECTORS', {
    schema: choice('auto', 'none').default('auto'),
    meaning:
      'auto: vectors of the endpoint if CAUSEWAY_EMBEDDINGS_URL is set, otherwise latent semantic analysis of the corpus; none: search by words only',
  }),
  embeddingsUrl: setting('CAUSEWAY_EMBEDDINGS_URL', {
    schema: url.optional(),
    meaning: 'URL of an OpenAI-compatible endpoint for embeddings, without `/embeddings`',
  }),
  embeddingsModel: setting('CAUSEWAY_EMBEDDINGS_MODEL', {
    schema: text.default('text-embedding-3-large'),
    meaning: 'embedding model to request from the endpoint',
  }),
  embeddingsDimensions: setting('CAUSEWAY_EMBEDDINGS_DIMENSIONS', {
    schema: defaultInteger(0, { max: 4000 }),
    defaultText: '3072, as the default model',
    meaning: 'dimensions of the vectors; if set, they are requested from the endpoint',
  }),
  embeddingsKey: setting('CAUSEWAY_EMBEDDINGS_KEY', {
    isSecret: true,
    schema: anyText.optional(),
    meaning: 'bearer token for the endpoint; never logged',
  }),
  helpDatabaseUrl: setting('CAUSEWAY_HELP_DATABASE_URL', {
    isSecret: true,
    schema: anyText.optional(),
    defaultText: 'none: SQLite in the data folder',
    meaning: 'store the documentation in PostgreSQL 15 or newer: `postgres://user@host/database`',
  }),
})

/** Accepts a value in the configuration file, and its JSON text elsewhere. */
const createJsonSchema = <Schema extends z.ZodType>(schema: Schema, kind: string) =>
  z.union(
    [
      schema,
      z.string().transform((text, { addIssue }): z.output<Schema> => {
        try {
          return schema.parse(JSON.parse(text))
        } catch {
          addIssue(`not a JSON ${kind}`)
          return z.NEVER
        }
      }),
    ],
    `must be a JSON ${kind}`,
  )
const jsonObject = createJsonSchema(z.record(z.string(), z.unknown()), 'object').default({})
const jsonList = createJsonSchema(z.array(z.unknown()), 'list').default([])

export const mindsSettings = appSettings('Minds', {
  openrouterApiKey: setting('OPENROUTER_API_KEY', {
    isSecret: true,
    schema: text.optional(),
    meaning: 'API key for OpenRouter; with it a language model decides for minds, without it rules do',
  }),
  mindsLlmUrl: setting('MINDS_LLM_URL', {
    schema: url.optional(),
    meaning:
      'base URL of an OpenAI-compatible server to use instead of OpenRouter: `http://127.0.0.1:11434/v1`',
  }),
  mindsLlmKey: setting('MINDS_LLM_API_KEY', {
    isSecret: true,
    schema: text.optional(),
    meaning: 'API key for the server of `MINDS_LLM_URL`, if it requires one',
  }),
  mindsLlmModel: setting('MINDS_LLM_MODEL', {
    schema: text.optional(),
    defaultText: '`google/gemini-2.0-flash-lite-001` on OpenRouter',
    meaning:
      'model of every mind; overrides the model in the configuration of a mind, because providers retire models',
  }),
  mindsLlmProvider: setting('MINDS_LLM_PROVIDER', {
    schema: text.optional(),
    defaultText:
      '`custom` with `MINDS_LLM_URL`, `openrouter` with its key, otherwise the first of the list, if any',
    meaning:
      'provider of language models: `openrouter`, `custom`, a name from `MINDS_LLM_PROVIDERS`, or `ollama`, `llamacpp`, `vllm` on their default local ports',
  }),
  mindsLlmProviders: setting('MINDS_LLM_PROVIDERS', {
    isSecret: true,
    schema: jsonList,
    defaultText: '`[]`',
    meaning:
      'JSON list of additional providers: `name`, `base_url`, `default_model`, `api_key_env` (the variable that contains the key), and any of `MINDS_LLM_OPTIONS`; a mind selects one with `llm_provider`',
  }),
  mindsLlmOptions: setting('MINDS_LLM_OPTIONS', {
    isSecret: true,
    schema: jsonObject,
    defaultText: '`{}`',
    meaning:
      'JSON object: `structured`, `timeout_ms`, `connect_timeout_ms`, `decision_ms`, `max_retries`, `max_concurrency`, `queue`, `calls_per_decision`, `rpm`, `tpm`, `price`, `budget`, `headers`',
  }),
  mindsEmbeddingsUrl: setting('MINDS_EMBEDDINGS_URL', {
    schema: url.optional(),
    defaultText: 'none: the built-in model of everyday language',
    meaning: 'base URL of an OpenAI-compatible server for embeddings of memories',
  }),
  mindsEmbeddingsModel: setting('MINDS_EMBEDDINGS_MODEL', {
    schema: text.optional(),
    defaultText: '`text-embedding-3-small`',
    meaning: 'embedding model for memories',
  }),
  mindsEmbeddingsDimensions: setting('MINDS_EMBEDDINGS_DIMENSIONS', {
    schema: defaultInteger(1536, { min: 1, max: 8192 }),
    meaning: 'dimensions of the embeddings',
  }),
  mindsEmbeddingsKey: setting('MINDS_EMBEDDINGS_API_KEY', {
    isSecret: true,
    schema: text.optional(),
    meaning: 'API key for the server of `MINDS_EMBEDDINGS_URL`',
  }),
  mindsDurability: setting('CAUSEWAY_MINDS_DURABILITY', {
    schema: choice('normal', 'full').default('normal'),
    meaning:
      '`full`: every decision survives a power failure and takes 4 ms longer; `normal`: it survives a crash of the process',
  }),
  mindsLimits: setting('CAUSEWAY_MINDS_LIMITS', {
    schema: jsonObject,
    defaultText: '`{}`',
    meaning:
      'JSON object of limits by name, such as `{"memories": 100000, "queue": 8}`; docs/minds.md lists them',
  }),
})

export const debriefSettings = {
  plotRoots: setting('CAUSEWAY_PLOT_ROOTS', {
    schema: list(),
    meaning: 'additional folders with plots and track logs, for Debrief and ToolVault',
  }),
  ...appSettings('Debrief', {
    plotSaveMs: setting('CAUSEWAY_PLOT_SAVE_MS', {
      schema: defaultInteger(250, { max: 3_600_000 }),
      meaning:
        'a changed plot is saved after this many milliseconds without another change, but no later than 2 s (or this time, if longer) after the first change',
    }),
    plotCheckMs: setting('CAUSEWAY_PLOT_CHECK_MS', {
      schema: defaultInteger(500, { min: 50 }),
      meaning: 'interval in milliseconds of checks for changes to open plots by other programs',
    }),
  }),
}

export const trmSettings = appSettings('Trm', {
  trmRoots: setting('CAUSEWAY_TRM_ROOTS', {
    schema: list(),
    defaultText: 'none: Trm is disabled',
    meaning:
      'folders with projects in which Trm may write files and run commands, separated like PATH; no other setting adds folders',
  }),
  trmCommands: setting('CAUSEWAY_TRM_COMMANDS', {
    schema: text.default('any'),
    meaning:
      'commands that Trm sessions may run: any, detected (only those that trm.start finds in the project), or a regular expression that must match the whole command',
  }),
  trmTrusted: setting('CAUSEWAY_TRM_TRUSTED', {
    schema: list(','),
    meaning:
      'names of tokens, separated by commas, that may start Trm sessions with any command, regardless of CAUSEWAY_TRM_COMMANDS',
  }),
  trmSandbox: setting('CAUSEWAY_TRM_SANDBOX', {
    schema: choice('none', 'auto', 'bwrap').default('none'),
    meaning:
      'minimum isolation of the commands of Trm sessions: none (limits and a working copy only), auto (bubblewrap if it works) or bwrap (commands fail without it); a session can request more',
  }),
  trmReviewUrl: setting('CAUSEWAY_TRM_REVIEW_URL', {
    schema: flag(false),
    meaning: 'removed and without effect: trm.review does not fetch pull requests',
  }),
  trmParallel: setting('CAUSEWAY_TRM_PARALLEL', {
    schema: defaultInteger(2, { min: 1, max: 64 }),
    meaning: 'maximum concurrent evaluations of Trm; further ones wait',
  }),
})
