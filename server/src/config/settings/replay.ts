import { appSettings, list, setting, whole } from './setting.ts'

export const replaySettings = {
  recordingRoots: setting({
    env: 'CAUSEWAY_RECORDING_ROOTS',
    schema: list(),
    meaning: 'additional folders with simulation recordings, for Replay',
  }),
  ...appSettings('Replay', {
    snapshotCapBytes: setting({
      env: 'CAUSEWAY_SNAPSHOT_CAP_BYTES',
      schema: whole(4 * 2 ** 30),
      meaning: 'maximum bytes of private copies of recordings; the least recently used are deleted',
    }),
    recordingsCapBytes: setting({
      env: 'CAUSEWAY_RECORDINGS_CAP_BYTES',
      schema: whole(16 * 2 ** 30, { min: 2 ** 20 }),
      meaning: 'maximum bytes of recordings made by the server; the oldest are deleted, but never a live one',
    }),
    recordingsMaxAgeDays: setting({
      env: 'CAUSEWAY_RECORDINGS_MAX_AGE_DAYS',
      schema: whole(0),
      meaning: 'recordings made by the server are deleted after this many days; 0 disables deletion',
    }),
  }),
}
