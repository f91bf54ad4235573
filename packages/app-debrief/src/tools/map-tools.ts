/** A look at the plot, for a model that can see. */
import { type Registrar, withContent } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { type Bounds, padded } from '../domain/bounds.ts'
import { angle } from '../domain/map/graticule.ts'
import { readViewport } from '../domain/plot-state.ts'
import type { Plot } from '../plot.ts'
import { type DebriefSession, openPlotOf } from '../session.ts'
import type { Debrief } from '../store.ts'
import { count } from './changing.ts'
import { filenameArgument, opened, original, reads, stampOutput } from './shape.ts'

/** Declares render_map. */
export function mapTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('render_map', {
    about: 'A chart of the plot as a picture: coast, tracks with names, what is selected (black outline).',
    hints: reads,
    aliases: original('render_map'),
    input: {
      ...filenameArgument,
      view: z.enum(['all', 'selection', 'viewport']).default('all').describe('what to show'),
      bounds: z.array(z.number()).length(4).optional().describe('west, south, east, north; instead of view'),
      width: z.int().min(300).max(2000).default(900).describe('pixels'),
    },
    output: { ...stampOutput, bounds: z.array(z.number()) },
    example: { before: opened, args: {} },
    async run({ filename, view, bounds: asked, width }, ctx) {
      const plot = await openPlotOf(ctx, filename)
      const wanted =
        asked === undefined ? await boundsOfView(plot, view) : readViewport({ bounds: asked }).bounds
      const { data, stamp } = await plot.read({ kind: 'map', bounds: wanted, width })
      const { png, width_px, height_px } = await ctx.store.map.draw(
        { data, title: plot.filename, width },
        ctx,
      )
      const { bounds, drawables } = data
      const names = drawables.flatMap(({ name }) => name ?? []).slice(0, 12)
      return withContent(
        {
          ...stamp,
          bounds,
          shown: drawables.length,
          hidden: data.hidden,
          width_px,
          height_px,
          summary: `${count(drawables.length)} between ${corner(bounds[1], bounds[0])} and ${corner(bounds[3], bounds[2])}${names.length > 0 ? `: ${names.join(', ')}` : ''}.`,
        },
        [{ type: 'image' as const, data: Buffer.from(png).toString('base64'), mimeType: 'image/png' }],
      )
    },
  })
}

async function boundsOfView(plot: Plot, view: 'all' | 'selection' | 'viewport'): Promise<Bounds | undefined> {
  if (view === 'all') return undefined
  if (view === 'selection') {
    const { data } = await plot.read({ kind: 'bounds', padding: 0.15 })
    if (data === null) throw new CausewayError('NOTHING_SELECTED', 'nothing with a place is selected')
    return data
  }
  const { data } = await plot.read({ kind: 'state' })
  // A picture of no width or height could not be drawn.
  return data.viewport === null ? undefined : padded(data.viewport.bounds, 0)
}

const corner = (lat: number, lon: number): string =>
  `${angle(lat, 'NS')} ${angle(lon - Math.floor((lon + 180) / 360) * 360, 'EW')}`
