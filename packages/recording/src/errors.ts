import { defineErrors } from '@causeway/protocol'

export const RecordingError = defineErrors({
  RECORDING_NOT_FOUND: {
    status: 404,
    legacyCode: -32000,
    about: 'no recording has this id or path',
    remedy: 'call list_recordings for the ids',
  },
  NOT_A_DATABASE: {
    status: 422,
    legacyCode: -32000,
    about: 'the file is not an SQLite database',
    remedy: 'give the .db, .mcap or .jsonl file of a recording',
  },
  NOT_A_RECORDING: {
    status: 422,
    legacyCode: -32000,
    about: 'the file holds no simulation frames',
    remedy: 'give a file that a recorder wrote',
  },
  RECORDING_BUSY: {
    status: 409,
    retryable: true,
    legacyCode: -32000,
    about: 'the recording is being written and no consistent copy could be taken',
    remedy: 'wait until the simulation has ended, then call again',
  },
  RECORDING_DAMAGED: {
    status: 422,
    legacyCode: -32000,
    about: 'the recording is damaged',
    remedy: 'record again, or recover the file with the sqlite3 shell',
  },
  FRAME_NOT_FOUND: {
    status: 404,
    legacyCode: -32000,
    about: 'the recording has no such frame',
    remedy: 'use a frame id between data.first_frame and data.last_frame',
  },
  BODY_NOT_FOUND: {
    status: 404,
    legacyCode: -32000,
    about: 'the recording has no such body',
    remedy: 'use one of data.bodies; get_metadata lists them',
  },
  NOT_RECORDED: {
    status: 422,
    legacyCode: -32000,
    about: 'the recording does not contain the requested quantity',
    remedy: 'see capabilities and missing in get_metadata',
  },
  INVALID_QUERY: {
    status: 422,
    about: 'the SQL statement is not permitted or not valid',
    remedy: 'send one SELECT over v_frame, v_state, v_contact, v_friction, v_energy, v_solver and v_body',
  },
  TAIL_TOO_LARGE: {
    status: 413,
    about: 'the recording is too large to be copied again each time it grows',
    remedy:
      'record through POST /api/apps/replay/recordings/<name>/frames, or call load_recording once it has ended',
  },
  INVALID_FRAME: {
    status: 400,
    about: 'a line of the sent recording is invalid',
    remedy: 'correct the member named in data.path, and continue after data.last_frame_id',
  },
  FRAME_CONFLICT: {
    status: 409,
    about: 'a frame contradicts the stored frames of the recording',
    remedy: 'send frames with ascending ids, and use one name for each run',
  },
  RECORDING_IN_USE: {
    status: 409,
    retryable: true,
    about: 'another client is writing this recording',
    remedy: 'wait until it has ended, or record under another name',
  },
  RECORDING_FINISHED: {
    status: 409,
    about: 'the recording is finished',
    remedy: 'record under another name',
  },
  RECORDING_EXISTS: {
    status: 409,
    about: 'a recording of this name exists',
    remedy: 'use another name, or delete it first',
  },
  MAPPING_NEEDED: {
    status: 422,
    about: 'the file does not define which columns are the poses of which bodies',
    remedy:
      'call import_recording with a mapping: data.proposed_mapping, with each null replaced as data.notes explain; data.columns lists the columns',
  },
  INVALID_MAPPING: {
    status: 422,
    about: 'the mapping does not fit the file',
    remedy: 'correct the member at data.path; import_recording without a mapping proposes one',
  },
  IMPORT_LIMIT: {
    status: 413,
    about: 'the file exceeds a limit of the import',
    remedy: 'split the file, or convert it with a recorder',
  },
  LAKE_UNAVAILABLE: {
    status: 502,
    retryable: true,
    about: 'the ClickHouse server could not answer a question about the frames of many runs',
    remedy:
      'check CAUSEWAY_CLICKHOUSE_URL and CAUSEWAY_CLICKHOUSE_SOURCE, and that ClickHouse can read the files',
  },
  PACKAGE_NOT_INSTALLED: {
    status: 501,
    about: 'the call needs a package that is not part of the installation',
    remedy: 'run data.command in the folder of the server, then repeat the call',
  },
})
