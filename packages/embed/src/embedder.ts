import { createHash } from 'node:crypto'
import { EmbedError } from './errors.ts'

export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined
  /** Called after each batch with the numbers of finished texts and of all texts. */
  readonly progress?: ((done: number, total: number) => void) | undefined
}

/** Computes unit vectors in one space, or `undefined` for a text without known words. */
export interface Embedder {
  readonly space: EmbeddingSpace
  /** Returns a vector per text. Throws `EMBEDDINGS_UNAVAILABLE`, `EMBEDDINGS_INVALID` and `CANCELLED`. */
  embedDocuments(
    texts: readonly string[],
    options?: EmbedOptions,
  ): Promise<readonly (Float32Array | undefined)[]>
  /** Throws the errors of `embedDocuments`. */
  embedQuery(text: string, options?: EmbedOptions): Promise<Float32Array | undefined>
  close(): Promise<void>
}

/** Only vectors of the same space are comparable. */
export interface EmbeddingSpace {
  /** `lsa`, or `openai` for any compatible endpoint. */
  readonly provider: string
  readonly model: string
  /** Hash of the trained model. Empty for `openai`. */
  readonly revision: string
  readonly dimensions: number
  /** Hex SHA-256 of the other fields and of the text preparation. */
  readonly fingerprint: string
}

const preparation = 'trim;unit;cosine;1'

export function makeSpace(identity: Omit<EmbeddingSpace, 'fingerprint'>): EmbeddingSpace {
  const { provider, model, revision, dimensions } = identity
  const canonicalJson = JSON.stringify([provider, model, revision, dimensions, preparation])
  return { ...identity, fingerprint: createHash('sha256').update(canonicalJson).digest('hex') }
}

/** Missing properties match any value. */
export type WantedSpace = Pick<EmbeddingSpace, 'provider'> & Partial<EmbeddingSpace>

const formatSpace = ({ provider, model, dimensions }: WantedSpace): string =>
  [
    [provider, model].filter(Boolean).join(' '),
    ...(dimensions === undefined ? [] : [`${dimensions} dimensions`]),
  ].join(', ')

/** Throws `EMBEDDING_SPACE_MISMATCH` if a property differs. */
export function requireSameSpace(storedSpace: EmbeddingSpace, expectedSpace: WantedSpace): void {
  const keys = ['provider', 'model', 'revision', 'dimensions', 'fingerprint'] as const
  if (keys.every((key) => expectedSpace[key] === undefined || expectedSpace[key] === storedSpace[key])) return
  throw new EmbedError(
    'EMBEDDING_SPACE_MISMATCH',
    `the stored vectors are of ${formatSpace(storedSpace)}, but the settings require ${formatSpace(expectedSpace)}`,
    { data: { stored: storedSpace, configured: expectedSpace } },
  )
}
