import { type ErrorRow, row } from './row.ts'

/** Commands of the program `causeway`; they are told on its standard error. */
export const commandRows = {
  STOP_FAILED: row(-32000, 500, 'the server could not be stopped', 'see causeway logs'),
  NOT_CONFIRMED: row(-32000, 400, 'what cannot be undone was not confirmed', 'say --yes'),
  CLIENT_FILE_REFUSED: row(
    -32000,
    409,
    "a client's configuration cannot be changed without harm",
    'put the lines in by hand that are printed',
  ),
  NO_LOG_FILES: row(
    -32000,
    404,
    'the server writes no log files',
    'start it with CAUSEWAY_LOG_FILES=true; what it says until then is on its standard error',
  ),
  NO_SERVICE_MANAGER: row(
    -32000,
    501,
    'this system has no systemd that runs services of a user',
    'let its own service manager run the line that is printed',
  ),
} satisfies Record<string, ErrorRow>
