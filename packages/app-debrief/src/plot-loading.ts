/** Bringing a plot into memory: its file, and what the data file knows of changes that the file does not have. */
import { basename } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { CallOptions } from '@causeway/worker'
import type { PlotRow } from './journal.ts'
import { type Live, liveEvents } from './live.ts'
import { removeStale, sizeOf } from './plot-file.ts'
import { holdPlot, type PlotHolder } from './plot-holder.ts'
import type { Loaded } from './plot-methods.ts'
import { type PlotEnv, type Standing, unsavedFile } from './standing.ts'

/** How a plot is read again. */
export interface LoadOptions extends CallOptions {
  /** events that views follow already */
  readonly live?: Live
  /** whatever its size */
  readonly isInWorker?: boolean
}

/**
 * Reads a plot. Changes that were answered before the process ended are made again; a plot whose file could not be
 * written comes from the copy that was kept.
 *
 * Throws `PLOT_NOT_FOUND`, `INVALID_PLOT`, `PLOT_TOO_LARGE`, `CANCELLED`.
 */
export async function loadPlot(
  env: PlotEnv,
  path: string,
  { live, isInWorker = false, ...watch }: LoadOptions = {},
): Promise<Standing> {
  await removeStale(path)
  const row = await env.journal.plot(path)
  if (row?.rescue != null) return fromRescue(env, row, live)
  const { holder, loaded } = await heldFile(path, { isInWorker, ...watch })
  try {
    return row === undefined
      ? await begun(env, { path, holder, loaded, rev: 1, live })
      : await recovered(env, { row, holder, loaded, live })
  } catch (error) {
    await holder.stop()
    throw error
  }
}

/** Reads a file into a new holder of the size that it needs. */
async function heldFile(
  path: string,
  { isInWorker = false, ...watch }: Omit<LoadOptions, 'live'> = {},
): Promise<{ readonly holder: PlotHolder; readonly loaded: Loaded }> {
  const bytes = await sizeOf(path)
  if (bytes === null)
    throw new CausewayError('PLOT_NOT_FOUND', `there is no plot file ${basename(path)}`, {
      data: { filename: basename(path) },
    })
  const holder = holdPlot(bytes, isInWorker)
  try {
    return { holder, loaded: await holder.call('load', { path }, watch) }
  } catch (error) {
    await holder.stop()
    throw error
  }
}

interface Begun {
  readonly path: string
  readonly holder: PlotHolder
  readonly loaded: Loaded
  readonly rev: number
  readonly selection?: readonly string[]
  readonly live: Live | undefined
}

/** A file that is new to us, or that is another one than we left: its history begins here. */
async function begun(env: PlotEnv, { path, holder, loaded, rev, selection, live }: Begun): Promise<Standing> {
  const filename = basename(path).normalize('NFC')
  const kept = await holder.call('restore', { selection: selection ?? null, entries: [], patches: [] })
  await env.journal.begin({ path, filename, rev, sha256: loaded.sha256, selection: kept.selection })
  return standing({ path, holder, loaded, rev, savedRev: rev, live })
}

interface Found {
  readonly row: PlotRow
  readonly holder: PlotHolder
  readonly loaded: Loaded
  readonly live: Live | undefined
}

async function recovered(env: PlotEnv, { row, holder, loaded, live }: Found): Promise<Standing> {
  const { journal, log } = env
  const { path, selection } = row
  // A save may have come to its end without being noted.
  const isSaved = loaded.sha256 === row.saving_sha256 && row.saving_rev !== null
  if (isSaved) await journal.saved(path, row.saving_rev, loaded.sha256)
  const savedRev = isSaved ? row.saving_rev : row.saved_rev
  if (!isSaved && loaded.sha256 !== row.sha256) {
    const made = await begun(env, { path, holder, loaded, rev: row.rev + 1, selection, live })
    const lost = row.rev - savedRev
    if (lost === 0) return made
    log.warn({ plot: row.filename, changes: lost }, 'changes gave way to the file of another program')
    const told = `the last ${lost} changes gave way to another program, which wrote the file while the server was away`
    return { ...made, warnings: [told, ...made.warnings] }
  }
  const patches = await journal.patches(path, savedRev)
  const entries = await journal.entries(path)
  await holder.call('restore', { selection, entries, patches })
  await journal.setOpen(path, true)
  return standing({ path, holder, loaded, rev: row.rev, savedRev, live })
}

/** The plot from our copy, while its file could not be written; what the file is like is told apart. */
async function fromRescue(env: PlotEnv, row: PlotRow, live: Live | undefined): Promise<Standing> {
  const { path, rescue, rescue_rev, selection, rev, saved_rev, sha256 } = row
  if (rescue === null) throw new CausewayError('PLOT_NOT_FOUND', 'no copy is kept')
  const { holder, loaded } = await heldFile(unsavedFile(env.dir, basename(rescue)))
  const patches = await env.journal.patches(path, rescue_rev ?? rev)
  await holder.call('restore', { selection, entries: await env.journal.entries(path), patches })
  await env.journal.setOpen(path, true)
  const made = standing({ path, holder, loaded, rev, savedRev: saved_rev, live })
  return { ...made, sha256, signature: null, rescueRev: rescue_rev ?? 0 }
}

interface Made {
  readonly path: string
  readonly holder: PlotHolder
  readonly loaded: Loaded
  readonly rev: number
  readonly savedRev: number
  readonly live: Live | undefined
}

const standing = ({ path, holder, loaded, rev, savedRev, live = liveEvents(rev) }: Made): Standing => ({
  filename: basename(path).normalize('NFC'),
  path,
  holder,
  rev,
  savedRev,
  sha256: loaded.sha256,
  signature: loaded.signature,
  bytes: loaded.bytes,
  file: 'ok',
  judged: undefined,
  message: '',
  warnings: loaded.warnings,
  rescueRev: 0,
  live,
})
