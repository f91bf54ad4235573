import { list, setting } from './setting.ts'

/** Settings of Debrief and ToolVault. */
export const debriefSettings = {
  plotRoots: setting({
    env: 'CAUSEWAY_PLOT_ROOTS',
    schema: list(),
    defaultText: 'none',
    meaning: 'further folders with plots and logs of tracks, for Debrief and ToolVault',
  }),
}
