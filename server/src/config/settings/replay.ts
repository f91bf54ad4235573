import { z } from 'zod'
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
    lakeFolder: setting({
      env: 'CAUSEWAY_LAKE_DIR',
      schema: z.string().optional(),
      defaultText: '`lake` in the data folder',
      meaning:
        'folder of the Parquet files that questions about the frames of all runs read; several servers may share it',
    }),
    clickHouseUrl: setting({
      env: 'CAUSEWAY_CLICKHOUSE_URL',
      isSecret: true,
      schema: z.url({ protocol: /^https?$/ }).optional(),
      defaultText: 'none: DuckDB',
      meaning:
        'HTTP interface of a ClickHouse server that answers these questions: `http://user:password@host:8123`',
    }),
    clickHouseSource: setting({
      env: 'CAUSEWAY_CLICKHOUSE_SOURCE',
      schema: z.string().default("file('causeway/v1/{table}/*.parquet', 'Parquet')"),
      meaning: 'table function by which ClickHouse reads the Parquet files; `{table}` is `frame` or `state`',
    }),
  }),
}
