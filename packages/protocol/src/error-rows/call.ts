import { type ErrorRow, retry, row } from './row.ts'

/** A call. */
export const callRows = {
  INVALID_ARGUMENTS: row(-32602, 400, 'the arguments do not fit the tool', 'correct these arguments'),
  INVALID_CURSOR: row(-32602, 400, 'the cursor was not made by this list', 'start again without a cursor'),
  NOTHING_TO_UNDO: row(-32000, 409, 'there is no change to take back or to do again', 'make a change first'),
  APP_UNAVAILABLE: row(-32000, 503, 'the app could not be opened', 'see /health for the reason', retry),
  OUTSIDE_ROOTS: row(
    -32000,
    403,
    'the path is not below a folder that the server may read',
    'add its folder to the roots setting named in data.setting',
  ),
  FILE_NOT_FOUND: row(-32000, 404, 'there is no such file', 'check the path'),
  DIRECTORY_NOT_FOUND: row(-32000, 404, 'there is no such directory', 'check the path'),
} satisfies Record<string, ErrorRow>
