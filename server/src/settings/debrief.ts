import { list, setting, whole } from './setting.ts'

/** Settings of Debrief and ToolVault. */
export const debriefSettings = {
  plotRoots: setting({
    env: 'CAUSEWAY_PLOT_ROOTS',
    schema: list(),
    defaultText: 'none',
    meaning: 'further folders with plots and logs of tracks, for Debrief and ToolVault',
  }),
  plotSaveMs: setting({
    env: 'CAUSEWAY_PLOT_SAVE_MS',
    schema: whole(250, { max: 3_600_000 }),
    meaning:
      'a changed plot is written to its file after this many milliseconds without another change, and 2 s after the first change at the latest, or this long where it is longer',
    app: 'Debrief',
  }),
  plotCheckMs: setting({
    env: 'CAUSEWAY_PLOT_CHECK_MS',
    schema: whole(500, { min: 50 }),
    meaning: 'open plots are looked at for changes by other programs after this many milliseconds',
    app: 'Debrief',
  }),
}
