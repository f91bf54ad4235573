/** Which plots there are; opening, saving and closing them. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { plotName } from '../domain/plot-name.ts'
import { type DebriefContext, type DebriefSession, openPlotOf } from '../session.ts'
import type { Debrief } from '../store.ts'
import { count } from './changing.ts'
import { filenameArgument, opened, original, reads, sets, stampOutput } from './shape.ts'

/** Closed files that one answer lists. */
const mostFiles = 100

/** Declares list_plots, open_plot, close_plot and save_plot. */
export function plotTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('list_plots', {
    about: 'Plots that are open, and plot files (*.plot.json) that open_plot could open.',
    hints: reads,
    aliases: original('list_plots'),
    input: {},
    output: { plots: z.array(z.unknown()), files: z.array(z.unknown()), summary: z.string() },
    example: { args: {} },
    async run(_args, { store }) {
      const plots = store.list()
      const { files, folders } = await store.files()
      return {
        plots,
        files: files.slice(0, mostFiles),
        file_count: files.length,
        folders,
        summary: `${count(plots.length, 'plot')} open, ${count(files.length, 'file')} could be opened.`,
      }
    },
  })

  app.tool('open_plot', {
    about:
      'Open a plot file of the configured folders, for every client. A large one reports progress and can be cancelled.',
    hints: sets,
    aliases: original('open_plot'),
    input: {
      filename: z.string().describe('bare name, as in mission1.plot.json'),
      set_active: z.boolean().default(false).describe('calls of this client that name no plot mean this one'),
    },
    output: { ...stampOutput, title: z.string() },
    example: { args: { filename: 'gibraltar.plot.json' } },
    async run({ filename, set_active }, ctx) {
      const plot = await ctx.store.open(filename, ctx)
      // Callers without a session share one: what one of them chose must not redirect another.
      const isActive = set_active && !ctx.sharedSession
      if (isActive) ctx.session.plot = plot.filename
      const { data, stamp } = await plot.read({ kind: 'state' })
      const { features, selection, time, viewport, title } = data
      const odd = plot.warnings.length === 0 ? '' : ` ${plot.warnings.length} warnings about the file.`
      return {
        ...stamp,
        title: title ?? titleFrom(plot.filename),
        active: isActive,
        features,
        selectedIds: selection,
        timeState: time,
        viewportState: viewport,
        size_bytes: plot.bytes,
        warnings: plot.warnings,
        summary: `${plot.filename} is open: ${count(features)}, ${selection.length} selected.${odd}`,
      }
    },
  })

  app.tool('close_plot', {
    about: 'Save a plot and close it, for every client.',
    hints: sets,
    aliases: original('close_plot'),
    input: { filename: z.string().describe('open plot') },
    output: { filename: z.string(), summary: z.string() },
    example: { before: opened, args: { filename: 'gibraltar.plot.json' } },
    async run({ filename }, { store, session }) {
      await store.close(filename)
      if (session.plot === plotName(filename)) delete session.plot
      return { filename: plotName(filename), summary: `${filename} is closed.` }
    },
  })

  app.tool('save_plot', {
    about:
      'Write a plot to its file now (changes are saved by themselves within two seconds), or settle a conflict with another program.',
    hints: { destructive: true, idempotent: true },
    aliases: original('save_plot'),
    input: {
      ...filenameArgument,
      on_conflict: z
        .enum(['overwrite', 'reload', 'save_as'])
        .optional()
        .describe('ours wins; theirs wins (undo brings ours back); ours under new_filename, then theirs'),
      new_filename: z.string().optional().describe('for save_as'),
    },
    output: stampOutput,
    example: { before: opened, args: {} },
    run: savePlot,
  })
}

interface SaveArgs {
  readonly filename?: string | null | undefined
  readonly on_conflict?: 'overwrite' | 'reload' | 'save_as' | undefined
  readonly new_filename?: string | undefined
}

async function savePlot({ filename, on_conflict, new_filename }: SaveArgs, ctx: DebriefContext) {
  const plot = await openPlotOf(ctx, filename)
  if (on_conflict === 'save_as') {
    if (new_filename === undefined)
      throw new CausewayError('INVALID_ARGUMENTS', 'save_as needs new_filename', {
        data: { problems: [{ argument: 'new_filename', problem: 'is missing' }] },
      })
    const name = plotName(new_filename)
    await plot.saveCopy(name)
    const isForeign = plot.stamp().file === 'conflict'
    const stamp = isForeign ? await plot.reload(ctx) : plot.stamp()
    await ctx.store.open(name, ctx)
    return { ...stamp, new_filename: name, summary: `Saved as ${name}, which is open too.` }
  }
  if (on_conflict === 'reload') {
    const stamp = await plot.reload(ctx)
    return { ...stamp, summary: `${plot.filename} is as its file; undo brings the other version back.` }
  }
  const stamp = await plot.save(on_conflict === 'overwrite')
  return { ...stamp, summary: `${plot.filename} is saved at revision ${stamp.rev}.` }
}

const titleFrom = (filename: string): string => filename.replace(/\.plot\.json$/, '')
