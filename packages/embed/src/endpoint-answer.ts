import { CausewayError } from '@causeway/protocol'
import { unit, vectorOf } from './domain/vector.ts'

/**
 * The vectors of an answer, in the order of the texts, at length 1. Reads numbers and, from endpoints that ignore
 * `encoding_format`, base64 of little-endian float32.
 *
 * Throws `EMBEDDINGS_INVALID` where texts have no vector of their own, and `EMBEDDING_SPACE_MISMATCH` where a vector has
 * another number of components: it is never cut or filled up.
 */
export function readVectors(body: unknown, texts: number, dimensions: number): (Float32Array | undefined)[] {
  const { data } = (body ?? {}) as { data?: unknown }
  if (!Array.isArray(data) || data.length !== texts)
    throw invalid(`gave ${Array.isArray(data) ? data.length : 'no'} vectors for ${texts} texts`)
  const vectors = new Array<Float32Array | undefined>(texts).fill(undefined)
  const seen = new Set<number>()
  for (const [position, entry] of data.entries()) {
    const { index = position, embedding } = (entry ?? {}) as { index?: unknown; embedding?: unknown }
    if (typeof index !== 'number' || !(index in vectors) || seen.has(index))
      throw invalid('numbered its vectors wrongly')
    seen.add(index)
    vectors[index] = readVector(embedding, dimensions)
  }
  return vectors
}

function readVector(embedding: unknown, dimensions: number): Float32Array {
  const numbers = typeof embedding === 'string' ? vectorOf(Buffer.from(embedding, 'base64')) : embedding
  if (!(numbers instanceof Float32Array) && !isNumbers(numbers))
    throw invalid('gave a vector that is no list of numbers')
  if (numbers.length !== dimensions)
    throw new CausewayError(
      'EMBEDDING_SPACE_MISMATCH',
      `the embeddings endpoint gave ${numbers.length} dimensions, and the settings say ${dimensions}`,
      { data: { dimensions: numbers.length, configured_dimensions: dimensions } },
    )
  const vector = unit(numbers)
  if (vector === undefined) throw invalid('gave a vector without direction')
  return vector
}

const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((component) => typeof component === 'number')

const invalid = (what: string): CausewayError =>
  new CausewayError('EMBEDDINGS_INVALID', `the embeddings endpoint ${what}`)
