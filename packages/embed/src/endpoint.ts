/**
 * Vectors from an OpenAI-compatible endpoint, `POST {base}/embeddings`
 * (https://platform.openai.com/docs/api-reference/embeddings/create).
 */
import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import type { Agent } from 'undici'
import { type Embedder, type EmbedOptions, makeSpace } from './embedder.ts'
import { type EndpointOptions, postTexts, readVectors } from './endpoint-request.ts'
import { EmbedError } from './errors.ts'

const maxBatchTexts = 64
const maxBatchCharacters = 1_000_000
/** In characters, about 8191 tokens. Longer texts are truncated. */
const maxTextLength = 32_000
const maxCachedQueries = 1000

export function openEndpoint(options: EndpointOptions): Embedder {
  const { model, dimensions, maxAttempts = 3, wait = delay } = options
  let agent: Promise<Agent> | undefined
  const cache = new Map<string, Float32Array | undefined>()

  const request = async (input: readonly string[], signal: AbortSignal | undefined) => {
    for (let attempt = 1; ; attempt++) {
      agent ??= openAgent()
      const reply = await postTexts(await agent, options, input, signal)
      if (reply.kind === 'answer') return readVectors(reply.body, input.length, dimensions)
      if (!reply.isTransient || attempt >= maxAttempts) throw createUnavailableError(options, reply.reason)
      await wait(reply.retryAfterMs ?? 500 * 2 ** (attempt - 1), signal).catch(() => undefined)
      if (signal?.aborted) throw new CausewayError('CANCELLED', 'making the vectors was cancelled')
    }
  }

  const embedDocuments = async (texts: readonly string[], { signal, progress }: EmbedOptions = {}) => {
    const vectors: (Float32Array | undefined)[] = []
    for (const batch of splitBatches(texts.map(prepareText))) {
      vectors.push(...(await request(batch, signal)))
      progress?.(vectors.length, texts.length)
    }
    return vectors
  }

  return {
    space: makeSpace({ provider: 'openai', model, revision: '', dimensions }),
    embedDocuments,
    async embedQuery(text, embedOptions) {
      const key = prepareText(text)
      if (!cache.has(key)) {
        const [vector] = await embedDocuments([key], embedOptions)
        cache.set(key, vector)
        if (cache.size > maxCachedQueries) cache.delete(cache.keys().next().value as string)
      }
      return cache.get(key)
    },
    close: async () => (await agent)?.destroy(),
  }
}

/** Loads undici on demand, because it takes 4 MB of memory. */
async function openAgent(): Promise<Agent> {
  const { Agent } = await import('undici')
  return new Agent({ connections: 4, keepAliveTimeout: 30_000 })
}

/** Endpoints reject empty texts, but accept a space. */
const prepareText = (text: string): string => text.trim().slice(0, maxTextLength) || ' '

function* splitBatches(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let characters = 0
  for (const text of texts) {
    if (
      batch.length > 0 &&
      (batch.length === maxBatchTexts || characters + text.length > maxBatchCharacters)
    ) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(text)
    characters += text.length
  }
  if (batch.length > 0) yield batch
}

const createUnavailableError = ({ baseUrl }: EndpointOptions, reason: string): CausewayError =>
  new EmbedError('EMBEDDINGS_UNAVAILABLE', `the embeddings endpoint ${reason}: ${getHost(baseUrl)}`, {
    data: { reason },
  })

/** Omits user, password and query, which may be secret. */
const getHost = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'not a URL')

const delay = (ms: number, signal: AbortSignal | undefined): Promise<unknown> =>
  wait(ms, undefined, signal === undefined ? {} : { signal })
