import type { Requirements } from '../requirement.ts'

/** Help: documentation search. */
export const help = {
  'help:embed:lsa': {
    origin: 'design, Help: search without a network',
    behaviour: 'texts are found by what they mean without a network, the same way in every training',
  },
  'help:embed:endpoint': {
    origin: 'original help database, embeddings',
    behaviour: 'an OpenAI-compatible endpoint is asked in batches, and its answers put in order',
  },
  'help:embed:dimensions': {
    origin: 'defects of other documentation servers: mixed dimensions',
    behaviour: 'vectors of another length or space are refused with both spaces named',
  },
  'help:embed:invalid': {
    origin: 'design, Help: embeddings',
    behaviour: 'an answer that is not what it should be is refused and never guessed at',
  },
} as const satisfies Requirements
