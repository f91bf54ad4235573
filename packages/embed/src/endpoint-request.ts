import { CausewayError } from '@causeway/protocol'
import type { Dispatcher } from 'undici'
import { decodeVector, normalize } from './domain/vector.ts'
import { EmbedError } from './errors.ts'

export interface EndpointOptions {
  /** For example `https://api.openai.com/v1`, without `/embeddings`. */
  readonly baseUrl: string
  readonly model: string
  readonly dimensions: number
  readonly requestDimensions?: boolean
  /** Sent as a bearer token. Never logged or included in a message. */
  readonly apiKey?: string | undefined
  /** Timeout per attempt. Default: 30,000. */
  readonly timeoutMs?: number
  /** Maximum attempts if a connection fails or the status is 408, 429 or 5xx. Default: 3. */
  readonly maxAttempts?: number
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
}

type EndpointReply =
  | { readonly kind: 'answer'; readonly body: unknown }
  | {
      readonly kind: 'failure'
      readonly reason: string
      readonly isTransient: boolean
      readonly retryAfterMs?: number
    }

const maxRetryAfterMs = 60_000

/** Throws `CANCELLED` and `EMBEDDINGS_INVALID`. Returns other errors as failures. */
export async function postTexts(
  dispatcher: Dispatcher,
  { baseUrl, model, dimensions, requestDimensions, apiKey, timeoutMs = 30_000 }: EndpointOptions,
  input: readonly string[],
  signal: AbortSignal | undefined,
): Promise<EndpointReply> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const body = { model, input, encoding_format: 'float', ...(requestDimensions ? { dimensions } : {}) }
  const { request } = await import('undici')
  try {
    const response = await request(`${baseUrl.replace(/\/+$/, '')}/embeddings`, {
      dispatcher,
      method: 'POST',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
    })
    const { statusCode } = response
    if (statusCode === 200) return { kind: 'answer', body: await response.body.json() }
    await response.body.dump()
    const isTransient = statusCode === 408 || statusCode === 429 || statusCode >= 500
    const retryAfterMs = parseRetryAfter(response.headers['retry-after'])
    return {
      kind: 'failure',
      reason: `answered ${statusCode}`,
      isTransient,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }
  } catch (error) {
    if (signal?.aborted)
      throw new CausewayError('CANCELLED', 'making the vectors was cancelled', { cause: error })
    if (error instanceof SyntaxError)
      throw new EmbedError('EMBEDDINGS_INVALID', 'the embeddings endpoint did not return JSON', {
        cause: error,
      })
    const reason = timeout.aborted ? `did not respond within ${timeoutMs} ms` : 'cannot be reached'
    return { kind: 'failure', reason, isTransient: true }
  }
}

/** Returns at most `maxRetryAfterMs`. Ignores dates. */
function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  const seconds = typeof header === 'string' && /^\d+(\.\d+)?$/.test(header) ? Number(header) : undefined
  return seconds === undefined ? undefined : Math.min(seconds * 1000, maxRetryAfterMs)
}

/**
 * Reads numbers, or base64 of little-endian float32. Throws `EMBEDDINGS_INVALID`, and `EMBEDDING_SPACE_MISMATCH` for
 * different dimensions.
 */
export function readVectors(
  body: unknown,
  textCount: number,
  dimensions: number,
): (Float32Array | undefined)[] {
  const { data } = (body ?? {}) as { data?: unknown }
  if (!Array.isArray(data) || data.length !== textCount)
    throw createInvalidError(
      `returned ${Array.isArray(data) ? data.length : 'no'} vectors for ${textCount} texts`,
    )
  const vectors = new Array<Float32Array | undefined>(textCount).fill(undefined)
  const seenIndices = new Set<number>()
  for (const [position, entry] of data.entries()) {
    const { index = position, embedding } = (entry ?? {}) as { index?: unknown; embedding?: unknown }
    if (typeof index !== 'number' || !(index in vectors) || seenIndices.has(index))
      throw createInvalidError('returned invalid vector indexes')
    seenIndices.add(index)
    vectors[index] = readVector(embedding, dimensions)
  }
  return vectors
}

function readVector(embedding: unknown, dimensions: number): Float32Array {
  const numbers = typeof embedding === 'string' ? decodeVector(Buffer.from(embedding, 'base64')) : embedding
  if (!(numbers instanceof Float32Array) && !isNumberArray(numbers))
    throw createInvalidError('returned a vector that is not a list of numbers')
  if (numbers.length !== dimensions)
    throw new EmbedError(
      'EMBEDDING_SPACE_MISMATCH',
      `the embeddings endpoint returned ${numbers.length} dimensions, but the settings require ${dimensions}`,
      { data: { dimensions: numbers.length, configured_dimensions: dimensions } },
    )
  const vector = normalize(numbers)
  if (vector === undefined) throw createInvalidError('returned a zero vector')
  return vector
}

const isNumberArray = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((component) => typeof component === 'number')

const createInvalidError = (reason: string): CausewayError =>
  new EmbedError('EMBEDDINGS_INVALID', `the embeddings endpoint ${reason}`)
