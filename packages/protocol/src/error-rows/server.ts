import { type ErrorRow, retry, row } from './row.ts'

/** Data files and settings. */
export const serverRows = {
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
} satisfies Record<string, ErrorRow>
