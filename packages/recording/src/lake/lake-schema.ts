/** Every run has one Parquet file per table: `v1/<table>/<recording>-<revision>.parquet`. */

export const lakeVersion = 'v1'

/** Columns of every row. Parquet compresses them, and queries do not need joins. */
const runColumns = [
  'recording VARCHAR NOT NULL',
  '"commit" VARCHAR',
  'branch VARCHAR',
  'scenario VARCHAR',
  'frame_id BIGINT NOT NULL',
  'time_s DOUBLE',
] as const

/** Columns with DuckDB types. `NULL` means not recorded; NaN is a recorded NaN. */
export const lakeTables = {
  frame: [...runColumns, 'iterations DOUBLE', 'residual DOUBLE', 'energy_j DOUBLE', 'max_depth_m DOUBLE'],
  state: [
    ...runColumns,
    'body_id INTEGER NOT NULL',
    ...['x', 'y', 'z', 'vx', 'vy', 'vz', 'qw', 'qx', 'qy', 'qz'].map((name) => `${name} DOUBLE`),
  ],
} as const

export type LakeTable = keyof typeof lakeTables
