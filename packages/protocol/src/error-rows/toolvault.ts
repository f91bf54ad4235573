import { type ErrorRow, row } from './row.ts'

/** Analysis tools of plots. */
export const toolvaultRows = {
  FEATURES_NEEDED: row(
    -32000,
    400,
    'the tool works on features, and none were given',
    'pass data.argument, or select features in the plot and call run_tool of Debrief, which fills it in',
  ),
  FEATURE_UNUSABLE: row(
    -32000,
    422,
    'a feature is not of the kind, or not of the quality, that the tool works on',
    'give other features, or repair what data.problems names',
  ),
  NO_TIME_DATA: row(
    -32000,
    422,
    'the features have no times where the tool needs them',
    'give tracks with properties.timestamps, one for each vertex',
  ),
  NO_OVERLAP: row(
    -32000,
    422,
    'the times of the tracks have nothing in common',
    'choose tracks of the same time; data.spans has the time of each',
  ),
  GRID_TOO_LARGE: row(
    -32000,
    422,
    'the grid would have more points than allowed',
    'widen the intervals or choose a smaller viewport',
  ),
  NOTHING_IMPORTED: row(
    -32000,
    422,
    'the file holds nothing that this importer understands',
    'check the format; data.skipped says why lines were left out',
  ),
  DATE_NEEDED: row(
    -32000,
    400,
    'the log has times of day but no date',
    'pass date, the UTC day on which the log begins, as in 2024-05-17',
  ),
  IMPORT_TOO_LARGE: row(
    -32000,
    413,
    'the import is larger than allowed',
    'split the file, or pass min_interval_s to keep fewer fixes',
  ),
} satisfies Record<string, ErrorRow>
