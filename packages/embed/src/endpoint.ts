/**
 * Vectors from an OpenAI-compatible endpoint, `POST {base}/embeddings`
 * (https://platform.openai.com/docs/api-reference/embeddings/create).
 */
import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { Agent } from 'undici'
import type { Embedder, EmbedOptions } from './embedder.ts'
import { readVectors } from './endpoint-answer.ts'
import type { EndpointOptions } from './endpoint-options.ts'
import { post } from './endpoint-request.ts'
import { makeSpace } from './space.ts'

/** Texts in one request at most. */
const batchTexts = 64
/** Characters in one request at most, about 250 000 tokens. */
const batchCharacters = 1_000_000
/** Characters of one text at most, about 8191 tokens; the rest is not embedded. */
const mostCharacters = 32_000
/** Vectors of questions that are kept. */
const keptQuestions = 1000

/** An embedder of an endpoint. Nothing is sent before the first text. */
export function openEndpoint(options: EndpointOptions): Embedder {
  const { model, dimensions, tries = 3, pause = pauseFor } = options
  const agent = new Agent({ connections: 4, keepAliveTimeout: 30_000 })
  const kept = new Map<string, Float32Array | undefined>()

  const ask = async (input: readonly string[], signal: AbortSignal | undefined) => {
    for (let attempt = 1; ; attempt++) {
      const reply = await post(agent, options, input, signal)
      if (reply.kind === 'answer') return readVectors(reply.body, input.length, dimensions)
      if (!reply.isTransient || attempt >= tries) throw unavailable(options, reply.reason)
      await pause(reply.retryAfterMs ?? 500 * 2 ** (attempt - 1), signal).catch(() => undefined)
      if (signal?.aborted) throw new CausewayError('CANCELLED', 'making the vectors was cancelled')
    }
  }

  const embedDocuments = async (texts: readonly string[], { signal, progress }: EmbedOptions = {}) => {
    const vectors: (Float32Array | undefined)[] = []
    for (const batch of batches(texts.map(prepared))) {
      vectors.push(...(await ask(batch, signal)))
      progress?.(vectors.length, texts.length)
    }
    return vectors
  }

  return {
    space: makeSpace({ provider: 'openai', model, revision: '', dimensions }),
    embedDocuments,
    async embedQuery(text, embedOptions) {
      const key = prepared(text)
      if (!kept.has(key)) {
        const [vector] = await embedDocuments([key], embedOptions)
        kept.set(key, vector)
        if (kept.size > keptQuestions) kept.delete(kept.keys().next().value as string)
      }
      return kept.get(key)
    },
    close: () => agent.destroy(),
  }
}

/** Cut to what a model takes; an endpoint refuses an empty text. */
const prepared = (text: string): string => text.trim().slice(0, mostCharacters) || ' '

function* batches(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let characters = 0
  for (const text of texts) {
    if (batch.length > 0 && (batch.length === batchTexts || characters + text.length > batchCharacters)) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(text)
    characters += text.length
  }
  if (batch.length > 0) yield batch
}

const unavailable = ({ baseUrl }: EndpointOptions, reason: string): CausewayError =>
  new CausewayError('EMBEDDINGS_UNAVAILABLE', `the embeddings endpoint ${reason}: ${hostOf(baseUrl)}`, {
    data: { reason },
  })

/** Without user, password and query, which may be secrets. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'not a URL')

const pauseFor = (ms: number, signal: AbortSignal | undefined): Promise<unknown> =>
  wait(ms, undefined, signal === undefined ? {} : { signal })
