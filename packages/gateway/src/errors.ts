import { defineErrors } from '@causeway/protocol'

export const GatewayError = defineErrors({
  UPSTREAM_ERROR: {
    status: 502,
    about:
      'the hosted server answered with a JSON-RPC error, which MCP clients receive with its number, message and data',
    remedy: 'see the message of the hosted server',
  },
  GATEWAY_CONFIG_INVALID: {
    status: 500,
    about: 'mcp.json, or an entry of it, is malformed',
    remedy: 'correct it; causeway mcp list shows the problems',
  },
  SECRETS_INVALID: {
    status: 500,
    about: 'secrets.json is malformed or not private',
    remedy: 'correct it; only its owner may read it',
  },
  VARIABLE_UNSET: {
    status: 500,
    about: 'an entry of mcp.json uses a variable without a value',
    remedy: 'set the variable where the server starts, or add the secret to secrets.json in the data folder',
  },
  UPSTREAM_GONE: {
    status: 502,
    retryable: true,
    about: 'the hosted server ended during the call, which may have had an effect',
    remedy: 'check whether the call had an effect, then call again; data.stderr has its last lines',
  },
  UPSTREAM_UNAVAILABLE: {
    status: 503,
    retryable: true,
    about: 'the hosted server cannot be started or reached',
    remedy: 'read data.stderr and causeway mcp logs, correct its entry in mcp.json, then call again',
  },
  UPSTREAM_INVALID: {
    status: 502,
    about: 'the hosted server sent something that is not MCP',
    remedy: 'check its version and causeway mcp logs',
  },
  SERVER_NOT_FOUND: {
    status: 404,
    about: 'mcp.json has no such server',
    remedy: 'use one of data.servers',
  },
  NEEDS_APPROVAL: {
    status: 403,
    about: 'the hosted server was imported and is not approved yet, so it was not started',
    remedy: 'check its command with causeway mcp show, then run causeway mcp approve',
  },
  LOGIN_UNSUPPORTED: {
    status: 400,
    about: 'the hosted server is a process, or has a token in its configuration',
    remedy: 'log in at servers with a url and without the header Authorization',
  },
  TOOL_CHANGED: {
    status: 409,
    about: 'the description or schema of the tool differs from the approved one',
    remedy: 'check the difference with causeway mcp approve --diff, then approve it',
  },
  TOO_MANY_INSTANCES: {
    status: 503,
    retryable: true,
    about: 'the hosted server has the maximum number of processes, and all are in use',
    remedy: 'call again later, or choose a sharing mode with fewer processes',
  },
  QUESTION_EXPIRED: {
    status: 410,
    about: 'the question of the hosted server was answered too late, or its call has ended',
    remedy: 'check whether the call had an effect, then call again',
  },
  TOO_MANY_QUESTIONS: {
    status: 429,
    about: 'too many calls of the client wait for its answers',
    remedy: 'answer or cancel the open questions',
  },
  PROJECT_UNKNOWN: {
    status: 400,
    about: 'the hosted server needs the project folder of its client, which the client did not send',
    remedy: 'connect through the bridge, or send the header Causeway-Project',
  },
})
