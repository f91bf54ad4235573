import { defineErrors } from '@causeway/protocol'

export const StoreError = defineErrors({
  NEWER_DATA: {
    status: 500,
    about: 'a data file was written by a newer version',
    remedy: 'start the newer version, or point CAUSEWAY_DATA_DIR at another folder',
  },
  DATA_SCHEMA_DIFFERS: {
    status: 500,
    about: 'a data file was written by a build that was never released, with other tables',
    remedy:
      'move the file away, or point CAUSEWAY_DATA_DIR at another folder; the build that wrote it can still read it',
  },
  DATA_DAMAGED: {
    status: 500,
    about: 'a data file is damaged',
    remedy: 'restore it from a backup: stop the server and run "causeway restore <backup folder> --replace"',
  },
  DATA_MISSING: {
    status: 500,
    about: 'a data file that was initialized before is missing, empty or replaced by another one',
    remedy: 'restore it from a backup: stop the server and run "causeway restore <backup folder> --replace"',
  },
  DATA_UNWRITABLE: {
    status: 507,
    retryable: true,
    about: 'a data file cannot be written',
    remedy: 'free disk space and check the permissions of the data folder',
  },
  DATA_IN_USE: {
    status: 409,
    about: 'another process uses the data folder',
    remedy: 'run causeway stop, or use another folder: --data-dir or CAUSEWAY_DATA_DIR',
  },
})
