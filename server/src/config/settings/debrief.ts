import { appSettings, list, setting, whole } from './setting.ts'

export const debriefSettings = {
  plotRoots: setting({
    env: 'CAUSEWAY_PLOT_ROOTS',
    schema: list(),
    meaning: 'additional folders with plots and track logs, for Debrief and ToolVault',
  }),
  ...appSettings('Debrief', {
    plotSaveMs: setting({
      env: 'CAUSEWAY_PLOT_SAVE_MS',
      schema: whole(250, { max: 3_600_000 }),
      meaning:
        'a changed plot is saved after this many milliseconds without another change, but no later than 2 s (or this time, if longer) after the first change',
    }),
    plotCheckMs: setting({
      env: 'CAUSEWAY_PLOT_CHECK_MS',
      schema: whole(500, { min: 50 }),
      meaning: 'interval in milliseconds of checks for changes to open plots by other programs',
    }),
  }),
}
