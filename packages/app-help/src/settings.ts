import { numberSetting } from '@causeway/app-kit'
import { ownSources, readSources, type Source } from './build/source.ts'
import { type ChunkSize, defaultSize } from './domain/chunk.ts'
import type { EmbeddingSettings } from './embedding.ts'

export interface HelpSettings {
  readonly sources: readonly Source[]
  /** Whether callers can request internal pages. */
  readonly internal: boolean
  /** Whether the server indexes changed pages at its start. */
  readonly autoBuild: boolean
  readonly size: ChunkSize
  readonly embedding: EmbeddingSettings
  /** URL of a PostgreSQL server for the documentation. */
  readonly databaseUrl: string | undefined
}

/** Reads validated settings, with defaults. Throws `HELP_SOURCE_INVALID`. */
export function readSettings(values: Readonly<Record<string, unknown>>, cwd: string): HelpSettings {
  const text = (name: string): string | undefined => {
    const value = values[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const entries = Array.isArray(values.helpSources) ? values.helpSources.map(String) : []
  const size = numberSetting(values, 'helpChunkSize') ?? defaultSize.size
  const overlap = numberSetting(values, 'helpOverlapSize') ?? defaultSize.overlap
  return {
    sources: entries.length === 0 ? ownSources() : withOwn(entries, cwd),
    internal: values.helpInternal === true,
    autoBuild: values.helpBuild !== false,
    // A larger overlap would repeat lines several times.
    size: { size, overlap: Math.min(overlap, Math.floor(size / 2)) },
    embedding: readEmbedding(text, numberSetting(values, 'embeddingsDimensions') ?? 0),
    databaseUrl: text('helpDatabaseUrl'),
  }
}

/** Replaces the entry `own` by the default sources. */
const withOwn = (entries: readonly string[], cwd: string): Source[] => {
  const named = readSources(
    entries.filter((entry) => entry !== 'own'),
    cwd,
  )
  const names = new Set(named.map(({ name }) => name))
  return entries.includes('own') ? [...named, ...ownSources().filter(({ name }) => !names.has(name))] : named
}

/** The default model of an endpoint, with its dimensions. */
export const defaultModel = { name: 'text-embedding-3-large', dimensions: 3072 } as const

/** `dimensions` is 0 for the default of the model. */
function readEmbedding(text: (name: string) => string | undefined, dimensions: number): EmbeddingSettings {
  const baseUrl = text('embeddingsUrl')
  if (text('helpVectors') === 'none') return { provider: 'none' }
  if (baseUrl === undefined) return { provider: 'lsa' }
  return {
    provider: 'openai',
    baseUrl,
    model: text('embeddingsModel') ?? defaultModel.name,
    dimensions: dimensions === 0 ? defaultModel.dimensions : dimensions,
    requestDimensions: dimensions !== 0,
    apiKey: text('embeddingsKey'),
  }
}
