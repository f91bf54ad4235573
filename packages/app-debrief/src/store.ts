/** The plots that are open, shared by every client. */
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Env, numberSetting } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { type CallOptions, sharedTasks } from '@causeway/worker'
import { plotName, titleOf } from './domain/plot-name.ts'
import { type Holding, heldEvents, heldPlots } from './given-back.ts'
import { openJournal } from './journal.ts'
import { type MapMaker, openMapMaker } from './map-maker.ts'
import { openPlot } from './open-plot.ts'
import type { Plot } from './plot.ts'
import { findPlotFile, type PlotFile, type PlotTitle, plotFiles } from './plot-folder.ts'
import { plotParts, plotUri } from './plot-uri.ts'
import type { PlotEnv } from './standing.ts'
import type { ToolCache } from './vault-tool.ts'

/** The shelf. */
export interface Debrief {
  /** Open plots, by name. */
  list(): readonly PlotTitle[]
  /** Plot files of the configured folders, by name. */
  files(): Promise<{ readonly files: readonly PlotFile[]; readonly folders: readonly string[] }>
  /**
   * Opens a file; one that is open is given as it is, and one that somebody else is opening is waited for. Throws
   * `INVALID_FILENAME`, `PLOT_NOT_FOUND`, `INVALID_PLOT`, and `CANCELLED`: reading stops when nobody waits for it.
   */
  open(filename: string, watch?: CallOptions): Promise<Plot>
  /** Saves and closes; throws `PLOT_NOT_FOUND`. */
  close(filename: string): Promise<void>
  /**
   * The open plot that a call means: the one it names, else the one that this client made its own, else the only one.
   * Throws `NO_PLOT_OPEN`, `PLOT_NOT_FOUND`, `MULTIPLE_PLOTS`.
   */
  find(filename: string | undefined, own: string | undefined, watch?: CallOptions): Promise<Plot>
  /** Calls a tool of another app. */
  readonly call: Env['call']
  readonly toolCache: ToolCache
  readonly map: MapMaker
  /** What open plots hold: those of this thread, those of workers, and the events of all. */
  readonly memory: Readonly<Record<'plots' | 'workers' | 'events', Holding>>
  /** Counts for `/health`. */
  health(): { readonly open_plots: number; readonly in_workers: number; readonly unsaved: number }
  /** Saves and closes everything. */
  end(): Promise<void>
}

/** A plot on the shelf: its file, and the plot once somebody has asked for it. */
interface Entry {
  readonly path: string
  /** it was open when the server stopped, and stays on the shelf where it cannot be read */
  readonly isKept: boolean
  plot?: Plot
}

/** A worker whose plot nobody asked for in this time is ended, ms. */
const idleMs = 600_000

/** When plots are written and looked at where no setting says it, ms. */
export const plotTimes = { saveAfterMs: 250, checkEveryMs: 500 } as const

/** Plots that an error names. */
const mostNamed = 50

/** Opens the shelf, with the plots that were open when the server stopped; each is read when it is first asked for. */
export async function openDebrief(env: Env): Promise<Debrief> {
  const { dir, settings, log, now, newId, changed, roots } = env
  const journal = openJournal(dir, env)
  const plotEnv: PlotEnv = {
    dir,
    log,
    now,
    newId,
    changed,
    journal,
    saveAfterMs: numberSetting(settings, 'plotSaveMs') ?? plotTimes.saveAfterMs,
    checkEveryMs: numberSetting(settings, 'plotCheckMs') ?? plotTimes.checkEveryMs,
  }
  const map = openMapMaker(log)
  /** name -> plot, read or not yet */
  const open = new Map<string, Entry>()
  for (const { filename, path } of await journal.openPlots()) open.set(filename, { path, isKept: true })
  /** plots that are being closed; nobody may read their files before they are saved */
  const closing = new Map<string, Promise<void>>()
  const ending = new AbortController()
  const reads = sharedTasks<Plot>()
  const ready = (): readonly Plot[] => [...open.values()].flatMap(({ plot }) => plot ?? [])
  const watching = watch(plotEnv, ready, ending.signal)

  const list = (): PlotTitle[] =>
    [...open.keys()].sort().map((filename) => ({ filename, title: titleOf(filename) }))

  const readEntry = async (entry: Entry, watch: CallOptions): Promise<Plot> => {
    // One that was open when the server stopped may lie in a folder that is no root any more.
    await roots.resolve(dirname(entry.path))
    const plot = await openPlot(plotEnv, entry.path, watch)
    if (watch.signal?.aborted) {
      // Somebody may be reading it anew by now, and two would write the same file.
      await plot.close()
      throw watch.signal.reason
    }
    entry.plot = plot
    return plot
  }
  /** The plot of a name, undefined for one that is not on the shelf; after a failure the next call tries again. */
  const read = (filename: string, watch: CallOptions = {}): Promise<Plot> | undefined => {
    const entry = open.get(filename)
    if (entry?.plot !== undefined) return Promise.resolve(entry.plot)
    return entry && reads.run(filename, (options) => readEntry(entry, options), watch)
  }

  const pathOf = async (name: string): Promise<string> => {
    const path = await findPlotFile(roots, name)
    if (path !== undefined) return path
    throw new CausewayError('PLOT_NOT_FOUND', `there is no plot file of this name: ${name}`, {
      remedy: 'call list_plots for the files, or add the folder to CAUSEWAY_PLOT_ROOTS',
      data: { filename: name, searched: roots.folders(), available_plots: list().slice(0, mostNamed) },
    })
  }

  const closed = async (filename: string): Promise<void> => {
    // Changes of before the server stopped may wait to be written.
    await read(filename)?.catch((error: unknown) => log.warn({ err: error }, 'closing an unread plot'))
    const entry = open.get(filename)
    if (entry === undefined) throw notOpen(filename, list())
    open.delete(filename)
    const ended = (async () => {
      await entry.plot?.close()
      await journal.setOpen(entry.path, false)
    })()
    closing.set(filename, ended)
    await ended.finally(() => closing.delete(filename))
    tellList()
  }

  /** The list of open plots is another one, and what is meant by "the only one". */
  const tellList = (): void => {
    changed.resources()
    changed.resource('plots://list')
    for (const part of plotParts) changed.resource(plotUri(part))
  }

  return {
    list,
    async files() {
      const files = await plotFiles(roots)
      return { files: files.filter(({ filename }) => !open.has(filename)), folders: roots.folders() }
    },
    async open(filename, watch) {
      const name = plotName(filename)
      const known = read(name, watch)
      if (known !== undefined) return known
      await closing.get(name)?.catch(() => {})
      const path = await pathOf(name)
      // Another client may have been faster meanwhile.
      const entry = open.get(name) ?? { path, isKept: false }
      open.set(name, entry)
      try {
        const plot = await read(name, watch)
        if (plot === undefined) throw notOpen(name, list())
        tellList()
        return plot
      } catch (error) {
        // One that was read before its caller gave up stays: nobody else would save and close it.
        const isUnread = entry.plot === undefined && !reads.has(name)
        if (!entry.isKept && isUnread && open.get(name) === entry) open.delete(name)
        throw error
      }
    },
    close: (filename) => closed(plotName(filename)),
    async find(filename, own, watch) {
      if (filename !== undefined) {
        const name = plotName(filename)
        const plot = read(name, watch)
        if (plot === undefined) throw notOpen(name, list())
        return plot
      }
      const mine = own === undefined ? undefined : read(own, watch)
      if (mine !== undefined) return mine
      const [only, ...others] = list()
      if (only === undefined) throw new CausewayError('NO_PLOT_OPEN', 'no plot is open')
      if (others.length > 0)
        throw new CausewayError('MULTIPLE_PLOTS', 'multiple plots open, please specify filename', {
          data: { available_plots: list().slice(0, mostNamed), total: open.size },
        })
      return read(only.filename, watch) as Promise<Plot> // it is in the list
    },
    call: env.call,
    toolCache: { tools: [], atMs: Number.NEGATIVE_INFINITY },
    map,
    memory: {
      plots: heldPlots(() => ready().filter(({ isInWorker }) => !isInWorker)),
      workers: heldPlots(() => ready().filter(({ isInWorker }) => isInWorker)),
      events: heldEvents(ready),
    },
    health: () => ({
      open_plots: open.size,
      in_workers: ready().filter(({ isInWorker }) => isInWorker).length,
      unsaved: ready().filter((plot) => plot.stamp().dirty).length,
    }),
    async end() {
      ending.abort()
      await watching
      await reads.stop()
      await Promise.all(ready().map((plot) => plot.close()))
      await map.close()
      journal.close()
    },
  }
}

const notOpen = (filename: string, open: readonly PlotTitle[]): CausewayError =>
  new CausewayError('PLOT_NOT_FOUND', `plot file not found or not open: ${filename}`, {
    remedy: `call open_plot with this filename, or name one of data.available_plots`,
    data: { filename, available_plots: open.slice(0, mostNamed) },
  })

/** Looks at open files for as long as the app is open. Files are asked, not watched: that works on every file system. */
async function watch(
  { checkEveryMs, log }: PlotEnv,
  plots: () => readonly Plot[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(checkEveryMs, undefined, { signal, ref: false }).catch(() => {})
    for (const plot of signal.aborted ? [] : plots()) {
      try {
        await plot.check()
        if (plot.isInWorker && plot.idleMs() > idleMs) await plot.release()
      } catch (error) {
        log.warn(
          { err: error, code: isCausewayError(error) ? error.code : undefined },
          'a plot file was not checked',
        )
      }
    }
  }
}
