import { list, setting, whole } from './setting.ts'

/** Settings of Replay. */
export const replaySettings = {
  recordingRoots: setting({
    env: 'CAUSEWAY_RECORDING_ROOTS',
    schema: list(),
    defaultText: 'none',
    meaning: 'further folders with simulation recordings, for Replay',
  }),
  snapshotCapBytes: setting({
    env: 'CAUSEWAY_SNAPSHOT_CAP_BYTES',
    schema: whole(4 * 2 ** 30),
    meaning: 'private copies of recordings are thrown away, oldest use first, above this many bytes',
    app: 'Replay',
  }),
  recordingsCapBytes: setting({
    env: 'CAUSEWAY_RECORDINGS_CAP_BYTES',
    schema: whole(16 * 2 ** 30, { min: 2 ** 20 }),
    meaning:
      'recordings made by the server itself are removed, oldest first and never a live one, above this many bytes',
    app: 'Replay',
  }),
  recordingsMaxAgeDays: setting({
    env: 'CAUSEWAY_RECORDINGS_MAX_AGE_DAYS',
    schema: whole(0),
    meaning: 'recordings made by the server itself are removed after this many days; 0 keeps them',
    app: 'Replay',
  }),
}
