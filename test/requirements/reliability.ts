import type { Requirements } from '../requirement.ts'

/** What survives: backups, kills, faults of the disk and the clock, newer versions, restarts. */
export const reliability = {
  'backup:whole': {
    origin: 'design, data',
    behaviour:
      'a backup of a folder in use has every file of every app with size, hash and schema, without caches and secrets',
  },
  'backup:restored': {
    origin: 'design, data',
    behaviour: 'a backup is restored into an empty folder, and paths below the data folder follow it',
  },
  'backup:refused': {
    origin: 'design, data',
    behaviour:
      'a backup that was changed, is incomplete or of a newer schema is refused with a code, and nothing is restored',
  },
  'backup:consent': {
    origin: 'design, data',
    behaviour:
      'data that is there is moved aside with consent only and never deleted; a folder in use is not restored to',
  },
  'backup:restore-alone': {
    origin: 'design, data',
    behaviour: 'no server begins on a data folder while it is restored, also where there was none before',
  },
  'backup:restore-cut-short': {
    origin: 'design, data',
    behaviour:
      'after a restore was killed no server begins with nothing, doctor and erase tell what it left, and it can be run again',
  },
  'backup:all-or-nothing': {
    origin: 'design, data',
    behaviour: 'a backup that is cancelled or fails leaves nothing, and none is overwritten',
  },
  'backup:tool': {
    origin: 'design, data',
    behaviour:
      'make_backup copies a running server with progress, once for each request of the last ten minutes, one at a time; list_backups lists it',
  },
  'backup:task': {
    origin: 'design, data',
    behaviour: 'make_backup is a task for a client that knows tasks, and its answer is that of the call',
  },
  'backup:killed': {
    origin: 'design, data',
    behaviour:
      'what a server that was killed had of a backup is gone after the next start; what another program makes stays',
  },
  'backup:foreign-part': {
    origin: 'design, data',
    behaviour:
      'folders of other programs beside the backups are never removed, whatever their names, and no backup takes the name of one that is not complete',
  },
  'backup:running': {
    origin: 'design, data',
    behaviour:
      'what was answered before a backup of a server under load is there after it was restored, row for row, and the server was not held up',
  },
  'backup:no-loss': {
    origin: 'design, data',
    behaviour:
      'a backup of a folder with an empty, missing, replaced or damaged database fails with a code, and earlier backups stay',
  },
  'backup:names-hold': {
    origin: 'design, data',
    behaviour: 'a file that a database names is in the backup with it, whatever comes and goes meanwhile',
  },
  'killed:every-store': {
    origin: 'design, data',
    behaviour:
      'a server that is killed at any moment while every store is at work starts again with all that was answered, once',
  },
  'migration:released': {
    origin: 'design, data',
    behaviour: 'a step of a schema that was released is never changed',
  },
  'migration:opens': {
    origin: 'design, data',
    behaviour: 'the data files of every released version open in this one, with every row',
  },
  'fault:damaged': {
    origin: 'design, data',
    behaviour:
      'a store whose file is damaged says DATA_DAMAGED and what to do, leaves the file as it is, and hurts no other app',
  },
  'fault:damaged:working': {
    origin: 'design, data',
    behaviour:
      'a store that turns out to be damaged in the middle of work says DATA_DAMAGED and what to do, and the health of its app says so from then on',
  },
  'fault:missing': {
    origin: 'design, data',
    behaviour:
      'a database that was initialized and is now empty, missing or replaced is refused with the command that restores it; other apps go on',
  },
  'fault:read-only': {
    origin: 'design, data',
    behaviour:
      'a store whose file cannot be written says DATA_UNWRITABLE, the other apps go on; the server says so of its own and ends',
  },
  'fault:disk-full': {
    origin: 'design, data',
    behaviour:
      'on a disk that is full every store refuses with a code, the server goes on, and nothing that was answered is lost',
  },
  'fault:disk-full:health': {
    origin: 'design, data; the wire: health',
    behaviour: '/health is degraded while the disk is full, and ok again once there is room',
  },
  'fault:io': {
    origin: 'design, data',
    behaviour:
      'a write or flush of any store that fails or is cut short is refused with a code, does not harm later calls, and loses nothing that was answered',
  },
  'fault:torn': {
    origin: 'design, data',
    behaviour:
      'a server that is killed in the middle of a write of any store starts again with all that was answered, once',
  },
  'fault:unsynced': {
    origin: 'design, data',
    behaviour:
      'after a power failure every store opens with what was flushed, and a mind with full durability has every answered decision',
  },
  'data:moved': {
    origin: 'design, data',
    behaviour:
      'a data folder that was moved by hand keeps its runs, its unsaved plots and its refinements, under the names that they had',
  },
  'fault:harmed': {
    origin: 'design, data',
    behaviour:
      'a server starts on a folder that was harmed in one place, or says why not and what to do; what can be made again is, and nothing else is lost',
  },
  'fault:clock:jump': {
    origin: 'design, data; the wire: sessions',
    behaviour:
      'a server whose clock jumps forward a day and back goes on: sessions, states and tasks stay, nothing is negative, and no entry of the audit is lost',
  },
  'fault:workers': {
    origin: 'design, an app; debrief, resource sandboxing',
    behaviour:
      'a worker that dies with a call in hand fails this call by a code, the next call finds another worker, and nothing that was answered is lost',
  },
  'fault:clock': {
    origin: 'design, data',
    behaviour:
      'a clock that jumps a month ahead or days back doubles no repeated request, fills and empties no bucket, and keeps the order of the audit',
  },
  'restart:no-loss': {
    origin: 'design, the wire: shutdown',
    behaviour:
      'a server that is told to stop under load answers all that it accepted; through the bridge each call is answered and done once',
  },
} as const satisfies Requirements
