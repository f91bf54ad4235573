import { type ErrorRow, retry, row } from './row.ts'

/** Maritime plots. */
export const debriefRows = {
  MULTIPLE_PLOTS: row(
    -32000,
    409,
    'several plots are open and the call names none',
    'name one of data.available_plots as filename',
    { legacy: -32001 },
  ),
  NO_PLOT_OPEN: row(-32000, 409, 'no plot is open', 'call list_plots for the files, then open_plot', {
    legacy: -32002,
  }),
  PLOT_NOT_FOUND: row(
    -32000,
    404,
    'no open plot has this name',
    'call list_plots for the names, and open_plot for a file that is not open',
    { legacy: -32002 },
  ),
  INVALID_FILENAME: row(
    -32000,
    400,
    'the name could not be that of a plot file in a configured folder',
    'give the bare name of a file, as in mission1.plot.json',
  ),
  INVALID_PLOT: row(
    -32000,
    422,
    'the file is no plot that can be read',
    'correct the file at data.position or data.index, or restore it',
  ),
  PLOT_TOO_LARGE: row(-32000, 413, 'the plot file is larger than can be read', 'divide the plot'),
  FEATURE_NOT_FOUND: row(
    -32000,
    404,
    'the plot has no feature with this id',
    'call get_features for the ids, or pass ignore_missing',
    { legacy: -32003 },
  ),
  DUPLICATE_ID: row(
    -32000,
    409,
    'the plot already has a feature with this id',
    'use another id, or update_features for the feature that is there',
  ),
  INVALID_FEATURES: row(
    -32000,
    400,
    'features do not fit the format of plots',
    'correct what data.features names; nothing was changed',
  ),
  INVALID_COMMAND: row(
    -32000,
    400,
    'the command is not known or its payload does not fit',
    'correct it and call again; nothing was changed',
  ),
  REV_MISMATCH: row(
    -32000,
    409,
    'the plot has changed since the revision that the call names',
    'read the plot again and repeat the change with if_rev = data.current_rev',
  ),
  PLOT_CONFLICT: row(
    -32000,
    409,
    'the file was changed by another program and here as well',
    'call save_plot with on_conflict: overwrite, reload or save_as',
  ),
  PLOT_READONLY: row(
    -32000,
    403,
    'the plot file or its folder cannot be written',
    'make the folder writable, or call save_plot with on_conflict: save_as; the changes are kept meanwhile',
  ),
  SAVE_FAILED: row(
    -32000,
    507,
    'the plot file could not be written',
    'make room on the disk, then call save_plot; the changes are kept meanwhile',
    retry,
  ),
  PLOT_EXISTS: row(-32000, 409, 'a file of this name exists', 'use another name'),
  NOTHING_SELECTED: row(
    -32000,
    409,
    'the call works on the selection and nothing is selected',
    'call set_selection with ids of get_features',
  ),
  NO_PLACE: row(
    -32000,
    422,
    'nothing that was asked for has a place on the map',
    'name features that have a geometry',
  ),
  TOOL_NOT_APPLICABLE: row(
    -32000,
    422,
    'a parameter of the tool can be taken neither from the plot nor from the call',
    'give the parameter named in data.missing, or select features it can work on',
  ),
} satisfies Record<string, ErrorRow>
