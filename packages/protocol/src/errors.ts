/**
 * Everything that can go wrong, in one table: the cause, what it means on each channel, and what to do about it.
 * Nothing else in the product decides a JSON-RPC number, an HTTP status or whether a retry makes sense.
 */

/** One row of the table: how a cause is told on each channel. */
export interface ErrorRow {
  /** JSON-RPC 2.0 error number, used where the failure is one of the envelope and not of a tool. */
  readonly rpc: number
  /** HTTP status of the plain REST routes. */
  readonly http: number
  /** True when the same call may succeed later without being changed. */
  readonly retryable: boolean
  /** What happened, for the documentation. */
  readonly about: string
  /** What the caller can do, in lower case and without a period; joined to the message by a semicolon. */
  readonly remedy: string
  /** The number that an original design promised for this cause. */
  readonly legacy?: number
}

const row = (
  rpc: number,
  http: number,
  about: string,
  remedy: string,
  more: { retryable?: boolean; legacy?: number } = {},
): ErrorRow => Object.freeze({ rpc, http, about, remedy, retryable: false, ...more })

const retry = { retryable: true }

/** code -> row. A code is named for its cause, never renamed and never reused. */
export const codes = Object.freeze({
  // The envelope (https://www.jsonrpc.org/specification#error_object)
  PARSE_ERROR: row(-32700, 400, 'the text is not JSON', 'send one JSON-RPC 2.0 message as UTF-8 JSON'),
  INVALID_REQUEST: row(
    -32600,
    400,
    'the JSON is not a JSON-RPC 2.0 message',
    'send an object with jsonrpc "2.0" and a method',
  ),
  METHOD_NOT_FOUND: row(
    -32601,
    404,
    'the method does not exist',
    'call a method of the Model Context Protocol',
  ),
  INVALID_PARAMS: row(-32602, 400, 'the params do not fit the method', 'correct the params'),
  UNKNOWN_TOOL: row(-32602, 404, 'no such tool is listed', 'call tools/list for the names'),
  UNKNOWN_PROMPT: row(-32602, 404, 'no such prompt is listed', 'call prompts/list for the names'),
  RESOURCE_NOT_FOUND: row(
    -32602,
    404,
    'no resource has this URI',
    'call resources/list or resources/templates/list',
  ),
  INTERNAL: row(
    -32603,
    500,
    'something failed inside the server',
    'see the server log for the request id; report it if it repeats',
  ),

  // The transport
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
    'a web page of another origin made this call',
    'call from a program and not from a web page',
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
    'the content type is not understood here',
    'send Content-Type: application/json',
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
  CANCELLED: row(-32800, 499, 'the caller cancelled the call', 'call again if the answer is still wanted'),
  DEADLINE_EXCEEDED: row(
    -32000,
    504,
    'the call took longer than its deadline',
    'ask for less at once',
    retry,
  ),
  RATE_LIMITED: row(-32000, 429, 'too many calls in a short time', 'wait for data.retry_after_ms', retry),
  OVERLOADED: row(-32000, 503, 'the server is too busy', 'wait for data.retry_after_ms', retry),
  SHUTTING_DOWN: row(-32000, 503, 'the server is stopping', 'call again when it has restarted', retry),

  // A call
  INVALID_ARGUMENTS: row(
    -32602,
    400,
    'the arguments do not fit the tool',
    'correct the arguments named in data.problems',
  ),
  INVALID_CURSOR: row(-32602, 400, 'the cursor was not made by this list', 'start again without a cursor'),
  APP_UNAVAILABLE: row(-32000, 503, 'the app could not be opened', 'see /health for the reason', retry),
  OUTSIDE_ROOTS: row(
    -32000,
    403,
    'the path is not below a folder that the server may read',
    'add its folder to the roots setting named in data.setting',
  ),
  FILE_NOT_FOUND: row(-32000, 404, 'there is no such file', 'check the path'),
  DIRECTORY_NOT_FOUND: row(-32000, 404, 'there is no such directory', 'check the path'),

  // Pictures
  INVALID_PICTURE: row(
    -32000,
    422,
    'what was to be drawn is not a chart or drawing that can be drawn',
    'correct the specification or the drawing named in the message',
  ),

  // Recordings
  NO_RECORDING: row(-32000, 409, 'no recording is loaded', 'call load_recording first', { legacy: -32000 }),
  RECORDING_NOT_FOUND: row(
    -32000,
    404,
    'no recording has this id or path',
    'call list_recordings for the ids',
    { legacy: -32000 },
  ),
  NOT_A_DATABASE: row(-32000, 422, 'the file is not an SQLite database', 'give the .db file of a recording', {
    legacy: -32000,
  }),
  NOT_A_RECORDING: row(
    -32000,
    422,
    'the database holds no simulation frames',
    'give a database that the recorder wrote',
    { legacy: -32000 },
  ),
  RECORDING_BUSY: row(
    -32000,
    409,
    'the recording is being written and no consistent copy could be taken',
    'wait until the simulation has ended, then call again',
    { retryable: true, legacy: -32000 },
  ),
  RECORDING_DAMAGED: row(
    -32000,
    422,
    'the recording is damaged',
    'record again, or recover the file with the sqlite3 shell',
    { legacy: -32000 },
  ),
  FRAME_NOT_FOUND: row(
    -32000,
    404,
    'the recording has no such frame',
    'use a frame id between data.first_frame and data.last_frame',
    { legacy: -32000 },
  ),
  BODY_NOT_FOUND: row(
    -32000,
    404,
    'the recording has no such body',
    'use one of data.bodies; get_metadata lists them',
    { legacy: -32000 },
  ),
  NOT_RECORDED: row(
    -32000,
    422,
    'this recording does not hold the quantity asked for',
    'see capabilities and missing in get_metadata',
    { legacy: -32000 },
  ),
  INVALID_QUERY: row(
    -32000,
    422,
    'the SQL statement may not run here, or is not understood',
    'send one SELECT over v_frame, v_state, v_contact, v_friction, v_energy, v_solver and v_body',
  ),
  TAIL_TOO_LARGE: row(
    -32000,
    413,
    'the recording is too large to be copied again each time it grows',
    'record through POST /api/apps/replay/recordings/<name>/frames, or call load_recording once it has ended',
  ),
  INVALID_FRAME: row(
    -32000,
    400,
    'a line of a recording that is being sent does not fit',
    'correct the member named in data.path, and go on after data.last_frame_id',
  ),
  FRAME_CONFLICT: row(
    -32000,
    409,
    'a frame contradicts what is stored of the recording',
    'send frames with ascending ids, and use one name for each run',
  ),
  RECORDING_IN_USE: row(
    -32000,
    409,
    'another client is writing this recording',
    'wait until it has ended, or record under another name',
    retry,
  ),
  RECORDING_FINISHED: row(-32000, 409, 'the recording is finished', 'record under another name'),
  RECORDING_EXISTS: row(
    -32000,
    409,
    'a recording of this name exists',
    'use another name, or delete it first',
  ),

  WORKER_LOST: row(
    -32000,
    503,
    'the thread or process that worked on the call ended unexpectedly',
    'call again; report it if it repeats',
    retry,
  ),

  // Data files and settings
  NEWER_DATA: row(
    -32000,
    500,
    'a data file was written by a newer version',
    'start the newer version, or point CAUSEWAY_DATA_DIR at another folder',
  ),
  DATA_DAMAGED: row(-32000, 500, 'a data file is damaged', 'restore it from a backup'),
  DATA_UNWRITABLE: row(
    -32000,
    507,
    'a data file cannot be written',
    'free disk space and check the permissions of the data folder',
    retry,
  ),
  INVALID_SETTING: row(-32000, 500, 'a setting is unknown or has a wrong value', 'see docs/settings.md'),
  PORT_IN_USE: row(
    -32000,
    500,
    'another program listens on the port',
    'stop it, or set MCP_SERVER_PORT to another port',
  ),
  INVALID_APP: row(
    -32000,
    500,
    'an app is declared in a way that clients cannot use',
    'correct the declaration named in the message',
  ),

  // The bridge
  SERVER_UNREACHABLE: row(
    -32603,
    503,
    'the bridge cannot reach the server',
    'start it with `npm start`, or set MCP_SERVER_URL',
    retry,
  ),
  SERVER_START_FAILED: row(
    -32603,
    503,
    'the bridge could not start the server',
    'see the log named in data.log',
    retry,
  ),
  SERVER_ANSWER_INVALID: row(
    -32603,
    502,
    'the server answered something that is not MCP',
    'check that MCP_SERVER_URL ends in /mcp',
  ),
  ANSWER_TOO_LARGE: row(
    -32603,
    500,
    'the answer is longer than the client can read',
    'ask for less at once: a page, a range or fewer fields',
  ),
  TOOL_HIDDEN: row(
    -32602,
    404,
    'the bridge was told to hide the tool',
    'call another tool, or start the bridge without --only and --ignore',
  ),
  NOT_IN_TRAFFIC: row(
    -32603,
    404,
    'the recorded traffic holds no such call',
    'make a call that was recorded, or start the bridge without --replay',
  ),
} satisfies Record<string, ErrorRow>)

/** The name of a cause. */
export type ErrorCode = keyof typeof codes

/** The row of a code, typed as the interface and not as its literal. */
export const rowOf = (code: ErrorCode): ErrorRow => codes[code]
