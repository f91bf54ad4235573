import { type ErrorRow, row } from './row.ts'

/** The envelope: https://www.jsonrpc.org/specification#error_object. */
export const envelopeRows = {
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
} satisfies Record<string, ErrorRow>
