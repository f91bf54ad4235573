/** Vectors of memories and questions: by the space that this server has for all minds, each text once. */
import { type Embedder, vectorBytes } from '@causeway/embed'
import { CausewayError, isCausewayError } from '@causeway/protocol'

/** Vectors by text. */
export interface Embedding {
  /** Which vectors may be compared; stored beside each. */
  readonly id: string
  /** For people: `lsa everyday language, 96 dimensions`. */
  readonly name: string
  readonly width: number
  /** One for each text; undefined where it has no direction. Throws `EMBEDDING_ERROR`, also after `withinMs`. */
  vectors(texts: readonly string[], withinMs?: number): Promise<readonly (Float32Array | undefined)[]>
  /** Bytes of the vectors and texts that are kept. */
  bytes(): number
  /** Forgets vectors until so many bytes are given back; gives the bytes. */
  shrink(bytes: number): number
  close(): Promise<void>
}

/** Vectors kept by text. */
const kept = 16_384

/** Vectors of any embedder. */
export function embeddingOver(embedder: Embedder): Embedding {
  const { space } = embedder
  const known = new Map<string, Float32Array | undefined>()
  let bytes = 0
  const keep = (text: string, vector: Float32Array | undefined): void => {
    forget(text)
    known.set(text, vector)
    bytes += bytesOfEntry(text, vector)
    const [oldest] = known.keys()
    if (known.size > kept && oldest !== undefined) forget(oldest)
  }
  const forget = (text: string): void => {
    if (!known.has(text)) return
    bytes -= bytesOfEntry(text, known.get(text))
    known.delete(text)
  }
  return {
    id: space.fingerprint.slice(0, 32),
    name: `${space.provider} ${space.model}, ${space.dimensions} dimensions`,
    width: space.dimensions,
    async vectors(texts, withinMs) {
      const fresh = [...new Set(texts.filter((text) => !known.has(text)))]
      const made = fresh.length === 0 ? [] : await embed(embedder, fresh, withinMs)
      const byText = new Map(fresh.map((text, index) => [text, made[index]]))
      const answers = texts.map((text) => (byText.has(text) ? byText.get(text) : known.get(text)))
      for (const [text, vector] of byText) keep(text, vector)
      return answers
    },
    bytes: () => bytes,
    shrink(wanted) {
      const before = bytes
      for (const text of [...known.keys()]) if (before - bytes < wanted) forget(text)
      return before - bytes
    },
    close: () => embedder.close(),
  }
}

/** A text, its vector, and what holds them. */
const bytesOfEntry = (text: string, vector: Float32Array | undefined): number =>
  text.length + (vector?.byteLength ?? 0) + 150

/** The bytes of a vector for the data file, null where there is none. */
export const bytesOf = (vector: Float32Array | undefined): Uint8Array | null =>
  vector === undefined ? null : vectorBytes(vector)

async function embed(embedder: Embedder, texts: readonly string[], withinMs: number | undefined) {
  try {
    const signal = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs)
    return await embedder.embedDocuments(texts, { signal })
  } catch (error) {
    if (!isCausewayError(error)) throw error
    throw new CausewayError('EMBEDDING_ERROR', error.message, { remedy: error.remedy, cause: error })
  }
}
