/** The settings of Help as the app uses them. */

import { numberSetting } from '@causeway/app-kit'
import { ownSources, readSources, type Source } from './build/source.ts'
import { type ChunkSize, defaultSize } from './domain/chunk.ts'
import type { EmbeddingSettings } from './embedding.ts'

/** What an operator decides. */
export interface HelpSettings {
  readonly sources: readonly Source[]
  /** Internal pages may be given to who asks for them. */
  readonly internal: boolean
  /** The server looks for changed pages when it starts. */
  readonly autoBuild: boolean
  readonly size: ChunkSize
  readonly embedding: EmbeddingSettings
  /** A PostgreSQL server to keep the documentation in. */
  readonly databaseUrl: string | undefined
}

/** Reads the validated settings; what is absent has its default. Throws `HELP_SOURCE_INVALID`. */
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
    // An overlap of half a piece and more would repeat every line several times.
    size: { size, overlap: Math.min(overlap, Math.floor(size / 2)) },
    embedding: embeddingOf(text, numberSetting(values, 'embeddingsDimensions') ?? 0),
    databaseUrl: text('helpDatabaseUrl'),
  }
}

/** The entry `own` stands for what is indexed where nothing is configured. */
const withOwn = (entries: readonly string[], cwd: string): Source[] => {
  const named = readSources(
    entries.filter((entry) => entry !== 'own'),
    cwd,
  )
  const names = new Set(named.map(({ name }) => name))
  return entries.includes('own') ? [...named, ...ownSources().filter(({ name }) => !names.has(name))] : named
}

/** The model of the endpoint where none is named; dimensions as its vendor gives them. */
export const defaultModel = { name: 'text-embedding-3-large', dimensions: 3072 } as const

/** `dimensions` is 0 where the endpoint is not to be asked for a number of its own. */
function embeddingOf(text: (name: string) => string | undefined, dimensions: number): EmbeddingSettings {
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
