import { type Registrar, withContent } from '@causeway/app-kit'
import { type Bounds, formatCount, padBounds } from '@causeway/plot'
import { z } from 'zod'
import { readViewport } from '../domain/document/plot-state.ts'
import { formatAngle } from '../domain/map/graticule.ts'
import { timeStyles } from '../domain/map/time-labels.ts'
import { DebriefError } from '../errors.ts'
import type { Plot } from '../plot/plot.ts'
import { type DebriefSession, findPlot } from '../session.ts'
import type { Debrief } from '../store.ts'
import {
  createBoundsArgument,
  createLegacyAliases,
  filenameArgument,
  openExample,
  readOnlyHints,
  statusOutput,
} from './arguments.ts'

export function declareMapTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('render_map', {
    title: 'Render map',
    about:
      'Render the plot as a nautical chart: coast, tracks with names, and the selection with black outlines. Returns a PNG image. Use it to see the situation; it draws positions, not speeds over time.',
    searchHint: 'image, picture, screenshot of map',
    hints: readOnlyHints,
    aliases: createLegacyAliases('render_map'),
    input: {
      ...filenameArgument,
      view: z.enum(['all', 'selection', 'viewport']).default('all').describe('Area to show'),
      bounds: createBoundsArgument('West, south, east, north; instead of view'),
      time_style: z
        .enum(timeStyles)
        .default('rn-short')
        .describe('Times along tracks: 151430Z, 151430ZNOV24, 14:30, or ISO 8601'),
      width: z.int().min(300).max(2000).default(900).describe('Pixels'),
    },
    output: { ...statusOutput, bounds: z.array(z.number()) },
    example: { before: openExample, args: {} },
    async run({ filename, view, bounds: requested, width, time_style }, ctx) {
      const plot = await findPlot(ctx, filename)
      const area =
        requested === undefined ? await findBounds(plot, view) : readViewport({ bounds: requested }).bounds
      const { data, status } = await plot.read({ kind: 'map', bounds: area, width, timeStyle: time_style })
      const drawing = { data, title: plot.filename, width }
      const { png, width_px, height_px } = await ctx.store.charts.render(drawing, ctx)
      const { bounds, drawables } = data
      const names = drawables
        .map(({ name, detail }) => [name, detail].filter((text) => text !== null).join(', '))
        .filter((name) => name !== '')
        .slice(0, 12)
      return withContent(
        {
          ...status,
          bounds,
          shown: drawables.length,
          hidden: data.hiddenCount,
          width_px,
          height_px,
          summary: `${formatCount(drawables.length, 'feature')} between ${formatCorner(bounds[1], bounds[0])} and ${formatCorner(bounds[3], bounds[2])}${names.length > 0 ? `: ${names.join(', ')}` : ''}.`,
        },
        [{ type: 'image' as const, data: Buffer.from(png).toString('base64'), mimeType: 'image/png' }],
      )
    },
  })
}

async function findBounds(plot: Plot, view: 'all' | 'selection' | 'viewport'): Promise<Bounds | undefined> {
  if (view === 'all') return undefined
  if (view === 'selection') {
    const { data } = await plot.read({ kind: 'bounds', padding: 0.15 })
    if (data === null) throw new DebriefError('NOTHING_SELECTED', 'no feature with a geometry is selected')
    return data
  }
  const { data } = await plot.read({ kind: 'state' })
  // Extends an area without extent, which cannot be drawn.
  return data.viewport === null ? undefined : padBounds(data.viewport.bounds, 0)
}

const formatCorner = (lat: number, lon: number): string =>
  `${formatAngle(lat, 'NS')} ${formatAngle(lon - Math.floor((lon + 180) / 360) * 360, 'EW')}`
