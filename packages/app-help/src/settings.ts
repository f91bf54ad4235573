import { join } from 'node:path'
import { numberSetting } from '@causeway/app-kit'
import { listSources, type SourceList } from './build/source.ts'
import { type ChunkSize, defaultSize } from './domain/chunk.ts'
import type { EmbeddingSettings } from './embedding.ts'

export interface HelpSettings {
  /** Reads the configured sources for each build, because a missing folder may exist later. */
  readonly listSources: () => SourceList
  readonly internal: boolean
  readonly autoBuild: boolean
  readonly size: ChunkSize
  readonly embedding: EmbeddingSettings
  readonly databaseUrl: string | undefined
}

export function readSettings(
  values: Readonly<Record<string, unknown>>,
  { cwd, dir }: { readonly cwd: string; readonly dir: string },
): HelpSettings {
  const text = (name: string): string | undefined => {
    const value = values[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const entries = Array.isArray(values.helpSources) ? values.helpSources.map(String) : []
  const downloads = {
    folder: join(dir, 'help-packages'),
    registry: text('helpRegistry') ?? defaultRegistry,
    origins: Array.isArray(values.helpOrigins)
      ? values.helpOrigins.map((url) => new URL(String(url)).origin)
      : [],
  }
  const size = numberSetting(values, 'helpChunkSize') ?? defaultSize.size
  const overlap = numberSetting(values, 'helpOverlapSize') ?? defaultSize.overlap
  return {
    listSources: () => listSources(entries, cwd, downloads),
    internal: values.helpInternal === true,
    autoBuild: values.helpBuild !== false,
    size: { size, overlap: Math.min(overlap, Math.floor(size / 2)) },
    embedding: readEmbedding(text, numberSetting(values, 'embeddingsDimensions') ?? 0),
    databaseUrl: text('helpDatabaseUrl'),
  }
}

const defaultRegistry = 'https://registry.npmjs.org'

export const defaultModel = { name: 'text-embedding-3-large', dimensions: 3072 } as const

/** `dimensions` is 0 if the model's default applies. */
function readEmbedding(getText: (name: string) => string | undefined, dimensions: number): EmbeddingSettings {
  const baseUrl = getText('embeddingsUrl')
  if (getText('helpVectors') === 'none') return { provider: 'none' }
  if (baseUrl === undefined) return { provider: 'lsa' }
  return {
    provider: 'openai',
    baseUrl,
    model: getText('embeddingsModel') ?? defaultModel.name,
    dimensions: dimensions === 0 ? defaultModel.dimensions : dimensions,
    requestDimensions: dimensions !== 0,
    apiKey: getText('embeddingsKey'),
  }
}
