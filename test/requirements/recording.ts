import type { Requirements } from '../requirement.ts'

/** The recording database: reads files of the C++ recorder without changing or locking them. */
export const recording = {
  'recording:era:all': {
    origin: 'original recorder, schema history',
    behaviour: 'every schema era is read, and its capability map lists what it lacks',
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
    behaviour: 'results before and after indexing are equal',
  },
  'recording:file:untouched': {
    origin: 'design, data',
    behaviour: 'nothing is written to a foreign file or its folder',
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
    behaviour: 'a file that is rewritten in place is detected and loaded again',
  },
  'recording:file:missing': {
    origin: 'original replay design, integration tests',
    behaviour: 'a missing file is a coded error that lists the searched places',
  },
  'recording:file:not-a-database': {
    origin: 'original replay design, error handling',
    behaviour: 'a file that is not a database is a coded error',
  },
  'recording:file:not-a-recording': {
    origin: 'original replay design, error handling',
    behaviour: 'a database that is not a recording is a coded error that lists what is missing',
  },
  'recording:file:damaged': {
    origin: 'SQLite file format',
    behaviour: 'a damaged or truncated file is a coded error',
  },
  'recording:copy:cache': {
    origin: 'design, data',
    behaviour:
      'private copies are cached by file identity, and the least recently used are evicted above a byte cap',
  },
  'recording:copy:interrupted': {
    origin: 'design, data',
    behaviour: 'an interrupted copy is never used as a complete one',
  },
  'recording:columns:file': {
    origin: 'design, data',
    behaviour:
      'the columns of a long recording are stored in a file next to its private copy and equal its tables number by number',
  },
  'recording:columns:selected': {
    origin: 'design, data',
    behaviour: 'a question reads only the tables, columns and bodies that it needs',
  },
  'recording:columns:once': {
    origin: 'design, data',
    behaviour:
      'two threads read a long recording for a question about all of it, which stores the columns for later ones',
  },
  'recording:columns:behind': {
    origin: 'design, data',
    behaviour:
      'columns and the result of a first diagnosis are computed in the background; a repeated diagnosis and any after a restart read no table',
  },
  'recording:worker:event-loop': {
    origin: 'design, an app',
    behaviour: 'loading and querying do not block the event loop',
  },
  'recording:worker:dies': {
    origin: 'design, an app',
    behaviour: 'a worker that dies fails its calls with a coded error, and the next call starts a new one',
  },
  'recording:catalogue:reasons': {
    origin: 'original replay design, default recording directory',
    behaviour:
      'the catalogue lists the recordings below the roots, and a reason for each file that is not a recording',
  },
  'recording:catalogue:id': {
    origin: 'design, the wire: resources',
    behaviour: 'a recording has a stable id that is accepted in place of a path',
  },
  'recording:roots:outside': {
    origin: 'design, settings: roots',
    behaviour: 'a path outside the roots is rejected with the setting and the line to add',
    over: ['direct', 'http', 'bridge'],
  },
  'recording:roots:symlink': {
    origin: 'design, settings: roots',
    behaviour: 'a symbolic link that leads out of the roots is rejected',
  },
  'recording:real-files': {
    origin: 'recordings of the original C++ recorder',
    behaviour: 'results on real files equal those computed independently',
  },
  'recording:fixtures:expected': {
    origin: 'design, fixtures',
    behaviour: 'the results of the committed recordings equal their independently computed sidecars',
  },
  'recording:fixtures:reproducible': {
    origin: 'design, fixtures',
    behaviour: 'the generator reproduces the committed recordings with the same logical content',
  },
  'recording:recorder:gzip-bomb': {
    origin: 'threat model, compressed bodies',
    behaviour:
      'a compressed body is stored while it is decoded, and a line that is too long or a million blank lines end it',
  },
  'recording:recorder:at-once': {
    origin: 'design, data',
    behaviour: 'a run can be written, polled and read at the same time, and its file is valid afterwards',
  },
  'recording:recorder:killed': {
    origin: 'design, data',
    behaviour: 'a killed server loses only what was not flushed, and the engine continues',
  },
  'recording:recorder:lossless': {
    origin: 'design, data',
    behaviour: 'a client that follows and queries a run at 60 frames per second receives every frame once',
  },
  'recording:recorder:watched': {
    origin: 'design, data',
    behaviour:
      'a recorder at 60 frames per second gets an acknowledgement for each request body while others follow and diagnose the run, and no frame is lost',
  },
  'recording:recorder:one-writer': {
    origin: 'design, data',
    behaviour: 'a second client of the same name is rejected while the first one sends',
  },
  'recording:recorder:import': {
    origin: 'design, data',
    behaviour:
      'a file of lines becomes a complete run or none, and an unreadable file affects no other client',
  },
  'recording:recorder:upload': {
    origin: 'design, new parts: console',
    behaviour:
      'the bytes of a database become a complete run or none; other bytes, a damaged, too large or cut upload leave no file',
  },
  'recording:recorder:new': {
    origin: 'design, new parts: console',
    behaviour: 'a client can send frames on condition that no recording of this name exists',
  },
  'recording:files:mcap': {
    origin: 'design, recorders',
    behaviour: 'a file of a recorder gives the same answers as the same frames as lines',
  },
  'recording:articulation': {
    origin: 'design, recorders',
    behaviour:
      'groups of bodies, joints, substeps and provenance are equal as lines, MCAP, export and import, in any convention',
  },
  'recording:files:convention': {
    origin: 'design, recorders',
    behaviour:
      'a run with other axes, handedness or orders equals the same run in the convention of recordings',
  },
  'recording:files:cut': {
    origin: 'design, recorders',
    behaviour: 'a file of a killed recorder keeps every complete chunk and is marked as interrupted',
  },
  'recording:files:killed': {
    origin: 'design, recorders',
    behaviour: 'a recorder that is killed at a random moment loses at most its last chunk',
  },
  'recording:files:flight': {
    origin: 'design, recorders',
    behaviour: 'a flight recorder writes its last frames when something goes wrong, and only then',
  },
  'recording:files:damage': {
    origin: 'design, recorders',
    behaviour: 'a damaged or foreign MCAP file is rejected with the reason',
  },
  'recording:files:provenance': {
    origin: 'design, recorders',
    behaviour:
      'a recorder finds commit, branch, seed, tags and host in the environment, and else commit and branch in git',
  },
  'recording:import:tables': {
    origin: 'design, recorders',
    behaviour: 'a table of another tool gives the same answers as the same run recorded as lines',
  },
  'recording:import:arrays': {
    origin: 'design, recorders',
    behaviour: 'Parquet, npz and HDF5 files give the same answers as the same run recorded as lines',
  },
  'recording:import:mapping': {
    origin: 'design, recorders',
    behaviour: 'a file without a mapping is rejected with its columns and a proposed mapping',
  },
  'recording:import:order': {
    origin: 'design, recorders',
    behaviour:
      'the order of a quaternion is proposed only if names, attributes or angular velocities decide it',
  },
  'recording:import:hostile': {
    origin: 'design, recorders',
    behaviour: 'a damaged or oversized file is rejected with a code, and the server continues',
  },
  'recording:lake:questions': {
    origin: 'design, recorders',
    behaviour: 'frames of sealed runs become Parquet files, and DuckDB answers questions about all of them',
  },
  'recording:lake:contract': {
    origin: 'design, recorders',
    behaviour: 'DuckDB and ClickHouse give equal answers over the same files',
  },
  'recording:import:ros2': {
    origin: 'design, recorders',
    behaviour:
      'a ROS 2 bag, also one of several files, is one run with the poses and contacts of its messages',
  },
  'recording:recorder:exchange': {
    origin: 'original recorder, schema history',
    behaviour: 'a recording equals the run imported from it, and the export of that run equals both',
  },
} as const satisfies Requirements
