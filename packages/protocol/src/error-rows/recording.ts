import { type ErrorRow, retry, row } from './row.ts'

/** Recordings. */
export const recordingRows = {
  NO_RECORDING: row(-32000, 409, 'no recording is loaded', 'call load_recording first', { legacy: -32000 }),
  RECORDING_NOT_FOUND: row(
    -32000,
    404,
    'no recording has this id or path',
    'call list_recordings for the ids',
    { legacy: -32000 },
  ),
  NOT_A_DATABASE: row(-32000, 422, 'the file is not an SQLite database', 'give the .db file of a recording', {
    legacy: -32000,
  }),
  NOT_A_RECORDING: row(
    -32000,
    422,
    'the database holds no simulation frames',
    'give a database that the recorder wrote',
    { legacy: -32000 },
  ),
  RECORDING_BUSY: row(
    -32000,
    409,
    'the recording is being written and no consistent copy could be taken',
    'wait until the simulation has ended, then call again',
    { retryable: true, legacy: -32000 },
  ),
  RECORDING_DAMAGED: row(
    -32000,
    422,
    'the recording is damaged',
    'record again, or recover the file with the sqlite3 shell',
    { legacy: -32000 },
  ),
  FRAME_NOT_FOUND: row(
    -32000,
    404,
    'the recording has no such frame',
    'use a frame id between data.first_frame and data.last_frame',
    { legacy: -32000 },
  ),
  BODY_NOT_FOUND: row(
    -32000,
    404,
    'the recording has no such body',
    'use one of data.bodies; get_metadata lists them',
    { legacy: -32000 },
  ),
  NOT_RECORDED: row(
    -32000,
    422,
    'this recording does not hold the quantity asked for',
    'see capabilities and missing in get_metadata',
    { legacy: -32000 },
  ),
  INVALID_QUERY: row(
    -32000,
    422,
    'the SQL statement may not run here, or is not understood',
    'send one SELECT over v_frame, v_state, v_contact, v_friction, v_energy, v_solver and v_body',
  ),
  TAIL_TOO_LARGE: row(
    -32000,
    413,
    'the recording is too large to be copied again each time it grows',
    'record through POST /api/apps/replay/recordings/<name>/frames, or call load_recording once it has ended',
  ),
  INVALID_FRAME: row(
    -32000,
    400,
    'a line of a recording that is being sent does not fit',
    'correct the member named in data.path, and go on after data.last_frame_id',
  ),
  FRAME_CONFLICT: row(
    -32000,
    409,
    'a frame contradicts what is stored of the recording',
    'send frames with ascending ids, and use one name for each run',
  ),
  RECORDING_IN_USE: row(
    -32000,
    409,
    'another client is writing this recording',
    'wait until it has ended, or record under another name',
    retry,
  ),
  RECORDING_FINISHED: row(-32000, 409, 'the recording is finished', 'record under another name'),
  RECORDING_EXISTS: row(
    -32000,
    409,
    'a recording of this name exists',
    'use another name, or delete it first',
  ),

  WORKER_LOST: row(
    -32000,
    503,
    'the thread or process that worked on the call ended unexpectedly',
    'call again; report it if it repeats',
    retry,
  ),
} satisfies Record<string, ErrorRow>
