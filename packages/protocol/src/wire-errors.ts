export interface ErrorDefinition {
  /** Negative JSON-RPC error number. */
  readonly rpc: number
  /** HTTP status, 400 to 599. */
  readonly status: number
  /** Whether the same call may succeed later. */
  readonly retryable: boolean
  readonly about: string
  /** What the caller can do. Appended to the message after a semicolon: lower case, no period. */
  readonly remedy: string
  /** Error number in the app's original design. */
  readonly legacyCode?: number
}

/** Defaults: `rpc` -32000, `retryable` false. */
export type ErrorDeclaration = Pick<ErrorDefinition, 'status' | 'about' | 'remedy'> & Partial<ErrorDefinition>

export const wireErrors = {
  // Messages (https://www.jsonrpc.org/specification#error_object)
  PARSE_ERROR: {
    rpc: -32700,
    status: 400,
    about: 'the text is not JSON',
    remedy: 'send one JSON-RPC 2.0 message as UTF-8 JSON',
  },
  INVALID_REQUEST: {
    rpc: -32600,
    status: 400,
    about: 'the JSON is not a JSON-RPC 2.0 message',
    remedy: 'send an object with jsonrpc "2.0" and a method',
  },
  METHOD_NOT_FOUND: {
    rpc: -32601,
    status: 404,
    about: 'the method does not exist',
    remedy: 'call a method of the Model Context Protocol',
  },
  INVALID_PARAMS: {
    rpc: -32602,
    status: 400,
    about: 'the params are invalid for the method',
    remedy: 'correct the params',
  },
  UNKNOWN_TOOL: {
    rpc: -32602,
    status: 404,
    about: 'no such tool is listed',
    remedy: 'call tools/list for the names',
  },
  UNKNOWN_PROMPT: {
    rpc: -32602,
    status: 404,
    about: 'no such prompt is listed',
    remedy: 'call prompts/list for the names',
  },
  RESOURCE_NOT_FOUND: {
    rpc: -32602,
    status: 404,
    about: 'no resource has this URI',
    remedy: 'call resources/list or resources/templates/list',
  },
  INTERNAL: {
    rpc: -32603,
    status: 500,
    about: 'something failed inside the server',
    remedy: 'see the server log for the request id; report it if it repeats',
  },

  // Transports and limits
  UNSUPPORTED_PROTOCOL: {
    rpc: -32022,
    status: 400,
    about: 'the protocol version is not supported',
    remedy: 'use one of the versions in data.supported',
  },
  HEADER_MISMATCH: {
    rpc: -32020,
    status: 400,
    about: 'a header and the body disagree',
    remedy: 'send MCP headers that mirror the body',
  },
  SESSION_NOT_FOUND: {
    rpc: -32001,
    status: 404,
    retryable: true,
    about: 'the session is unknown or has ended',
    remedy: 'send initialize again',
  },
  FORBIDDEN_HOST: {
    status: 403,
    about: 'the Host header is not an address of this server',
    remedy: 'call the server as localhost or 127.0.0.1',
  },
  FORBIDDEN_ORIGIN: {
    status: 403,
    about: 'the origin of the web page is not allowed',
    remedy: 'add the origin to CAUSEWAY_ALLOWED_ORIGINS, or send a token of CAUSEWAY_TOKEN_FILE',
  },
  UNAUTHORIZED: {
    status: 401,
    about: 'the call has no valid token',
    remedy:
      'send Authorization: Bearer with a token of CAUSEWAY_TOKEN_FILE; the bridge takes it by --token-file',
  },
  FORBIDDEN_SCOPE: {
    status: 403,
    about: 'the token does not permit the call',
    remedy: 'use a token with the scope data.needs on the app data.app',
  },
  BODY_TOO_LARGE: {
    status: 413,
    about: 'the request body exceeds the limit',
    remedy: 'send less, or raise CAUSEWAY_BODY_LIMIT_BYTES',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    about: 'the content type or coding of the body is not accepted',
    remedy: 'send Content-Type: application/json',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    retryable: true,
    about: 'the request stopped arriving',
    remedy: 'send the request without long pauses, or raise CAUSEWAY_RECEIVE_TIMEOUT_MS',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    about: 'the route does not support the HTTP method',
    remedy: 'see the Allow header',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    about: 'no route has this path',
    remedy: 'use /mcp, or one of the paths of /openapi.json',
  },
  CLIENT_CANNOT_ANSWER: {
    status: 422,
    about: 'the call asks something that its client does not support',
    remedy: 'call through an MCP client that can do what data.needs names',
  },
  TASKS_NOT_DECLARED: {
    rpc: -32021,
    status: 400,
    about: 'the client has not declared support for tasks',
    remedy: 'declare io.modelcontextprotocol/tasks in the capabilities of the message',
  },
  TASK_NOT_FOUND: {
    rpc: -32602,
    status: 404,
    about: 'the task is unknown or has expired',
    remedy: 'make the call again',
  },
  CANCELLED: {
    rpc: -32800,
    status: 499,
    about: 'the caller cancelled the call',
    remedy: 'call again if the result is still needed',
  },
  DEADLINE_EXCEEDED: {
    status: 504,
    retryable: true,
    about: 'the call took longer than its deadline',
    remedy: 'ask for less at once',
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    legacyCode: -32005,
    about: 'too many calls in a short time',
    remedy: 'wait for data.retry_after_ms',
  },
  OVERLOADED: {
    status: 503,
    retryable: true,
    about: 'the server is too busy',
    remedy: 'wait for data.retry_after_ms',
  },
  SHUTTING_DOWN: {
    status: 503,
    retryable: true,
    about: 'the server is stopping',
    remedy: 'call again when it has restarted',
  },

  // Calls and declarations
  INVALID_ARGUMENTS: {
    rpc: -32602,
    status: 400,
    about: 'the arguments do not match the input schema of the tool',
    remedy: 'correct these arguments',
  },
  INVALID_CURSOR: {
    rpc: -32602,
    status: 400,
    about: 'the cursor does not belong to this list',
    remedy: 'start again without a cursor',
  },
  NOTHING_TO_UNDO: {
    status: 409,
    about: 'there is no change to undo or redo',
    remedy: 'make a change first',
  },
  APP_UNAVAILABLE: {
    status: 503,
    retryable: true,
    about: 'the app could not be opened',
    remedy: 'see /health for the reason',
  },
  OUTSIDE_ROOTS: {
    status: 403,
    about: 'the path is outside the folders that the server may read',
    remedy: 'add its folder to the roots setting named in data.setting',
  },
  FILE_NOT_FOUND: {
    status: 404,
    about: 'the file does not exist',
    remedy: 'check the path',
  },
  DIRECTORY_NOT_FOUND: {
    status: 404,
    about: 'the directory does not exist',
    remedy: 'check the path',
  },
  ANSWER_TOO_LARGE: {
    rpc: -32603,
    status: 500,
    about: 'the result exceeds the limit of the client or the server',
    remedy: 'ask for less at once: a page, a range or fewer fields',
  },
  INVALID_SETTING: {
    status: 500,
    about: 'a setting is unknown or has an invalid value',
    remedy: 'see docs/settings.md',
  },
  INVALID_APP: {
    status: 500,
    about: 'the declaration of an app is invalid',
    remedy: 'correct the declaration named in the message',
  },
} as const satisfies Readonly<Record<string, ErrorDeclaration>>
