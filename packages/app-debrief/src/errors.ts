import { defineErrors } from '@causeway/protocol'

export const DebriefError = defineErrors({
  MULTIPLE_PLOTS: {
    status: 409,
    legacyCode: -32001,
    about: 'several plots are open and the call names none',
    remedy: 'name one of data.available_plots as filename',
  },
  NO_PLOT_OPEN: {
    status: 409,
    legacyCode: -32002,
    about: 'no plot is open',
    remedy: 'call list_plots for the files, then open_plot',
  },
  PLOT_NOT_FOUND: {
    status: 404,
    legacyCode: -32002,
    about: 'no open plot has this name',
    remedy: 'call list_plots for the names, and open_plot for a file that is not open',
  },
  INVALID_FILENAME: {
    status: 400,
    about: 'the name cannot be a plot file in a configured folder',
    remedy: 'pass the name of a file without folder, as in mission1.plot.json',
  },
  INVALID_PLOT: {
    status: 422,
    about: 'the file is not a valid plot',
    remedy: 'correct the file at data.position or data.index, or restore it',
  },
  PLOT_UNREADABLE: {
    status: 503,
    retryable: true,
    about: 'the plot file or its folder cannot be read',
    remedy: 'check the permissions and the disk, then call again',
  },
  PLOT_TOO_LARGE: {
    status: 413,
    about: 'the plot file is larger than can be read',
    remedy: 'divide the plot',
  },
  FEATURE_NOT_FOUND: {
    status: 404,
    legacyCode: -32003,
    about: 'the plot has no feature with this id',
    remedy: 'call get_features for the ids, or pass ignore_missing',
  },
  DUPLICATE_ID: {
    status: 409,
    about: 'the plot already has a feature with this id',
    remedy: 'use another id, or change the existing feature with update_features',
  },
  INVALID_FEATURES: {
    status: 400,
    about: 'features do not have the format of plots',
    remedy: 'correct what data.features names; nothing was changed',
  },
  INVALID_COMMAND: {
    status: 400,
    about: 'the command is unknown or its payload is invalid',
    remedy: 'correct it and call again; nothing was changed',
  },
  REV_MISMATCH: {
    status: 409,
    about: 'the plot has changed since the revision that the call names',
    remedy: 'read the plot again and repeat the change with if_rev = data.current_rev',
  },
  PLOT_CONFLICT: {
    status: 409,
    about: 'the file was changed both by another program and in this server',
    remedy: 'call save_plot with on_conflict: overwrite, reload or save_as',
  },
  PLOT_READONLY: {
    status: 403,
    about: 'the plot file or its folder cannot be written',
    remedy:
      'make the folder writable, or call save_plot with on_conflict: save_as; unsaved changes are preserved',
  },
  SAVE_FAILED: {
    status: 507,
    retryable: true,
    about: 'the plot file could not be written',
    remedy: 'free disk space, then call save_plot; unsaved changes are preserved',
  },
  PLOT_EXISTS: {
    status: 409,
    about: 'a file of this name exists',
    remedy: 'use another name',
  },
  NOTHING_SELECTED: {
    status: 409,
    about: 'the call uses the selection, and nothing is selected',
    remedy: 'call set_selection with ids of get_features',
  },
  NO_PLACE: {
    status: 422,
    about: 'none of the requested features has a geometry',
    remedy: 'name features that have a geometry',
  },
  TOOL_NOT_APPLICABLE: {
    status: 422,
    about: 'a parameter of the tool is missing in the call and cannot be read from the plot',
    remedy: 'pass the parameter named in data.missing, or select suitable features',
  },
})
