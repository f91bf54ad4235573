import { type ErrorRow, retry, row } from './row.ts'

/** Data files and settings. */
export const serverRows = {
  NEWER_DATA: row(
    -32000,
    500,
    'a data file was written by a newer version',
    'start the newer version, or point CAUSEWAY_DATA_DIR at another folder',
  ),
  DATA_SCHEMA_DIFFERS: row(
    -32000,
    500,
    'a data file was written by a build that was never released, with other tables',
    'move the file away, or point CAUSEWAY_DATA_DIR at another folder; the build that wrote it can still read it',
  ),
  DATA_DAMAGED: row(
    -32000,
    500,
    'a data file is damaged',
    'restore it from a backup: stop the server and run "causeway restore <backup folder> --replace"',
  ),
  DATA_MISSING: row(
    -32000,
    500,
    'a data file that was initialized before is missing, empty or replaced by another one',
    'restore it from a backup: stop the server and run "causeway restore <backup folder> --replace"',
  ),
  DATA_UNWRITABLE: row(
    -32000,
    507,
    'a data file cannot be written',
    'free disk space and check the permissions of the data folder',
    retry,
  ),
  DATA_IN_USE: row(
    -32000,
    409,
    'another process uses the data folder',
    'stop that server, or point CAUSEWAY_DATA_DIR at another folder',
  ),
  DATA_EXISTS: row(
    -32000,
    409,
    'there is data where data is to be put',
    'choose an empty folder, or allow the data to be moved aside',
  ),
  RESTORE_UNFINISHED: row(
    -32000,
    409,
    'a restore did not come to its end, or the data folder was removed after one',
    'run the restore again, or give the folder of before its name back',
  ),
  BACKUP_NOT_FOUND: row(-32000, 404, 'there is no such backup', 'list the backups and give the name of one'),
  BACKUP_DAMAGED: row(
    -32000,
    422,
    'a backup is incomplete, or was changed after it was made',
    'use another backup; nothing was restored',
  ),
  BACKUP_UNSETTLED: row(
    -32000,
    503,
    'files of the data folder came and went all the time while they were copied',
    'call again',
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
