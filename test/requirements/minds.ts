import type { Requirements } from '../requirement.ts'

/** Minds: characters that perceive, decide, remember. */
export const minds = {
  'minds:shapes': {
    origin: 'original mind server, MCP tools',
    behaviour:
      'create, decide, consolidate and cleanup answer created, success, success and removed with the original members',
  },
  'minds:errors': {
    origin: 'original mind server, error handling',
    behaviour: 'every failure is the body {status: error, action: null, error_message} with a code beside it',
  },
  'minds:resources': {
    origin: 'original mind server, MCP resources',
    behaviour:
      'state, working memory and memories of the day are read under mind://, and what was added beside them',
  },
  'minds:prompts': {
    origin: 'design of minds, no sampling',
    behaviour:
      'roleplay and interview give the state and the memories of a character to the model of a client',
  },
  'minds:bare-names': {
    origin: 'original mind server, transport',
    behaviour:
      'the tools have their bare names on /mcp/minds, on /sse/minds and at the root of a port of their own',
  },
  'minds:game-client': {
    origin: 'original mind server, integration with the game',
    behaviour:
      'a client of raw HTTP+SSE with bare names and retries without keys gets through a life of a mind',
  },
  'minds:gate': {
    origin: 'design of minds, action catalogue',
    behaviour: 'no action reaches the game that cannot be taken in this cycle',
  },
  'minds:spellings': {
    origin: 'original game client, serialisation',
    behaviour:
      'the spellings of all versions of the game are understood, and doubtful values are mended with a warning',
  },
  'minds:policy:score': {
    origin: 'design of minds, policy',
    behaviour: 'the policy scores what can be done by urgency, gain, cost and distance, as computed by hand',
  },
  'minds:policy:deterministic': {
    origin: 'design of minds, policy',
    behaviour: 'the same inputs give the same decisions, byte for byte, also after a restart',
  },
  'minds:policy:refusal': {
    origin: 'design of minds, policy',
    behaviour: 'what was refused is left alone for a while, also where the game does not tell of refusals',
  },
  'minds:policy:talk': {
    origin: 'design of minds, policy',
    behaviour:
      'a character takes its turns, answers from memory or says that it does not know, and leaves in the end',
  },
  'minds:policy:bids': {
    origin: 'design of minds, policy',
    behaviour: 'invitations are answered first, and turned down with a reason when a need is critical',
  },
  'minds:explained': {
    origin: 'design of minds, policy',
    behaviour: 'every decision can be explained by its best candidates and the terms of their scores',
  },
  'minds:decided-by': {
    origin: 'design of minds, selectors',
    behaviour: 'every answer says truly whether a model or the policy decided, and why the policy stood in',
  },
  'minds:model:prompt': {
    origin: 'original mind server, defects',
    behaviour:
      'the model that chooses an action sees the observation, the menu, the memories and what was said',
  },
  'minds:model:hostile': {
    origin: 'design of minds, provider',
    behaviour:
      'whatever a provider does, a legal action comes within the deadline and the number of calls is bounded',
  },
  'minds:model:secret': {
    origin: 'design of minds, provider',
    behaviour: 'a key is in no answer, log, health or record',
  },
  'minds:model:salvage': {
    origin: 'design of minds, salvage',
    behaviour: 'of an answer that is partly wrong the sound parts are kept',
  },
  'minds:model:budget': {
    origin: 'design of minds, accounting',
    behaviour: 'every attempt is accounted for, unknown is not 0, and a spent budget makes the policy decide',
  },
  'minds:model:breaker': {
    origin: 'design of minds, provider',
    behaviour: 'a provider that fails repeatedly is left alone while the policy decides',
  },
  'minds:model:gated': {
    origin: 'design of minds, gate of salience',
    behaviour: 'a mind that asks for it spares the model while nothing salient has changed',
  },
  'minds:offline': {
    origin: 'design of minds, policy',
    behaviour: 'without a key the server opens no outside connection and decides by policy',
  },
  'minds:memory:floor': {
    origin: 'design of minds, retrieval',
    behaviour:
      'memories come to mind by relevance, importance and recency, and none below the floor of relevance',
  },
  'minds:memory:today': {
    origin: 'design of minds, retrieval',
    behaviour: 'memories of the day come to mind before they are consolidated',
  },
  'minds:memory:newest': {
    origin: 'design of minds, consolidation',
    behaviour: 'a corrected fact ranks above the one that it replaces',
  },
  'minds:memory:spaces': {
    origin: 'design of minds, embeddings',
    behaviour: 'vectors of two spaces are never compared; memories get vectors in the new space',
  },
  'minds:memory:embedding-fails': {
    origin: 'design of minds, consolidation',
    behaviour: 'where vectors cannot be made, memories stay in the day and are found by words',
  },
  'minds:memory:worker': {
    origin: 'design of minds, retrieval',
    behaviour: 'a big mind is searched in a worker and finds the same',
  },
  'minds:consolidation': {
    origin: 'original mind server, defects',
    behaviour: 'consolidation keeps ids, times and places, moves each memory once and can be repeated',
  },
  'minds:reflection': {
    origin: 'design of minds, consolidation',
    behaviour:
      'a mind concludes what happens to it again and again, without a model, names the memories that it rests on, and thinks otherwise when it happens otherwise',
  },
  'minds:conversation:merge': {
    origin: 'design of minds, conversations',
    behaviour: 'conversations are joined without loss, doubling or growth without end',
  },
  'minds:restart': {
    origin: 'original mind server, defects',
    behaviour: 'minds, working memory and memories are there after a restart',
  },
  'minds:killed': {
    origin: 'design of minds, store',
    behaviour: 'a server killed at any moment has lost and doubled no memory that it answered for',
  },
  'minds:parallel': {
    origin: 'original mind server, defects',
    behaviour: '200 decisions at once on one mind are taken one after another, each answered once',
  },
  'minds:queue': {
    origin: 'design of minds, concurrency',
    behaviour: 'a mind that too many calls wait for says so, and others are not disturbed',
  },
  'minds:repeat': {
    origin: 'original mind server, defects',
    behaviour: 'a repeated request gets the first answer, and an equal observation under way is joined',
  },
  'minds:life': {
    origin: 'design of minds, lifecycle',
    behaviour:
      'creating again resumes without seeding, cleanup keeps, forgetting deletes and never claims too much',
  },
  'minds:own-body': {
    origin: 'original mind server, defects',
    behaviour: 'an observation of another entity is refused, and relinking keeps memories',
  },
  'minds:limits': {
    origin: 'design of minds, limits',
    behaviour: 'every limit holds at its value and one beyond',
  },
  'minds:town:scarce': {
    origin: 'design of minds, evaluation',
    behaviour:
      'people of a town where things are scarce live by their minds: no illegal action, questions answered, facts and corrections remembered, nothing made up',
  },
  'minds:town:presets': {
    origin: 'design of minds, evaluation',
    behaviour: 'other needs, other scales and a game that tells no refusals are lived with as well',
  },
  'minds:town:again': {
    origin: 'design of minds, evaluation',
    behaviour: 'the same seed gives the same actions and memories in a town, on any server',
  },
  'minds:town:killed': {
    origin: 'design of minds, evaluation',
    behaviour:
      'a town whose server is killed again and again, also while minds sleep, has the same actions and memories as one in peace',
  },
  'minds:storage-path': {
    origin: 'original mind server, defects',
    behaviour: 'a storage path of a client never becomes a path of this machine',
  },
  'minds:clock': {
    origin: 'original mind server, defects',
    behaviour: 'a game that goes back in time is accepted, and no score breaks',
  },
} as const satisfies Requirements
