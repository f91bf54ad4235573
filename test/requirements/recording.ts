import type { Requirements } from '../requirement.ts'

/** The recording database: reading files of the C++ recorder without ever disturbing them. */
export const recording = {
  'recording:era:all': {
    origin: 'original recorder, schema history',
    behaviour: 'every schema era is read, and its capability map says what it lacks',
  },
  'recording:read:frames': {
    origin: 'original replay design, query layer',
    behaviour: 'states, contacts, friction rows, energies and solver rows of a frame equal the file',
  },
  'recording:read:ids': {
    origin: 'original recorder, instance ids',
    behaviour: 'body ids are instance ids, and environment ids keep bit 31',
  },
  'recording:read:null': {
    origin: 'original recorder, NaN stored as NULL',
    behaviour: 'NULL and non-finite values read as null, never as 0',
  },
  'recording:read:angular-velocity': {
    origin: 'original replay design, query layer',
    behaviour: 'angular velocity is derived from orientation and quaternion rate',
  },
  'recording:read:incomplete-frames': {
    origin: 'original recorder, killed writer',
    behaviour: 'rows without a frame row are invisible and counted in ignored_rows',
  },
  'recording:read:index-equals-scan': {
    origin: 'design, data',
    behaviour: 'answers before and after indexing are equal',
  },
  'recording:file:untouched': {
    origin: 'design, data',
    behaviour: 'nothing is written to or beside a foreign file',
  },
  'recording:file:live-writer': {
    origin: 'design, data; original recorder, no busy timeout',
    behaviour: 'a writer with a rollback journal and no busy timeout is never locked while we read',
  },
  'recording:file:hot-journal': {
    origin: 'SQLite file format, hot journals',
    behaviour: 'a file left with a hot journal is rolled back in the private copy only',
  },
  'recording:file:wal': {
    origin: 'SQLite write-ahead logging',
    behaviour: 'a file in WAL mode is read with the rows of its log',
  },
  'recording:file:rewritten': {
    origin: 'original replay design, default recording directory',
    behaviour: 'a file rewritten in place is noticed and loaded again',
  },
  'recording:file:missing': {
    origin: 'original replay design, integration tests',
    behaviour: 'a missing file is a coded error that says where was looked',
  },
  'recording:file:not-a-database': {
    origin: 'original replay design, error handling',
    behaviour: 'a file that is no database is a coded error',
  },
  'recording:file:not-a-recording': {
    origin: 'original replay design, error handling',
    behaviour: 'a database that is no recording is a coded error that says what is absent',
  },
  'recording:file:damaged': {
    origin: 'SQLite file format',
    behaviour: 'a damaged or truncated file is a coded error',
  },
  'recording:copy:cache': {
    origin: 'design, data',
    behaviour:
      'private copies are kept by identity of the file, least recently used first out, under a byte cap',
  },
  'recording:copy:interrupted': {
    origin: 'design, data',
    behaviour: 'an interrupted copy is never taken for a whole one',
  },
  'recording:columns:file': {
    origin: 'design, data',
    behaviour:
      'The columns of a long recording stand in a file beside its private copy, number by number as in its tables',
  },
  'recording:columns:behind': {
    origin: 'design, data',
    behaviour:
      'columns, and the answer of a first diagnosis, are made behind; a question that was asked before, and any after a restart, reads no table',
  },
  'recording:worker:event-loop': {
    origin: 'design, an app',
    behaviour: 'loading and querying leave the event loop free',
  },
  'recording:worker:dies': {
    origin: 'design, an app',
    behaviour: 'a worker that dies fails its calls with a coded error, and the next call starts a new one',
  },
  'recording:catalogue:reasons': {
    origin: 'original replay design, default recording directory',
    behaviour: 'the catalogue lists the recordings below the roots and says why a file is none',
  },
  'recording:catalogue:id': {
    origin: 'design, the wire: resources',
    behaviour: 'a recording has a stable id that is accepted wherever a path is',
  },
  'recording:roots:outside': {
    origin: 'design, settings: roots',
    behaviour: 'a path outside the roots is refused with the setting and the line to add',
    over: ['direct', 'http', 'bridge'],
  },
  'recording:roots:symlink': {
    origin: 'design, settings: roots',
    behaviour: 'a symbolic link that leads out of the roots is refused',
  },
  'recording:real-files': {
    origin: 'recordings of the original C++ recorder',
    behaviour: 'answers on real files equal those computed independently',
  },
  'recording:fixtures:expected': {
    origin: 'design, fixtures',
    behaviour: 'the committed recordings answer as their independently computed sidecars say',
  },
  'recording:fixtures:reproducible': {
    origin: 'design, fixtures',
    behaviour: 'the generator makes the committed recordings again, with the same logical content',
  },
  'recording:recorder:gzip-bomb': {
    origin: 'threat model, compressed bodies',
    behaviour:
      'a compressed body is decoded as it is stored, and a line that is too long or a million blank lines end it',
  },
  'recording:recorder:at-once': {
    origin: 'design, data',
    behaviour: 'a run is written, polled and read at once, and its file is sound after it',
  },
  'recording:recorder:killed': {
    origin: 'design, data',
    behaviour: 'a server that is killed loses at most what was not flushed, and the engine goes on',
  },
  'recording:recorder:lossless': {
    origin: 'design, data',
    behaviour: 'a client that follows and asks a run at 60 frames a second sees every frame once',
  },
  'recording:recorder:watched': {
    origin: 'design, data',
    behaviour:
      'a recorder at 60 frames a second is acknowledged body by body while others follow and diagnose the run, and no frame is lost',
  },
  'recording:recorder:one-writer': {
    origin: 'design, data',
    behaviour: 'a second client of the same name is refused while the first one sends',
  },
  'recording:recorder:import': {
    origin: 'design, data',
    behaviour: 'a file of lines becomes a whole run or none, and one that cannot be read harms nobody',
  },
  'recording:recorder:exchange': {
    origin: 'original recorder, schema history',
    behaviour: 'a recording is the same as a run of ours, and again as an export of that run',
  },
} as const satisfies Requirements
