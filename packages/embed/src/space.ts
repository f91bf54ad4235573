import { createHash } from 'node:crypto'
import { CausewayError } from '@causeway/protocol'

/** Where vectors come from and what makes them comparable. Vectors of two spaces are never compared. */
export interface EmbeddingSpace {
  /** `lsa`, `openai` (any compatible endpoint) */
  readonly provider: string
  readonly model: string
  /** What tells two trainings of one model apart; empty where the model is published and fixed. */
  readonly revision: string
  readonly dimensions: number
  /** SHA-256 of all that makes two vectors comparable, hex; the address of an endpoint is no part of it. */
  readonly fingerprint: string
}

/** Version of how texts are prepared before they are embedded; raised when that changes. */
const preparation = 'trim;unit;cosine;1'

/** A space with its fingerprint. */
export function makeSpace(identity: Omit<EmbeddingSpace, 'fingerprint'>): EmbeddingSpace {
  const { provider, model, revision, dimensions } = identity
  const canonical = JSON.stringify([provider, model, revision, dimensions, preparation])
  return { ...identity, fingerprint: createHash('sha256').update(canonical).digest('hex') }
}

/** What vectors are wanted: whatever is left out may be anything, as the training of an analysis of the corpus itself. */
export type WantedSpace = Pick<EmbeddingSpace, 'provider'> & Partial<EmbeddingSpace>

/** A space in words: `openai text-embedding-3-large, 3072 dimensions`. */
const spaceName = ({ provider, model, dimensions }: WantedSpace): string =>
  [
    [provider, model].filter(Boolean).join(' '),
    ...(dimensions === undefined ? [] : [`${dimensions} dimensions`]),
  ].join(', ')

/** Throws `EMBEDDING_SPACE_MISMATCH`, with both spaces, unless the stored one is what is wanted. */
export function requireSameSpace(stored: EmbeddingSpace, wanted: WantedSpace): void {
  const told = ['provider', 'model', 'revision', 'dimensions', 'fingerprint'] as const
  if (told.every((key) => wanted[key] === undefined || wanted[key] === stored[key])) return
  throw new CausewayError(
    'EMBEDDING_SPACE_MISMATCH',
    `the stored vectors are of another space: ${spaceName(stored)}, and the settings ask for ${spaceName(wanted)}`,
    { data: { stored, configured: wanted } },
  )
}
