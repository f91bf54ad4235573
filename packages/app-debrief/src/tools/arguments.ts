import type { Aliases } from '@causeway/app-kit'
import { z } from 'zod'

export const filenameArgument = {
  filename: z.string().nullish().describe('Open plot. Required if several are open and none is active'),
}

export const changeArguments = {
  ...filenameArgument,
  if_rev: z.int().optional().describe('Fail unless the plot is at this revision'),
}

export const createIdsArgument = (about: string) => z.array(z.union([z.string(), z.number()])).describe(about)

export const createFeaturesArgument = () =>
  z.array(z.record(z.string(), z.unknown())).describe('GeoJSON features, longitude and latitude in degrees')

export const createBoundsArgument = (about: string) =>
  z.array(z.number()).length(4).optional().describe(about)

export const statusOutput = { filename: z.string(), rev: z.int(), summary: z.string() }

/** Returns the name on the original plot server. The app's own mount lists it, the shared mount accepts it. */
export const createLegacyAliases = (name: string): Aliases => ({
  bare: [`debrief_${name}`],
  full: [`debrief_${name}`],
})

export const readOnlyHints = { readOnly: true }

export const undoableHints = { destructive: false }

export const idempotentHints = { destructive: false, idempotent: true }

export const openExample = [
  { tool: 'open_plot', args: { filename: 'gibraltar.plot.json', set_active: true } },
]

export const viewportExample = {
  tool: 'set_viewport',
  args: { viewportState: { bounds: [-6, 35, -4, 37] } },
}
