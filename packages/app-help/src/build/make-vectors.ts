import { encodeLsa, type LsaModel, openEndpoint, openLsa, trainLsa } from '@causeway/embed'
import { type EmbeddingSettings, lsaDimensions } from '../embedding.ts'
import type { HelpStorage, NewVectors } from '../storage/types.ts'

export type Texts = ReadonlyMap<string, string>

export interface BuildCall {
  readonly signal: AbortSignal
  readonly progress: (done: number, total?: number, message?: string) => void
}

export interface MadeVectors {
  readonly vectors: NewVectors | undefined
  readonly embedded: number
  readonly reused: number
}

/** Number of texts after which vectors are stored. */
const storeBatchSize = 256

/** Uses cached vectors if possible. Throws errors of the embedder. */
export async function makeVectors(
  all: Texts,
  settings: EmbeddingSettings,
  storage: HelpStorage,
  call: BuildCall,
): Promise<MadeVectors> {
  if (settings.provider === 'none' || all.size === 0) return { vectors: undefined, embedded: 0, reused: 0 }
  return settings.provider === 'lsa' ? embedByLsa(all, call) : embedByEndpoint(all, settings, storage, call)
}

async function embedByLsa(all: Texts, { signal, progress }: BuildCall): Promise<MadeVectors> {
  const list = [...all.values()]
  const model: LsaModel = await trainLsa(list, {
    dimensions: lsaDimensions,
    signal,
    progress: (done, total) => progress(done, total, 'analysing the corpus'),
  })
  const vectors = await openLsa(model).embedDocuments(list, { signal })
  const rows = toRows([...all.keys()], vectors)
  return { vectors: { space: model.space, model: encodeLsa(model), rows }, embedded: rows.size, reused: 0 }
}

async function embedByEndpoint(
  all: Texts,
  settings: EmbeddingSettings & { readonly provider: 'openai' },
  storage: HelpStorage,
  { signal, progress }: BuildCall,
): Promise<MadeVectors> {
  const embedder = openEndpoint(settings)
  try {
    const { space } = embedder
    const rows = new Map(await storage.cachedVectors(space.fingerprint, [...all.keys()]))
    const reused = rows.size
    const missing = [...all.keys()].filter((hash) => !rows.has(hash))
    for (let at = 0; at < missing.length; at += storeBatchSize) {
      const hashes = missing.slice(at, at + storeBatchSize)
      const vectors = await embedder.embedDocuments(
        hashes.map((hash) => all.get(hash) ?? ''),
        { signal },
      )
      const made = toRows(hashes, vectors)
      await storage.cacheVectors(space.fingerprint, made)
      for (const [hash, vector] of made) rows.set(hash, vector)
      progress(Math.min(at + storeBatchSize, missing.length), missing.length, 'requesting vectors')
    }
    return { vectors: { space, rows }, embedded: rows.size - reused, reused }
  } finally {
    await embedder.close()
  }
}

function toRows(
  hashes: readonly string[],
  vectors: readonly (Float32Array | undefined)[],
): Map<string, Float32Array> {
  return new Map(
    hashes.flatMap((hash, i) => {
      const vector = vectors[i]
      return vector === undefined ? [] : [[hash, vector] as const]
    }),
  )
}
