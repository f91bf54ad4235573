import { encodeLsa, type LsaModel, openEndpoint, openLsa, trainLsa } from '@causeway/embed'
import { type EmbeddingSettings, lsaDimensions } from '../embedding.ts'
import type { HelpStorage, NewVectors } from '../storage/types.ts'

export type Texts = ReadonlyMap<string, string>

export interface BuildCall {
  readonly signal: AbortSignal
  readonly progress: (done: number, total?: number, message?: string) => void
}

export interface VectorResult {
  readonly vectors: NewVectors | undefined
  readonly embedded: number
  readonly reused: number
}

/** Number of texts whose vectors are stored together. */
const storeBatchSize = 256

/** Embeds texts. Reuses cached vectors of an endpoint. Throws errors of the embedder. */
export async function makeVectors(
  texts: Texts,
  settings: EmbeddingSettings,
  storage: HelpStorage,
  call: BuildCall,
): Promise<VectorResult> {
  if (settings.provider === 'none' || texts.size === 0) return { vectors: undefined, embedded: 0, reused: 0 }
  return settings.provider === 'lsa'
    ? embedByLsa(texts, call)
    : embedByEndpoint(texts, settings, storage, call)
}

async function embedByLsa(texts: Texts, { signal, progress }: BuildCall): Promise<VectorResult> {
  const textList = [...texts.values()]
  const model: LsaModel = await trainLsa(textList, {
    dimensions: lsaDimensions,
    signal,
    progress: (done, total) => progress(done, total, 'analysing the corpus'),
  })
  const vectors = await openLsa(model).embedDocuments(textList, { signal })
  const rows = toRows([...texts.keys()], vectors)
  return { vectors: { space: model.space, model: encodeLsa(model), rows }, embedded: rows.size, reused: 0 }
}

async function embedByEndpoint(
  texts: Texts,
  settings: EmbeddingSettings & { readonly provider: 'openai' },
  storage: HelpStorage,
  { signal, progress }: BuildCall,
): Promise<VectorResult> {
  const embedder = openEndpoint(settings)
  try {
    const { space } = embedder
    const rows = new Map(await storage.readCachedVectors(space.fingerprint, [...texts.keys()]))
    const reused = rows.size
    const missingHashes = [...texts.keys()].filter((hash) => !rows.has(hash))
    for (let offset = 0; offset < missingHashes.length; offset += storeBatchSize) {
      const hashes = missingHashes.slice(offset, offset + storeBatchSize)
      const vectors = await embedder.embedDocuments(
        hashes.map((hash) => texts.get(hash) ?? ''),
        { signal },
      )
      const newRows = toRows(hashes, vectors)
      await storage.cacheVectors(space.fingerprint, newRows)
      for (const [hash, vector] of newRows) rows.set(hash, vector)
      progress(
        Math.min(offset + storeBatchSize, missingHashes.length),
        missingHashes.length,
        'requesting vectors',
      )
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
