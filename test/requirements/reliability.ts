import type { Requirements } from '../requirement.ts'

/** Durability: backups, kills, faults of the disk and the clock, newer versions, restarts. */
export const reliability = {
  'backup:whole': {
    origin: 'design, data',
    behaviour:
      'a backup of a folder in use contains every file of every app with size, hash and schema, without caches and secrets',
  },
  'backup:restored': {
    origin: 'design, data',
    behaviour:
      'a backup is restored into an empty folder, and paths below the data folder are adjusted to it',
  },
  'backup:refused': {
    origin: 'design, data',
    behaviour:
      'a backup that was changed, is incomplete or has a newer schema is rejected with a code, and nothing is restored',
  },
  'backup:consent': {
    origin: 'design, data',
    behaviour:
      'existing data is moved aside only with consent and never deleted; a backup is not restored to a folder in use',
  },
  'backup:restore-alone': {
    origin: 'design, data',
    behaviour:
      'no server starts on a data folder while it is restored, even if the folder did not exist before',
  },
  'backup:restore-cut-short': {
    origin: 'design, data',
    behaviour:
      'after a restore was killed no server starts with empty data, doctor and erase report the leftovers, and the restore can be repeated',
  },
  'backup:all-or-nothing': {
    origin: 'design, data',
    behaviour: 'a backup that is cancelled or fails leaves no files, and no backup is overwritten',
  },
  'backup:tool': {
    origin: 'design, data',
    behaviour:
      'make_backup backs up a running server with progress, one at a time and once per request id within ten minutes; list_backups lists the backup',
  },
  'backup:task': {
    origin: 'design, data',
    behaviour: 'make_backup is a task for a client that supports tasks, with the result of the call',
  },
  'backup:killed': {
    origin: 'design, data',
    behaviour:
      'the next start removes the unfinished backup of a killed server, but not that of another program',
  },
  'backup:foreign-part': {
    origin: 'design, data',
    behaviour:
      'folders of other programs next to the backups are never removed, regardless of their names, and no backup takes the name of an incomplete one',
  },
  'backup:running': {
    origin: 'design, data',
    behaviour:
      'everything acknowledged before a backup under load exists after the restore, row for row, and the backup does not block the server',
  },
  'backup:no-loss': {
    origin: 'design, data',
    behaviour:
      'a backup of a folder with an empty, missing, replaced or damaged database fails with a code, and earlier backups stay',
  },
  'backup:names-hold': {
    origin: 'design, data',
    behaviour:
      'a file that a database refers to is in the same backup, even if files are created and deleted meanwhile',
  },
  'killed:every-store': {
    origin: 'design, data',
    behaviour:
      'a server that is killed at any moment while every store is in use starts again with all acknowledged data, once',
  },
  'migration:released': {
    origin: 'design, data',
    behaviour: 'a released migration step is never changed',
  },
  'migration:opens': {
    origin: 'design, data',
    behaviour: 'this version opens the data files of every released version, with every row',
  },
  'migration:downgrade': {
    origin: 'design, data',
    behaviour:
      'the previous version opens data files of this version or rejects them unchanged, as docs/upgrading.md lists',
  },
  'fault:damaged': {
    origin: 'design, data',
    behaviour:
      'a store with a damaged file reports DATA_DAMAGED with a remedy, does not change the file, and does not affect other apps',
  },
  'fault:damaged:working': {
    origin: 'design, data',
    behaviour:
      'a store whose damage is detected during a call reports DATA_DAMAGED with a remedy, and the health of its app reports it from then on',
  },
  'fault:missing': {
    origin: 'design, data',
    behaviour:
      'a database that was initialized and is now empty, missing or replaced is rejected with the command that restores it; other apps continue',
  },
  'fault:missing:working': {
    origin: 'design, data',
    behaviour:
      'calls that use a database that is removed or replaced while the server runs fail with the command that restores it; nothing is written into the removed file, and other apps are not affected',
  },
  'fault:read-only': {
    origin: 'design, data',
    behaviour:
      'a store whose file cannot be written reports DATA_UNWRITABLE and other apps continue; a server that cannot write its own file reports it and exits',
  },
  'fault:disk-full': {
    origin: 'design, data',
    behaviour:
      'on a full disk every store fails with a code, the server keeps running, and no acknowledged data is lost',
  },
  'fault:disk-full:health': {
    origin: 'design, data; the wire: health',
    behaviour: '/health is degraded while the disk is full, and ok again when space is available',
  },
  'fault:open-files': {
    origin: 'design, data',
    behaviour:
      'a server that can open no more files keeps running, fails the calls that need one with OVERLOADED, and works again when it can open files',
  },
  'fault:first-start': {
    origin: 'design, data',
    behaviour:
      'after a first start that was killed at any write, flush, truncation, rename or removal, the next start opens every store, and a store that is then emptied is rejected',
  },
  'fault:io': {
    origin: 'design, data',
    behaviour:
      'a failed or partial write or flush of any store fails with a code, does not affect later calls, and loses no acknowledged data',
  },
  'fault:torn': {
    origin: 'design, data',
    behaviour:
      'a server that is killed during a write of any store starts again with all acknowledged data, once',
  },
  'fault:unsynced': {
    origin: 'design, data',
    behaviour:
      'after a power failure every store opens with the flushed data, and a mind with full durability has every acknowledged decision',
  },
  'data:moved': {
    origin: 'design, data',
    behaviour:
      'a data folder that was moved by hand keeps its runs, unsaved plots and refinements under their names',
  },
  'fault:harmed': {
    origin: 'design, data',
    behaviour:
      'a server starts on a folder that is damaged in one place, or reports the reason and a remedy; what can be rebuilt is rebuilt, and nothing else is lost',
  },
  'fault:clock:jump': {
    origin: 'design, data; the wire: sessions',
    behaviour:
      'a server whose clock jumps a day forward and back keeps running: sessions, states and tasks stay, no duration is negative, and no audit entry is lost',
  },
  'fault:workers': {
    origin: 'design, an app; debrief, resource sandboxing',
    behaviour:
      'if a worker dies during a call, the call fails with a code, the next call gets another worker, and no acknowledged data is lost',
  },
  'fault:clock': {
    origin: 'design, data',
    behaviour:
      'a clock that jumps a month ahead or days back executes no repeated request twice, neither fills nor empties a bucket, and preserves the order of the audit',
  },
  'restart:no-loss': {
    origin: 'design, the wire: shutdown',
    behaviour:
      'a server that is stopped under load answers all accepted requests; through the bridge each call is executed and answered once',
  },
} as const satisfies Requirements
