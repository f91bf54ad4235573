import type { Registrar } from '@causeway/app-kit'
import { formatCount } from '@causeway/plot'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { getTitle, parsePlotName } from '../domain/document/plot-name.ts'
import { type DebriefContext, type DebriefSession, findPlot } from '../session.ts'
import type { Debrief } from '../store.ts'
import {
  createLegacyAliases,
  filenameArgument,
  idempotentHints,
  openExample,
  readOnlyHints,
  statusOutput,
} from './arguments.ts'

const maxListedFiles = 100

export function declarePlotTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('list_plots', {
    title: 'List plots',
    about:
      'List the open plots and the plot files (*.plot.json) that can be opened. Returns their names. Use it first, or when a call requires a filename.',
    searchHint: 'which maps, charts, projects exist',
    hints: readOnlyHints,
    aliases: createLegacyAliases('list_plots'),
    input: {},
    output: { plots: z.array(z.unknown()), files: z.array(z.unknown()), summary: z.string() },
    isCore: true,
    example: { args: {} },
    run: (_args, { store }) => listPlots(store),
  })

  app.tool('open_plot', {
    title: 'Open plot',
    about:
      'Open a plot file of the configured folders for all clients. Returns the number of features, selection, time and viewport. Use it before other tools; to import a GPX, NMEA, AIS, REP or KML file use run_tool.',
    searchHint: 'load map, chart',
    hints: idempotentHints,
    aliases: createLegacyAliases('open_plot'),
    input: {
      filename: z.string().describe('Name without folder, as in mission1.plot.json'),
      set_active: z
        .boolean()
        .default(false)
        .describe('Use the plot for calls of this client without a filename'),
    },
    output: { ...statusOutput, title: z.string() },
    isCore: true,
    alwaysLoad: true,
    example: { args: { filename: 'gibraltar.plot.json' } },
    run: openPlot,
  })

  app.tool('close_plot', {
    title: 'Close plot',
    about:
      'Save a plot and close it for all clients. Returns its name. Use it when the work on the plot is finished.',
    searchHint: 'finished with map',
    hints: idempotentHints,
    aliases: createLegacyAliases('close_plot'),
    input: { filename: z.string().describe('Name of an open plot') },
    output: { filename: z.string(), summary: z.string() },
    example: { before: openExample, args: { filename: 'gibraltar.plot.json' } },
    run: closePlot,
  })

  app.tool('save_plot', {
    title: 'Save plot',
    about:
      'Write a plot to its file now. Returns the saved revision. Use it to resolve a conflict with another program, or with save_as to copy the plot to a new file; other changes are saved automatically within two seconds.',
    searchHint: 'write map to disk',
    hints: { destructive: true, idempotent: true },
    aliases: createLegacyAliases('save_plot'),
    input: {
      ...filenameArgument,
      on_conflict: z
        .enum(['overwrite', 'reload', 'save_as'])
        .optional()
        .describe(
          'overwrite: keep this version; reload: keep the file (undo restores this version); save_as: write this version to new_filename, then reload',
        ),
      new_filename: z.string().optional().describe('For save_as'),
    },
    output: statusOutput,
    example: { before: openExample, args: {} },
    run: savePlot,
  })
}

async function listPlots(store: Debrief) {
  const plots = store.list()
  const { files, folders } = await store.listFiles()
  return {
    plots,
    files: files.slice(0, maxListedFiles),
    file_count: files.length,
    folders,
    summary: `${formatCount(plots.length, 'open plot')}, ${formatCount(files.length, 'other file')}.`,
  }
}

async function closePlot({ filename }: { readonly filename: string }, { store, session }: DebriefContext) {
  await store.close(filename)
  const name = parsePlotName(filename)
  if (session.plot === name) delete session.plot
  return { filename: name, summary: `${filename} is closed.` }
}

async function openPlot(
  { filename, set_active }: { readonly filename: string; readonly set_active: boolean },
  ctx: DebriefContext,
) {
  const plot = await ctx.store.open(filename, ctx)
  // Clients without a session share a single session, which must not have an active plot.
  const isActive = set_active && !ctx.sharedSession
  if (isActive) ctx.session.plot = plot.filename
  const { data, status } = await plot.read({ kind: 'state' })
  const { features, selection, time, viewport, title } = data
  const warnings =
    plot.warnings.length === 0 ? '' : ` The file has ${formatCount(plot.warnings.length, 'warning')}.`
  return {
    ...status,
    title: title ?? getTitle(plot.filename),
    active: isActive,
    features,
    selectedIds: selection,
    timeState: time,
    viewportState: viewport,
    size_bytes: plot.bytes,
    warnings: plot.warnings,
    summary: `${plot.filename} is open: ${formatCount(features, 'feature')}, ${selection.length} selected.${warnings}`,
  }
}

interface SaveArgs {
  readonly filename?: string | null | undefined
  readonly on_conflict?: 'overwrite' | 'reload' | 'save_as' | undefined
  readonly new_filename?: string | undefined
}

async function savePlot({ filename, on_conflict, new_filename }: SaveArgs, ctx: DebriefContext) {
  const plot = await findPlot(ctx, filename)
  if (on_conflict === 'save_as') {
    if (new_filename === undefined)
      throw new CausewayError('INVALID_ARGUMENTS', 'save_as requires new_filename', {
        data: { problems: [{ argument: 'new_filename', problem: 'is missing' }] },
      })
    const name = parsePlotName(new_filename)
    await plot.saveCopy(name)
    const hasConflict = plot.getStatus().file === 'conflict'
    const status = hasConflict ? await plot.reload(ctx) : plot.getStatus()
    await ctx.store.open(name, ctx)
    return { ...status, new_filename: name, summary: `Saved as ${name}, which is now open.` }
  }
  if (on_conflict === 'reload') {
    const status = await plot.reload(ctx)
    return { ...status, summary: `${plot.filename} was reloaded; undo restores the previous version.` }
  }
  const status = await plot.save(on_conflict === 'overwrite')
  return { ...status, summary: `${plot.filename} is saved at revision ${status.rev}.` }
}
