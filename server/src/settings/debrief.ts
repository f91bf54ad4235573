/** Settings of Debrief and ToolVault. */
export const debriefSettings = {}
