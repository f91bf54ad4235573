import { z } from 'zod'
import { appSettings, flag, list, setting, whole } from './setting.ts'

export const helpSettings = appSettings('Help', {
  helpSources: setting({
    env: 'CAUSEWAY_HELP_SOURCES',
    schema: list(','),
    defaultText: 'the documentation of Causeway, Fastify and undici',
    meaning:
      'documentation to search, separated by commas: `name=folder`, `name=https://host/llms.txt` for a site, both also as `internal:name=...`, `pkg:name` for an installed package, `npm:name@version` for a package of a registry, `own` for the default',
  }),
  helpRegistry: setting({
    env: 'CAUSEWAY_HELP_REGISTRY',
    schema: z.url({ protocol: /^https?$/ }).default('https://registry.npmjs.org'),
    meaning: 'npm registry for the sources `npm:name@version`, which are fetched once, with the first build',
  }),
  helpOrigins: setting({
    env: 'CAUSEWAY_HELP_ORIGINS',
    schema: list(',').pipe(z.array(z.url({ protocol: /^https?$/ }))),
    meaning:
      'other origins to which an `llms.txt` may link, such as `https://docs.example.org`; a listed origin may have a private address',
  }),
  helpInternal: setting({
    env: 'CAUSEWAY_HELP_INTERNAL',
    schema: flag(false),
    meaning: 'allow requests for internal documentation; if false, no client receives any',
  }),
  helpBuild: setting({
    env: 'CAUSEWAY_HELP_BUILD',
    schema: flag(true),
    meaning: 'index new and changed pages in the background when the server starts',
  }),
  helpChunkSize: setting({
    env: 'HELP_CHUNK_SIZE',
    schema: whole(1600, { min: 200, max: 20_000 }),
    meaning: 'maximum characters of a chunk of a page; after a change run help:rebuild',
  }),
  helpOverlapSize: setting({
    env: 'HELP_OVERLAP_SIZE',
    schema: whole(200, { max: 5000 }),
    meaning: 'maximum characters that a chunk repeats from the previous one',
  }),
  helpVectors: setting({
    env: 'CAUSEWAY_HELP_VECTORS',
    schema: z.enum(['auto', 'none']).default('auto'),
    meaning:
      'auto: vectors of the endpoint if CAUSEWAY_EMBEDDINGS_URL is set, otherwise latent semantic analysis of the corpus; none: search by words only',
  }),
  embeddingsUrl: setting({
    env: 'CAUSEWAY_EMBEDDINGS_URL',
    schema: z.url().optional(),
    meaning: 'URL of an OpenAI-compatible endpoint for embeddings, without `/embeddings`',
  }),
  embeddingsModel: setting({
    env: 'CAUSEWAY_EMBEDDINGS_MODEL',
    schema: z.string().min(1).default('text-embedding-3-large'),
    meaning: 'embedding model to request from the endpoint',
  }),
  embeddingsDimensions: setting({
    env: 'CAUSEWAY_EMBEDDINGS_DIMENSIONS',
    schema: whole(0, { max: 4000 }),
    defaultText: '3072, as the default model',
    meaning: 'dimensions of the vectors; if set, they are requested from the endpoint',
  }),
  embeddingsKey: setting({
    env: 'CAUSEWAY_EMBEDDINGS_KEY',
    isSecret: true,
    schema: z.string().optional(),
    meaning: 'bearer token for the endpoint; never logged',
  }),
  helpDatabaseUrl: setting({
    env: 'CAUSEWAY_HELP_DATABASE_URL',
    isSecret: true,
    schema: z.string().optional(),
    defaultText: 'none: SQLite in the data folder',
    meaning: 'store the documentation in PostgreSQL 15 or newer: `postgres://user@host/database`',
  }),
})
