import { defineErrors } from '@causeway/protocol'

export const ToolVaultError = defineErrors({
  FEATURES_NEEDED: {
    status: 400,
    about: 'the tool requires features, and none were passed',
    remedy:
      'pass data.argument, or select features in the plot and call run_tool of Debrief, which fills it in',
  },
  FEATURE_UNUSABLE: {
    status: 422,
    about: 'the tool cannot use a feature: wrong kind or insufficient data',
    remedy: 'give other features, or repair what data.problems names',
  },
  NO_TIME_DATA: {
    status: 422,
    about: 'the features have no times, which the tool requires',
    remedy: 'give tracks with properties.timestamps, one for each vertex',
  },
  NO_OVERLAP: {
    status: 422,
    about: 'the times of the tracks do not overlap',
    remedy: 'choose tracks that overlap in time; data.spans has the time span of each',
  },
  GRID_TOO_LARGE: {
    status: 422,
    about: 'the grid would have more points than allowed',
    remedy: 'widen the intervals or choose a smaller viewport',
  },
  NOTHING_IMPORTED: {
    status: 422,
    about: 'the file contains nothing that this importer can read',
    remedy: 'check the format; data.skipped has the reasons for skipped lines',
  },
  DATE_NEEDED: {
    status: 400,
    about: 'the log has times of day but no date',
    remedy: 'pass date, the UTC day on which the log begins, as in 2024-05-17',
  },
  IMPORT_TOO_LARGE: {
    status: 413,
    about: 'the import is larger than allowed',
    remedy: 'split the file, or pass min_interval_s to keep fewer fixes',
  },
  EXPORT_TOO_LARGE: {
    status: 413,
    about: 'the exported text is larger than allowed',
    remedy: 'export fewer features, or simplify the tracks with simplify_track first',
  },
})
