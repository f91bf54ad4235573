/** Latent semantic analysis: texts with similar vocabulary get similar vectors. Deterministic and offline. */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { listTerms } from './domain/terms.ts'
import { computeTruncatedSvd } from './domain/truncated-svd.ts'
import { normalize } from './domain/vector.ts'
import { computeWeights, createTermMatrix, makeVocabulary, type Vocabulary } from './domain/vocabulary.ts'
import { type Embedder, type EmbeddingSpace, type EmbedOptions, makeSpace } from './embedder.ts'
import { EmbedError } from './errors.ts'

export interface LsaModel {
  readonly space: EmbeddingSpace
  readonly vocabulary: Vocabulary
  /** Term vectors, shape [terms, dimensions], row-major. */
  readonly matrix: Float32Array
}

interface LsaOptions extends EmbedOptions {
  /** Default: 128, or fewer for few texts or terms. */
  readonly dimensions?: number
  readonly seed?: number
  /** Maximum training texts, selected evenly. Default: 20,000. */
  readonly maxTexts?: number
}

/** Trains a model. Run it in a worker, because a pass may take seconds. Throws `CANCELLED`. */
export async function trainLsa(texts: readonly string[], options: LsaOptions = {}): Promise<LsaModel> {
  const { dimensions = 128, seed = 1, maxTexts = 20_000, signal, progress } = options
  const step = Math.max(1, texts.length / maxTexts)
  const sampledTexts = Array.from({ length: Math.min(texts.length, maxTexts) }, (_, i) =>
    listTerms(texts[Math.floor(i * step)] ?? ''),
  )
  const vocabulary = makeVocabulary(sampledTexts)
  const svdSteps = computeTruncatedSvd(createTermMatrix(sampledTexts, vocabulary), { rank: dimensions, seed })
  let pass = svdSteps.next()
  while (!pass.done) {
    progress?.(...pass.value)
    await nextTurn()
    throwIfCancelled(signal)
    pass = svdSteps.next()
  }
  return makeModel(
    vocabulary,
    pass.value.rightVectors.columns,
    Float32Array.from(pass.value.rightVectors.data),
  )
}

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
        await nextTurn()
        throwIfCancelled(signal)
      }
      return vectors
    },
    embedQuery: async (text) => embed(text),
    close: async () => {},
  }
}

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
    throw new EmbedError('EMBEDDINGS_INVALID', 'the stored model of the vectors cannot be read', { cause })
  }
}

interface Header {
  readonly dimensions: number
  readonly terms: readonly string[]
  readonly weight: readonly number[]
}

/** Embedding this many texts takes about 5 ms. */
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
  for (const [term, weight] of computeWeights(listTerms(text), vocabulary)) {
    const row = term * dimensions
    for (let k = 0; k < dimensions; k++) sum[k] = (sum[k] as number) + weight * (matrix[row + k] as number)
  }
  return normalize(sum)
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CausewayError('CANCELLED', 'making the vectors was cancelled')
}
