import { type ErrorRow, retry, row } from './row.ts'

/** The transport. */
export const transportRows = {
  UNSUPPORTED_PROTOCOL: row(
    -32022,
    400,
    'the protocol version is not spoken here',
    'use one of the versions in data.supported',
  ),
  HEADER_MISMATCH: row(
    -32020,
    400,
    'a header and the body disagree',
    'send MCP headers that mirror the body',
  ),
  SESSION_NOT_FOUND: row(-32001, 404, 'the session is unknown or has ended', 'send initialize again', retry),
  FORBIDDEN_HOST: row(
    -32000,
    403,
    'the Host header is not an address of this server',
    'call the server as localhost or 127.0.0.1',
  ),
  FORBIDDEN_ORIGIN: row(
    -32000,
    403,
    'the web page that sent this has an origin that is not allowed',
    'add the origin to CAUSEWAY_ALLOWED_ORIGINS, or send a token of CAUSEWAY_TOKEN_FILE',
  ),
  UNAUTHORIZED: row(
    -32000,
    401,
    'the call carries no token that this server takes',
    'send Authorization: Bearer with a token of CAUSEWAY_TOKEN_FILE; the bridge takes it by --token-file',
  ),
  FORBIDDEN_SCOPE: row(
    -32000,
    403,
    'the token may not do this',
    'use a token with the scope data.needs on the app data.app',
  ),
  BODY_TOO_LARGE: row(
    -32000,
    413,
    'the request body exceeds the limit',
    'send less, or raise CAUSEWAY_BODY_LIMIT_BYTES',
  ),
  UNSUPPORTED_MEDIA_TYPE: row(
    -32000,
    415,
    'the content type or coding of the body is not accepted',
    'send Content-Type: application/json',
  ),
  REQUEST_TIMEOUT: row(
    -32000,
    408,
    'the request stopped arriving',
    'send the request without long pauses, or raise CAUSEWAY_RECEIVE_TIMEOUT_MS',
    retry,
  ),
  METHOD_NOT_ALLOWED: row(-32000, 405, 'the HTTP method is not served here', 'see the Allow header'),
  ROUTE_NOT_FOUND: row(
    -32000,
    404,
    'no route has this path',
    'use /mcp, or one of the paths of /openapi.json',
  ),
  CLIENT_CANNOT_ANSWER: row(
    -32000,
    422,
    'the call needs a reply that its client cannot give',
    'call through an MCP client that can do what data.needs names',
  ),
  TASKS_NOT_DECLARED: row(
    -32021,
    400,
    'the call concerns a task, and its client does not say that it knows tasks',
    'declare io.modelcontextprotocol/tasks in the capabilities of the message',
  ),
  TASK_NOT_FOUND: row(-32602, 404, 'the task is unknown, or its time is over', 'make the call again'),
  CANCELLED: row(-32800, 499, 'the caller cancelled the call', 'call again if the answer is still wanted'),
  DEADLINE_EXCEEDED: row(
    -32000,
    504,
    'the call took longer than its deadline',
    'ask for less at once',
    retry,
  ),
  RATE_LIMITED: row(-32000, 429, 'too many calls in a short time', 'wait for data.retry_after_ms', {
    ...retry,
    legacy: -32005,
  }),
  OVERLOADED: row(-32000, 503, 'the server is too busy', 'wait for data.retry_after_ms', retry),
  SHUTTING_DOWN: row(-32000, 503, 'the server is stopping', 'call again when it has restarted', retry),
} satisfies Record<string, ErrorRow>
