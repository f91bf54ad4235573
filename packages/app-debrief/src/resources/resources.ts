import type { Registrar, Variables } from '@causeway/app-kit'
import { type DebriefContext, type DebriefSession, findPlot } from '../session.ts'
import type { Debrief } from '../store.ts'
import { getPlotUri, type PlotPart, plotParts } from './plot-uri.ts'

const descriptions: Readonly<Record<PlotPart, string>> = {
  features: 'All features of the plot as GeoJSON.',
  selection: 'Ids of the selected features.',
  time: 'The time slider of the plot.',
  viewport: 'The visible area of the plot.',
}

export function declareResources(app: Registrar<Debrief, DebriefSession>): void {
  app.resource('plots://list', {
    name: 'open plots',
    about: 'The open plots with their titles.',
    read: async (_variables, { store }) => ({ json: store.list() }),
  })
  for (const part of plotParts) {
    const about = descriptions[part]
    app.resource(`plot://{filename}/${part}`, {
      name: `plot ${part}`,
      about,
      list: async ({ store }) =>
        store.list().map(({ filename, title }) => ({
          uri: getPlotUri(part, filename),
          name: `${title} ${part}`,
        })),
      complete: { filename: async (_chosen, { store }) => store.list().map(({ filename }) => filename) },
      read: ({ filename = '' }: Variables, ctx) => readPart(part, filename, ctx),
    })
    app.resource(getPlotUri(part), {
      name: `${part} of the only open plot`,
      about: `${about} Requires that one plot is open.`,
      read: (_variables, ctx) => readPart(part, undefined, ctx),
    })
  }
}

async function readPart(part: PlotPart, filename: string | undefined, ctx: DebriefContext) {
  const plot = await findPlot(ctx, filename)
  if (part === 'features') return { text: (await plot.read({ kind: 'collection' })).data }
  const { data } = await plot.read({ kind: 'state' })
  if (part === 'selection') return { json: { selectedIds: data.selection } }
  return { json: part === 'time' ? data.time : data.viewport }
}
