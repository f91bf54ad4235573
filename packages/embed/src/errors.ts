import { defineErrors } from '@causeway/protocol'

export const EmbedError = defineErrors({
  EMBEDDING_SPACE_MISMATCH: {
    status: 409,
    about: 'vectors of two embedding spaces cannot be compared',
    remedy: 'run npm run help:rebuild, or configure the model that made the stored vectors',
  },
  EMBEDDINGS_UNAVAILABLE: {
    status: 503,
    retryable: true,
    about: 'the embeddings endpoint returns no vectors',
    remedy: 'check CAUSEWAY_EMBEDDINGS_URL and its key, then call again',
  },
  EMBEDDINGS_INVALID: {
    status: 502,
    about: 'vectors are unusable',
    remedy:
      'check that the endpoint serves the configured model; rebuild the index if a stored model is damaged',
  },
})
