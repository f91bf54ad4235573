import { defineErrors } from '@causeway/protocol'

export const ServerError = defineErrors({
  NOT_READ_ONLY: {
    status: 403,
    about: 'call_read_tool was asked to call a tool that can change something',
    remedy: 'call it with call_tool, or by its own name',
  },
  STOP_FAILED: {
    status: 500,
    about: 'the server could not be stopped',
    remedy: 'see causeway logs',
  },
  NOT_CONFIRMED: {
    status: 400,
    about: 'an irreversible action was not confirmed',
    remedy: 'add --yes to confirm',
  },
  CLIENT_FILE_REFUSED: {
    status: 409,
    about: "a client's configuration cannot be changed safely",
    remedy: 'add the printed lines by hand',
  },
  SERVER_NOT_RUNNING: {
    status: 503,
    retryable: true,
    about: 'no server runs on the data folder',
    remedy:
      'start it: causeway serve; if it runs with another port or data folder, add --port or --data-dir to this command',
  },
  NO_LOG_FILES: {
    status: 404,
    about: 'the server writes no log files',
    remedy: 'start the server once; it writes log files unless CAUSEWAY_LOG_FILES=false',
  },
  NO_SERVICE_MANAGER: {
    status: 501,
    about: 'there is no service manager for this user, or it failed',
    remedy: 'run the printed command in the service manager of the system',
  },
  DATA_EXISTS: {
    status: 409,
    about: 'the target folder is not empty',
    remedy: 'choose an empty folder, or allow the data to be moved aside',
  },
  RESTORE_UNFINISHED: {
    status: 409,
    about: 'a restore was interrupted, or the data folder was removed after one',
    remedy: 'run the restore again, or rename the previous data folder back',
  },
  BACKUP_NOT_FOUND: {
    status: 404,
    about: 'the backup does not exist',
    remedy: 'give the folder of a backup, which contains causeway-backup.json',
  },
  BACKUP_DAMAGED: {
    status: 422,
    about: 'a backup is incomplete, or was changed after it was made',
    remedy: 'use another backup; nothing was restored',
  },
  BACKUP_UNSETTLED: {
    status: 503,
    retryable: true,
    about: 'files of the data folder kept changing while they were copied',
    remedy: 'call again',
  },
  PORT_IN_USE: {
    status: 500,
    about: 'another program listens on the port',
    remedy: 'stop it, or use another port: --port or MCP_SERVER_PORT',
  },
})
