/** What of a plot can be read and followed by URI. */
export const plotParts = ['features', 'selection', 'time', 'viewport'] as const

/** A part of a plot. */
export type PlotPart = (typeof plotParts)[number]

/** `plot://sample.plot.json/features`; without a name that of the only open plot, `plot://features`. */
export const plotUri = (part: PlotPart, filename?: string): string =>
  filename === undefined ? `plot://${part}` : `plot://${encodeURIComponent(filename)}/${part}`
