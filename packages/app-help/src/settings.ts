/** The settings of Help as the app uses them. */

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
  const number = (name: string, otherwise: number): number => {
    const value = values[name]
    return typeof value === 'number' ? value : otherwise
  }
  const entries = Array.isArray(values.helpSources) ? values.helpSources.map(String) : []
  const size = number('helpChunkSize', defaultSize.size)
  return {
    sources: entries.length === 0 ? ownSources() : withOwn(entries, cwd),
    internal: values.helpInternal === true,
    autoBuild: values.helpBuild !== false,
    // An overlap of half a piece and more would repeat every line several times.
    size: { size, overlap: Math.min(number('helpOverlapSize', defaultSize.overlap), Math.floor(size / 2)) },
    embedding: embeddingOf(text, number),
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

function embeddingOf(
  text: (name: string) => string | undefined,
  number: (name: string, otherwise: number) => number,
): EmbeddingSettings {
  const baseUrl = text('embeddingsUrl')
  if (text('helpVectors') === 'none') return { provider: 'none' }
  if (baseUrl === undefined) return { provider: 'lsa' }
  const dimensions = number('embeddingsDimensions', 0)
  return {
    provider: 'openai',
    baseUrl,
    model: text('embeddingsModel') ?? 'text-embedding-3-large',
    dimensions: dimensions === 0 ? 3072 : dimensions,
    requestDimensions: dimensions !== 0,
    apiKey: text('embeddingsKey'),
  }
}
