import { defineErrors } from '@causeway/protocol'

export const MindsError = defineErrors({
  MIND_NOT_FOUND: {
    rpc: -32002,
    status: 404,
    about: 'no active mind has this id',
    remedy: 'call create_mind first; list_minds lists the existing ones',
  },
  MIND_EXISTS: {
    status: 409,
    about: 'a mind with this id exists',
    remedy: 'use another id, or set if_exists to resume or replace',
  },
  NO_DECISION: {
    rpc: -32002,
    status: 404,
    about: 'the decision does not exist',
    remedy: 'call decide_action first, or leave request_id out',
  },
  MIND_BUSY: {
    status: 503,
    retryable: true,
    about: 'too many calls are queued for this mind',
    remedy: 'wait for pending calls, then call again',
  },
  INVALID_MIND_ID: {
    rpc: -32602,
    status: 400,
    about: 'the mind id cannot be used in a URL',
    remedy: 'use 1 to 128 letters, digits, dots, underscores and hyphens',
  },
  INVALID_CONFIG: {
    rpc: -32602,
    status: 400,
    about: 'the configuration of a mind is invalid',
    remedy: 'correct the fields listed in data.problems',
  },
  INVALID_SAVE: {
    rpc: -32602,
    status: 400,
    about: 'the saved mind is invalid',
    remedy: 'pass the save of export_mind unchanged, or correct the fields listed in data.problems',
  },
  INVALID_OBSERVATION: {
    rpc: -32602,
    status: 400,
    about: 'the observation is invalid',
    remedy: 'correct the fields listed in data.problems',
  },
  INVALID_EVENTS: {
    rpc: -32602,
    status: 400,
    about: 'the events are invalid',
    remedy: 'correct the fields listed in data.problems',
  },
  ENTITY_MISMATCH: {
    rpc: -32602,
    status: 409,
    about: 'the observation belongs to another entity than the mind',
    remedy: 'send the observation to its own mind, or call relink_mind',
  },
  LIMIT_EXCEEDED: {
    rpc: -32602,
    status: 413,
    about: 'an argument exceeds a limit of Minds',
    remedy: 'send less, or raise data.limit in CAUSEWAY_MINDS_LIMITS',
  },
  STORE_ERROR: {
    status: 503,
    retryable: true,
    about: 'memories could not be read or written',
    remedy: 'call again with the same request_id',
  },
  EMBEDDING_ERROR: {
    status: 503,
    retryable: true,
    about: 'vectors of memories could not be made',
    remedy: 'call again; the memories remain and are retried',
  },
  LLM_NOT_CONFIGURED: {
    status: 409,
    about: 'the mind requires a language model, and none is configured',
    remedy: 'set OPENROUTER_API_KEY or MINDS_LLM_URL, or use selector auto or policy',
  },
  LLM_AUTH: {
    status: 502,
    about: 'the provider rejected the key',
    remedy: 'check the key of the provider',
  },
  LLM_CREDITS: {
    status: 502,
    about: 'the account at the provider has no credits',
    remedy: 'add credits, or use another provider',
  },
  LLM_MODEL_NOT_FOUND: {
    status: 502,
    about: 'the provider does not have this model',
    remedy: 'set MINDS_LLM_MODEL or llm_model to an available model',
  },
  LLM_BAD_REQUEST: {
    status: 502,
    about: 'the provider rejected the request',
    remedy: 'use a model that takes chat messages, or structured none',
  },
  LLM_RATE_LIMITED: {
    status: 503,
    retryable: true,
    about: 'the provider limits the rate of calls',
    remedy: 'call again later',
  },
  LLM_TIMEOUT: {
    status: 504,
    retryable: true,
    about: 'the model did not respond in time',
    remedy: 'call again, or raise the deadline',
  },
  LLM_UNREACHABLE: {
    status: 502,
    retryable: true,
    about: 'the provider cannot be reached',
    remedy: 'check its address and that it runs',
  },
  LLM_UPSTREAM: {
    status: 502,
    retryable: true,
    about: 'the provider failed',
    remedy: 'call again later',
  },
  LLM_REFUSED: {
    status: 502,
    about: 'the model refused to answer',
    remedy: 'use another model',
  },
  LLM_TRUNCATED: {
    status: 502,
    about: 'the answer of the model was truncated',
    remedy: 'raise max_tokens',
  },
  LLM_INVALID_OUTPUT: {
    status: 502,
    retryable: true,
    about: 'the model returned invalid output, also after a correction request',
    remedy: 'use a stronger model',
  },
  LLM_OVERLOADED: {
    status: 503,
    retryable: true,
    about: 'too many calls are queued for the provider',
    remedy: 'call again later',
  },
  LLM_BUDGET: {
    status: 429,
    about: 'the budget for language models is spent',
    remedy: 'wait, or raise the budget of the mind or of the server',
  },
})
