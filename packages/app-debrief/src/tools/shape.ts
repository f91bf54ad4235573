/** Arguments and members of answers that several tools share; a model pays for every byte of a listing. */
import type { Aliases } from '@causeway/app-kit'
import { z } from 'zod'

/** Every tool about a plot takes it. */
export const filenameArgument = {
  filename: z.string().nullish().describe('open plot; needed where several are open'),
}

/** Every tool that changes a plot takes it too. */
export const changeArguments = {
  ...filenameArgument,
  if_rev: z.int().optional().describe('refuse unless the plot is at this rev'),
}

export const idsArgument = (about: string) => z.array(z.union([z.string(), z.number()])).describe(about)

export const featuresArgument = () =>
  z.array(z.record(z.string(), z.unknown())).describe('GeoJSON features, lon/lat degrees')

export const timeArgument = () =>
  z
    .record(z.string(), z.unknown())
    .describe('{current, start, end}, ISO 8601, start <= current <= end; UTC without offset')

export const viewportArgument = () =>
  z.record(z.string(), z.unknown()).describe('{bounds: [west, south, east, north]}, degrees')

/** What every answer promises; those about a plot also have `dirty` and, where something is wrong with it, `file`. */
export const stampOutput = { filename: z.string(), rev: z.int(), summary: z.string() }

/** The name of the original design, on the app's own mount and, callable, on the shared one. */
export const original = (name: string): Aliases => ({ bare: [`debrief_${name}`], full: [`debrief_${name}`] })

/** Only reads. */
export const reads = { readOnly: true }

/** Changes what can be undone. */
export const changes = { destructive: false }

/** Sets a state: twice is the same as once. */
export const sets = { destructive: false, idempotent: true }

/** The example plot, open. */
export const opened = [{ tool: 'open_plot', args: { filename: 'gibraltar.plot.json', set_active: true } }]
