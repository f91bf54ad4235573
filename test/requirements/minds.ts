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
    behaviour: 'every failure has the body {status: error, action: null, error_message} and a code',
  },
  'minds:resources': {
    origin: 'original mind server, MCP resources',
    behaviour: 'state, working memory, daily memories and additional resources are readable under mind://',
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
    behaviour: 'no action reaches the game that is impossible in this cycle',
  },
  'minds:spellings': {
    origin: 'original game client, serialisation',
    behaviour:
      'the spellings of all versions of the game are accepted, and invalid values are corrected with a warning',
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
    behaviour: 'a refused interaction is avoided for a while, also if the game does not report refusals',
  },
  'minds:policy:talk': {
    origin: 'design of minds, policy',
    behaviour:
      'a character takes turns, answers from memory or admits that it does not know, and leaves in the end',
  },
  'minds:policy:conversation': {
    origin: 'design of minds, policy',
    behaviour:
      'a conversation reads naturally: it opens with a topic, answers from needs and mood, avoids loops, and takes questions for what they are',
  },
  'minds:policy:bids': {
    origin: 'design of minds, policy',
    behaviour: 'invitations are answered first, and rejected with a reason if a need is critical',
  },
  'minds:explained': {
    origin: 'design of minds, policy',
    behaviour: 'every decision can be explained by its best candidates and the terms of their scores',
  },
  'minds:decided-by': {
    origin: 'design of minds, selectors',
    behaviour: 'every result reports whether a model or the policy decided, and the reason for a fallback',
  },
  'minds:model:prompt': {
    origin: 'original mind server, defects',
    behaviour: 'the action prompt contains the observation, the menu, the memories and the conversation',
  },
  'minds:model:hostile': {
    origin: 'design of minds, provider',
    behaviour:
      'for every behaviour of a provider, a legal action is returned within the deadline with a bounded number of calls',
  },
  'minds:model:secret': {
    origin: 'design of minds, provider',
    behaviour: 'a key is in no answer, log, health or record',
  },
  'minds:model:salvage': {
    origin: 'design of minds, salvage',
    behaviour: 'the valid parts of a partly invalid answer are used',
  },
  'minds:model:budget': {
    origin: 'design of minds, accounting',
    behaviour: 'every call is recorded, unknown is not 0, and the policy decides if a budget is spent',
  },
  'minds:model:breaker': {
    origin: 'design of minds, provider',
    behaviour: 'calls to a failing provider are suspended while the policy decides',
  },
  'minds:model:gated': {
    origin: 'design of minds, gate of salience',
    behaviour: 'with llm_gate, the model is called only after relevant changes',
  },
  'minds:offline': {
    origin: 'design of minds, policy',
    behaviour: 'without a key the server opens no outside connection and decides by policy',
  },
  'minds:memory:exam': {
    origin: 'design of minds, memory',
    behaviour:
      'a character answers paraphrased and temporal questions from its memories, and declines what no one mentioned',
  },
  'minds:memory:relations': {
    origin: 'design of minds, memory',
    behaviour:
      'relations of words decide whether a memory answers a question: synonyms, kinds, derived words and words of definitions',
  },
  'minds:memory:floor': {
    origin: 'design of minds, retrieval',
    behaviour: 'memories are ranked by relevance, importance and recency, with a minimum relevance',
  },
  'minds:memory:today': {
    origin: 'design of minds, retrieval',
    behaviour: 'daily memories are recalled before consolidation',
  },
  'minds:memory:newest': {
    origin: 'design of minds, consolidation',
    behaviour: 'a corrected fact ranks above the replaced fact',
  },
  'minds:memory:spaces': {
    origin: 'design of minds, embeddings',
    behaviour: 'vectors of two spaces are never compared; memories get vectors in the new space',
  },
  'minds:memory:embedding-fails': {
    origin: 'design of minds, consolidation',
    behaviour: 'without vectors, memories remain in the daily buffer and are found by words',
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
      'a mind draws conclusions from recurring memories without a model, lists their evidence, and revises them',
  },
  'minds:conversation:merge': {
    origin: 'design of minds, conversations',
    behaviour: 'conversations are merged without loss, duplicates or unlimited growth',
  },
  'minds:save': {
    origin: 'design of minds, save slots',
    behaviour: 'an exported mind is imported again without loss, and an invalid save changes nothing',
  },
  'minds:restart': {
    origin: 'original mind server, defects',
    behaviour: 'minds, working memory and memories survive a restart',
  },
  'minds:killed': {
    origin: 'design of minds, store',
    behaviour: 'a server killed at any moment loses and duplicates no memory of a completed call',
  },
  'minds:parallel': {
    origin: 'original mind server, defects',
    behaviour: '200 concurrent decisions of one mind run one after another, each once',
  },
  'minds:queue': {
    origin: 'design of minds, concurrency',
    behaviour: 'a mind with too many queued calls rejects more, without affecting others',
  },
  'minds:repeat': {
    origin: 'original mind server, defects',
    behaviour: 'a repeated request gets the first result, and a running equal observation is joined',
  },
  'minds:life': {
    origin: 'design of minds, lifecycle',
    behaviour: 'creating again resumes without seeds, cleanup keeps, and forgetting deletes',
  },
  'minds:own-body': {
    origin: 'original mind server, defects',
    behaviour: 'an observation of another entity is rejected, and relinking keeps memories',
  },
  'minds:limits': {
    origin: 'design of minds, limits',
    behaviour: 'every limit holds at its value and one beyond',
  },
  'minds:town:scarce': {
    origin: 'design of minds, evaluation',
    behaviour:
      'characters of a town with scarce resources take no illegal action, answer questions, remember facts and corrections, and invent nothing',
  },
  'minds:town:presets': {
    origin: 'design of minds, evaluation',
    behaviour: 'characters also manage with other needs, other scales and a game without refusal events',
  },
  'minds:town:again': {
    origin: 'design of minds, evaluation',
    behaviour: 'the same seed gives the same actions and memories in a town, on any server',
  },
  'minds:town:killed': {
    origin: 'design of minds, evaluation',
    behaviour:
      'a town whose server is killed repeatedly has the same actions and memories as an undisturbed one',
  },
  'minds:storage-path': {
    origin: 'original mind server, defects',
    behaviour: 'a storage path of a client never becomes a path of this machine',
  },
  'minds:clock': {
    origin: 'original mind server, defects',
    behaviour: 'a game time in the past is accepted',
  },
} as const satisfies Requirements
