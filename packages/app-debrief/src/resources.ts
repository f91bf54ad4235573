/** Plots as resources: everything that a client may want to read or to follow by URI. */
import type { Registrar, Variables } from '@causeway/app-kit'
import type { Query } from './plot-query.ts'
import { type PlotPart, plotParts, plotUri } from './plot-uri.ts'
import { type DebriefContext, type DebriefSession, openPlotOf } from './session.ts'
import type { Debrief } from './store.ts'

const abouts: Readonly<Record<PlotPart, string>> = {
  features: 'Every feature of the plot, as GeoJSON.',
  selection: 'Ids of the selected features.',
  time: 'The time slider of the plot.',
  viewport: 'The part of the world that is shown.',
}

/** Declares `plots://list`, and `plot://{filename}/<part>` and `plot://<part>` (the only open plot) for each part. */
export function plotResources(app: Registrar<Debrief, DebriefSession>): void {
  app.resource('plots://list', {
    name: 'open plots',
    about: 'The plots that are open, with their titles.',
    read: async (_variables, { store }) => ({ json: store.list() }),
  })
  for (const part of plotParts) {
    const about = abouts[part]
    app.resource(`plot://{filename}/${part}`, {
      name: `plot ${part}`,
      about,
      list: async ({ store }) =>
        store.list().map(({ filename, title }) => ({
          uri: plotUri(part, filename),
          name: `${title} ${part}`,
        })),
      complete: { filename: async (_chosen, { store }) => store.list().map(({ filename }) => filename) },
      read: ({ filename = '' }: Variables, ctx) => read(part, filename, ctx),
    })
    app.resource(plotUri(part), {
      name: `${part} of the only open plot`,
      about: `${about} For when one plot is open.`,
      read: (_variables, ctx) => read(part, undefined, ctx),
    })
  }
}

async function read(part: PlotPart, filename: string | undefined, ctx: DebriefContext) {
  const plot = await openPlotOf(ctx, filename)
  if (part === 'features') return { text: (await plot.read({ kind: 'collection' } satisfies Query)).data }
  const { data } = await plot.read({ kind: 'state' })
  if (part === 'selection') return { json: { selectedIds: data.selection } }
  return { json: part === 'time' ? data.time : data.viewport }
}
