import type { Embedder } from '@causeway/embed'
import { type CausewayError, isCausewayError } from '@causeway/protocol'

/** How long an endpoint that failed is left alone, ms: until then every question would wait for it in vain. */
const restMs = 30_000

/** An embedder for questions that asks an endpoint no more for a while after it was away. */
export function resting(embedder: Embedder, now: () => number): Embedder {
  const state: { failure?: CausewayError; until: number } = { until: 0 }
  return {
    ...embedder,
    async embedQuery(text, options) {
      if (state.failure !== undefined && now() < state.until) throw state.failure
      try {
        const vector = await embedder.embedQuery(text, options)
        delete state.failure
        return vector
      } catch (error) {
        if (isCausewayError(error) && error.code === 'EMBEDDINGS_UNAVAILABLE') {
          state.failure = error
          state.until = now() + restMs
        }
        throw error
      }
    },
  }
}
