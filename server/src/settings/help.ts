import { z } from 'zod'
import { flag, list, setting, whole } from './setting.ts'

/** Settings of Help. */
export const helpSettings = {
  helpSources: setting({
    env: 'CAUSEWAY_HELP_SOURCES',
    schema: list(','),
    defaultText: 'the documentation of Causeway, Fastify and undici',
    meaning:
      'documentation to search, divided by commas: `name=folder`, `internal:name=folder`, `pkg:name` of an installed package, `own` for the default',
    app: 'Help',
  }),
  helpInternal: setting({
    env: 'CAUSEWAY_HELP_INTERNAL',
    schema: flag(false),
    meaning: 'internal documentation may be asked for; without it no caller gets any',
    app: 'Help',
  }),
  helpBuild: setting({
    env: 'CAUSEWAY_HELP_BUILD',
    schema: flag(true),
    meaning: 'index new and changed pages, in the background, when the server starts',
    app: 'Help',
  }),
  helpChunkSize: setting({
    env: 'HELP_CHUNK_SIZE',
    schema: whole(1600, { min: 200, max: 20_000 }),
    meaning: 'characters of a piece of a page at most; a change needs help:rebuild',
    app: 'Help',
  }),
  helpOverlapSize: setting({
    env: 'HELP_OVERLAP_SIZE',
    schema: whole(200, { max: 5000 }),
    meaning: 'characters that a piece repeats of the one before it, at most',
    app: 'Help',
  }),
  helpVectors: setting({
    env: 'CAUSEWAY_HELP_VECTORS',
    schema: z.enum(['auto', 'none']).default('auto'),
    meaning:
      'auto: of the endpoint where CAUSEWAY_EMBEDDINGS_URL is set, else by analysis of the corpus; none: search by words alone',
    app: 'Help',
  }),
  embeddingsUrl: setting({
    env: 'CAUSEWAY_EMBEDDINGS_URL',
    schema: z.url().optional(),
    defaultText: 'none',
    meaning: 'an OpenAI-compatible endpoint for vectors, without `/embeddings`',
    app: 'Help',
  }),
  embeddingsModel: setting({
    env: 'CAUSEWAY_EMBEDDINGS_MODEL',
    schema: z.string().min(1).default('text-embedding-3-large'),
    meaning: 'the model that the endpoint is asked for',
    app: 'Help',
  }),
  embeddingsDimensions: setting({
    env: 'CAUSEWAY_EMBEDDINGS_DIMENSIONS',
    schema: whole(0, { max: 4000 }),
    defaultText: '3072, those of the default model',
    meaning: 'dimensions of its vectors; where set, the endpoint is asked for them',
    app: 'Help',
  }),
  embeddingsKey: setting({
    env: 'CAUSEWAY_EMBEDDINGS_KEY',
    isSecret: true,
    schema: z.string().optional(),
    defaultText: 'none',
    meaning: 'bearer token for the endpoint; never logged',
    app: 'Help',
  }),
  helpDatabaseUrl: setting({
    env: 'CAUSEWAY_HELP_DATABASE_URL',
    isSecret: true,
    schema: z.string().optional(),
    defaultText: 'none: SQLite in the data folder',
    meaning:
      'keep the documentation in PostgreSQL with pgvector 0.8 or newer, `postgres://user@host/database`',
    app: 'Help',
  }),
}
