/**
 * Latent semantic analysis: texts become points so that texts with words of the same kind are near, though they share
 * none. Trained on the texts themselves in seconds, without a network; deterministic.
 */
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { terms } from './domain/terms.ts'
import { truncatedSvd } from './domain/truncated-svd.ts'
import { unit } from './domain/vector.ts'
import { makeVocabulary, termMatrix, type Vocabulary, weigh } from './domain/vocabulary.ts'
import type { Embedder, EmbedOptions } from './embedder.ts'
import { type EmbeddingSpace, makeSpace } from './space.ts'

/** A trained model. */
export interface LsaModel {
  readonly space: EmbeddingSpace
  readonly vocabulary: Vocabulary
  /** term vectors, shape [terms, dimensions], row-major float32 */
  readonly matrix: Float32Array
}

/** How a model is trained. */
export interface LsaOptions extends EmbedOptions {
  /** default 128; less where there are fewer texts or terms */
  readonly dimensions?: number
  readonly seed?: number
  /** Texts trained on at most, evenly spread over all; the others are placed among them. Default 20 000. */
  readonly mostTexts?: number
}

/**
 * Trains on texts. The event loop gets a turn between passes, each of which may take seconds: call it in a worker.
 * Throws `CANCELLED`.
 */
export async function trainLsa(texts: readonly string[], options: LsaOptions = {}): Promise<LsaModel> {
  const { dimensions = 128, seed = 1, mostTexts = 20_000, signal, progress } = options
  const step = Math.max(1, texts.length / mostTexts)
  const chosen = Array.from({ length: Math.min(texts.length, mostTexts) }, (_, i) =>
    terms(texts[Math.floor(i * step)] ?? ''),
  )
  const vocabulary = makeVocabulary(chosen)
  const passes = truncatedSvd(termMatrix(chosen, vocabulary), { rank: dimensions, seed })
  let pass = passes.next()
  while (!pass.done) {
    progress?.(...pass.value)
    await turn()
    throwIfCancelled(signal)
    pass = passes.next()
  }
  return makeModel(vocabulary, pass.value.right.columns, Float32Array.from(pass.value.right.data))
}

/** An embedder of a trained model. */
export function openLsa(model: LsaModel): Embedder {
  const embed = (text: string): Float32Array | undefined => project(model, text)
  return {
    space: model.space,
    async embedDocuments(texts, { signal, progress } = {}) {
      const vectors: (Float32Array | undefined)[] = []
      for (const [i, text] of texts.entries()) {
        vectors.push(embed(text))
        if (i % textsPerTurn !== textsPerTurn - 1) continue
        progress?.(i + 1, texts.length)
        await turn()
        throwIfCancelled(signal)
      }
      return vectors
    },
    embedQuery: async (text) => embed(text),
    close: async () => {},
  }
}

/** A model as bytes, for a file or a database. */
export function encodeLsa({ space, vocabulary, matrix }: LsaModel): Uint8Array {
  const { dimensions } = space
  const header = Buffer.from(
    JSON.stringify({ dimensions, terms: [...vocabulary.index.keys()], weight: [...vocabulary.weight] }),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(header.length)
  const numbers = Buffer.alloc(matrix.length * 4)
  for (const [i, value] of matrix.entries()) numbers.writeFloatLE(value, i * 4)
  return Buffer.concat([length, header, numbers])
}

/** The model of such bytes; throws `EMBEDDINGS_INVALID` where they are something else. */
export function decodeLsa(bytes: Uint8Array): LsaModel {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const start = 4 + buffer.readUInt32LE(0)
    const { dimensions, terms, weight } = JSON.parse(buffer.toString('utf8', 4, start)) as Header
    const count = terms.length * dimensions
    if (buffer.length !== start + count * 4)
      throw new RangeError(`${buffer.length} bytes for ${count} numbers`)
    const matrix = Float32Array.from({ length: count }, (_, i) => buffer.readFloatLE(start + i * 4))
    const vocabulary = {
      index: new Map(terms.map((term, i) => [term, i])),
      weight: Float64Array.from(weight),
    }
    return makeModel(vocabulary, dimensions, matrix)
  } catch (cause) {
    throw new CausewayError('EMBEDDINGS_INVALID', 'the stored model of the vectors cannot be read', { cause })
  }
}

interface Header {
  readonly dimensions: number
  readonly terms: readonly string[]
  readonly weight: readonly number[]
}

/** Texts embedded between two turns of the event loop: about 5 ms. */
const textsPerTurn = 64

function makeModel(vocabulary: Vocabulary, dimensions: number, matrix: Float32Array): LsaModel {
  const hash = createHash('sha256').update([...vocabulary.index.keys()].join('\n'))
  const numbers = Buffer.alloc(matrix.length * 4)
  for (const [i, value] of matrix.entries()) numbers.writeFloatLE(value, i * 4)
  const revision = hash.update(numbers).digest('hex').slice(0, 32)
  return { space: makeSpace({ provider: 'lsa', model: 'corpus', revision, dimensions }), vocabulary, matrix }
}

function project(
  { space: { dimensions }, vocabulary, matrix }: LsaModel,
  text: string,
): Float32Array | undefined {
  const sum = new Float64Array(dimensions)
  for (const [term, weight] of weigh(terms(text), vocabulary)) {
    const row = term * dimensions
    for (let k = 0; k < dimensions; k++) sum[k] = (sum[k] as number) + weight * (matrix[row + k] as number)
  }
  return unit(sum)
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CausewayError('CANCELLED', 'making the vectors was cancelled')
}
