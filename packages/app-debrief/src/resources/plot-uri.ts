export const plotParts = ['features', 'selection', 'time', 'viewport'] as const

export type PlotPart = (typeof plotParts)[number]

/** Returns a URI such as `plot://sample.plot.json/features`, or `plot://features` for the only open plot. */
export const getPlotUri = (part: PlotPart, filename?: string): string =>
  filename === undefined ? `plot://${part}` : `plot://${encodeURIComponent(filename)}/${part}`
