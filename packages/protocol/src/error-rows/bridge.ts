import { type ErrorRow, retry, row } from './row.ts'

/** The bridge. */
export const bridgeRows = {
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
} satisfies Record<string, ErrorRow>
