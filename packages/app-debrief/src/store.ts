import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Cache, type Env, numberSetting } from '@causeway/app-kit'
import { type CausewayError, isCausewayError } from '@causeway/protocol'
import { type CallOptions, SharedCalls } from '@causeway/worker'
import type { ToolCache } from './analysis/vault-tool.ts'
import { ChartRenderer } from './chart/chart-renderer.ts'
import { getTitle, parsePlotName } from './domain/document/plot-name.ts'
import { DebriefError } from './errors.ts'
import { findPlotFile, listPlotFiles, type PlotFile, type PlotTitle } from './files/plot-folder.ts'
import { Journal } from './journal/journal.ts'
import { Plot } from './plot/plot.ts'
import { createEventCache, createPlotCache } from './plot/plot-caches.ts'
import type { PlotEnv } from './plot/plot-record.ts'
import { getPlotUri, plotParts } from './resources/plot-uri.ts'

interface PlotEntry {
  readonly path: string
  /** Whether the plot was open when the server stopped. */
  readonly isRestored: boolean
  plot?: Plot
}

/** Idle time after which a plot in a worker is released. */
const maxIdleMs = 600_000

export const plotIntervals = { saveAfterMs: 250, checkEveryMs: 500 } as const

const maxListedPlots = 50

const mebibyte = 1024 ** 2

export class Debrief {
  readonly charts: ChartRenderer
  readonly toolCache: ToolCache = { tools: [], loadedAtMs: Number.NEGATIVE_INFINITY }
  readonly call: Env['call']
  readonly #env: Env
  readonly #plotEnv: PlotEnv
  /** By filename. */
  readonly #entries = new Map<string, PlotEntry>()
  /** Plots that are being closed. Their files must not be read until they are saved. */
  readonly #closing = new Map<string, Promise<void>>()
  readonly #loads = new SharedCalls<Plot>()
  readonly #abortController = new AbortController()
  readonly #watcher: Promise<void>

  static async open(env: Env): Promise<Debrief> {
    const debrief = new Debrief(env)
    for (const { filename, path } of await debrief.#plotEnv.journal.listOpenPlots())
      debrief.#entries.set(filename, { path, isRestored: true })
    return debrief
  }

  private constructor(env: Env) {
    const { dir, settings, log, now, newId, changed } = env
    this.#env = env
    this.call = env.call
    this.charts = new ChartRenderer(log)
    this.#plotEnv = {
      dir,
      log,
      now,
      newId,
      changed,
      journal: new Journal(dir, env),
      saveAfterMs: numberSetting(settings, 'plotSaveMs') ?? plotIntervals.saveAfterMs,
      checkEveryMs: numberSetting(settings, 'plotCheckMs') ?? plotIntervals.checkEveryMs,
    }
    this.#watcher = this.#watchFiles()
  }

  list(): readonly PlotTitle[] {
    return [...this.#entries.keys()].sort().map((filename) => ({ filename, title: getTitle(filename) }))
  }

  async listFiles(): Promise<{ readonly files: readonly PlotFile[]; readonly folders: readonly string[] }> {
    const { roots } = this.#env
    const files = await listPlotFiles(roots)
    return { files: files.filter(({ filename }) => !this.#entries.has(filename)), folders: roots.folders() }
  }

  /**
   * Opens a plot if it is not open. Concurrent calls share one load. Throws `INVALID_FILENAME`, `PLOT_NOT_FOUND` and
   * the errors of `Plot.open`.
   */
  async open(filename: string, options?: CallOptions): Promise<Plot> {
    const name = parsePlotName(filename)
    const existingPlot = this.#load(name, options)
    if (existingPlot !== undefined) return existingPlot
    await this.#closing.get(name)?.catch(() => {})
    const path = await this.#findFile(name)
    const entry = this.#entries.get(name) ?? { path, isRestored: false }
    this.#entries.set(name, entry)
    try {
      const plot = await this.#load(name, options)
      if (plot === undefined) throw this.#createNotOpenError(name)
      this.#notifyList()
      return plot
    } catch (error) {
      // A plot that was loaded before its caller cancelled remains listed, so that it is saved and closed later.
      const isUnloaded = entry.plot === undefined && !this.#loads.has(name)
      if (!entry.isRestored && isUnloaded && this.#entries.get(name) === entry) this.#entries.delete(name)
      throw error
    }
  }

  /** Throws `INVALID_FILENAME` and `PLOT_NOT_FOUND`. */
  async close(filename: string): Promise<void> {
    const name = parsePlotName(filename)
    // The plot may have unsaved changes that were made before the server stopped.
    await this.#load(name)?.catch((error: unknown) =>
      this.#env.log.warn({ err: error }, 'a plot was closed that could not be loaded'),
    )
    const entry = this.#entries.get(name)
    if (entry === undefined) throw this.#createNotOpenError(name)
    this.#entries.delete(name)
    const closing = (async () => {
      await entry.plot?.close()
      await this.#plotEnv.journal.setOpen(entry.path, false)
    })()
    this.#closing.set(name, closing)
    await closing.finally(() => this.#closing.delete(name))
    this.#notifyList()
  }

  /**
   * Returns the named plot or, without a name, the client's active plot or else the only open plot. Throws
   * `INVALID_FILENAME`, `PLOT_NOT_FOUND`, `NO_PLOT_OPEN` and `MULTIPLE_PLOTS`.
   */
  async find(
    filename: string | undefined,
    activeFilename: string | undefined,
    options?: CallOptions,
  ): Promise<Plot> {
    if (filename !== undefined) {
      const name = parsePlotName(filename)
      const plot = this.#load(name, options)
      if (plot === undefined) throw this.#createNotOpenError(name)
      return plot
    }
    const activePlot = activeFilename === undefined ? undefined : this.#load(activeFilename, options)
    if (activePlot !== undefined) return activePlot
    const [onlyPlot, ...otherPlots] = this.list()
    if (onlyPlot === undefined) throw new DebriefError('NO_PLOT_OPEN', 'no plot is open')
    if (otherPlots.length > 0)
      throw new DebriefError('MULTIPLE_PLOTS', 'multiple plots open, please specify filename', {
        data: { available_plots: this.list().slice(0, maxListedPlots), total: this.#entries.size },
      })
    return this.#load(onlyPlot.filename, options) as Promise<Plot> // it is open
  }

  caches(): readonly Cache[] {
    const threadPlots = createPlotCache(() => this.#listLoaded().filter(({ isInWorker }) => !isInWorker))
    const workerPlots = createPlotCache(() => this.#listLoaded().filter(({ isInWorker }) => isInWorker))
    const events = createEventCache(() => this.#listLoaded())
    return [
      { name: 'events', costMs: 10, isInHeap: true, maxBytes: 64 * mebibyte, ...events },
      { name: 'charts', costMs: 200, isInHeap: false, maxBytes: 256 * mebibyte, ...this.charts.memory },
      { name: 'plots', costMs: 100, isInHeap: true, maxBytes: 256 * mebibyte, ...threadPlots },
      { name: 'plot_workers', costMs: 1000, isInHeap: false, maxBytes: 2048 * mebibyte, ...workerPlots },
    ]
  }

  health(): { readonly open_plots: number; readonly in_workers: number; readonly unsaved: number } {
    const loadedPlots = this.#listLoaded()
    return {
      open_plots: this.#entries.size,
      in_workers: loadedPlots.filter(({ isInWorker }) => isInWorker).length,
      unsaved: loadedPlots.filter((plot) => plot.getStatus().dirty).length,
    }
  }

  /** Closes all plots. They remain recorded as open for the next start. */
  async end(): Promise<void> {
    this.#abortController.abort()
    await this.#watcher
    await this.#loads.stop()
    await Promise.all(this.#listLoaded().map((plot) => plot.close()))
    await this.charts.close()
    this.#plotEnv.journal.close()
  }

  #listLoaded(): readonly Plot[] {
    return [...this.#entries.values()].flatMap(({ plot }) => plot ?? [])
  }

  /** Returns `undefined` if the plot is not open. After a failure, the next call retries. */
  #load(filename: string, options: CallOptions = {}): Promise<Plot> | undefined {
    const entry = this.#entries.get(filename)
    if (entry?.plot !== undefined) return Promise.resolve(entry.plot)
    return (
      entry && this.#loads.run(filename, (sharedOptions) => this.#loadEntry(entry, sharedOptions), options)
    )
  }

  async #loadEntry(entry: PlotEntry, options: CallOptions): Promise<Plot> {
    // The folder of a restored plot may have been removed from the roots.
    await this.#env.roots.resolve(dirname(entry.path))
    const plot = await Plot.open(this.#plotEnv, entry.path, options)
    if (options.signal?.aborted) {
      // A later call may be loading the plot again, and only one instance may write the file.
      await plot.close()
      throw options.signal.reason
    }
    entry.plot = plot
    return plot
  }

  async #findFile(name: string): Promise<string> {
    const { roots } = this.#env
    const path = await findPlotFile(roots, name)
    if (path !== undefined) return path
    throw new DebriefError('PLOT_NOT_FOUND', `plot file not found: ${name}`, {
      remedy: 'call list_plots for the files, or add the folder to CAUSEWAY_PLOT_ROOTS',
      data: {
        filename: name,
        searched: roots.folders(),
        available_plots: this.list().slice(0, maxListedPlots),
      },
    })
  }

  #notifyList(): void {
    const { changed } = this.#env
    changed.resources()
    changed.resource('plots://list')
    for (const part of plotParts) changed.resource(getPlotUri(part))
  }

  /** Polls files, because watching them does not work on every file system. */
  async #watchFiles(): Promise<void> {
    const { signal } = this.#abortController
    while (!signal.aborted) {
      await delay(this.#plotEnv.checkEveryMs, undefined, { signal, ref: false }).catch(() => {})
      for (const plot of signal.aborted ? [] : this.#listLoaded()) {
        try {
          await plot.check()
          if (plot.isInWorker && plot.idleMs() > maxIdleMs) await plot.release()
        } catch (error) {
          const code = isCausewayError(error) ? error.code : undefined
          this.#env.log.warn({ err: error, code }, 'a plot file could not be checked')
        }
      }
    }
  }

  #createNotOpenError(filename: string): CausewayError {
    return new DebriefError('PLOT_NOT_FOUND', `plot file not found or not open: ${filename}`, {
      remedy: 'call open_plot with this filename, or pass one of data.available_plots',
      data: { filename, available_plots: this.list().slice(0, maxListedPlots) },
    })
  }
}
