/** Writing a plot to its file, and noticing that somebody else did. */
import { createHash } from 'node:crypto'
import { link, mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { commitStaged, discardStaged, hashOf, signatureOf } from './plot-file.ts'
import { type PlotEnv, type Standing, tellFile, unsavedFile } from './standing.ts'

/**
 * Writes the plot to its file, all or nothing. Throws `PLOT_CONFLICT` where another program wrote the file since we read
 * it (`isForced` overwrites it), `PLOT_READONLY`, `SAVE_FAILED`; file and plot are then as they were.
 */
export async function writePlot(env: PlotEnv, plot: Standing, isForced = false): Promise<void> {
  const { path, holder, rev } = plot
  if (!isForced) await checkUntouched(plot)
  const { temp, sha256, bytes } = await holder.call('stage', { path })
  try {
    await env.journal.saving(path, rev, sha256)
    // Once more: writing takes time, and whoever wrote the file meanwhile must not lose it.
    if (!isForced) await checkUntouched(plot)
  } catch (error) {
    await discardStaged(temp)
    throw error
  }
  await commitStaged(temp, path)
  plot.signature = await signatureOf(path)
  plot.sha256 = sha256
  plot.bytes = bytes
  plot.savedRev = rev
  await env.journal.saved(path, rev, sha256)
  settleFile(plot, 'ok', '')
  await dropCopy(env, plot)
}

/** Writes what is new and keeps a copy where that fails; what went wrong is told to views and not thrown. */
export async function trySave(env: PlotEnv, plot: Standing): Promise<void> {
  if (plot.savedRev === plot.rev) return
  try {
    await writePlot(env, plot)
    tellFile(plot)
  } catch (error) {
    if (!isCausewayError(error)) throw error
    const { code, message } = error
    if (code === 'WORKER_LOST') throw error
    env.log.warn({ plot: plot.filename, code, err: error.cause }, 'the plot could not be saved')
    if (code !== 'PLOT_CONFLICT') settleFile(plot, 'unsaved', message)
    else if (!isForeign(plot.file)) settleFile(plot, 'conflict', message)
    await keepCopy(env, plot)
    tellFile(plot)
  }
}

/** Writes the plot under another name beside its file; throws `PLOT_EXISTS`. Gives the path. */
export async function writeCopy({ path, holder }: Standing, filename: string): Promise<string> {
  const target = join(path, '..', filename)
  const { temp } = await holder.call('stage', { path: target })
  try {
    // A link fails where the name is taken, so that two who choose the same name do not overwrite each other.
    await link(temp, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new CausewayError('SAVE_FAILED', `the copy could not be written: ${filename}`, {
        data: { filename },
        cause: error,
      })
    throw new CausewayError('PLOT_EXISTS', `a file of this name exists: ${filename}`, { data: { filename } })
  } finally {
    await discardStaged(temp)
  }
  return target
}

/** True where another program wrote the file since we read or wrote it. */
export async function isTouched(plot: Standing): Promise<boolean> {
  const signature = await signatureOf(plot.path)
  if (signature === plot.signature && signature !== null) return false
  const sha256 = signature === null ? null : await hashOf(plot.path)
  if (sha256 !== plot.sha256) return true
  plot.signature = signature
  return false
}

/** True where the file is not what we read or wrote: then only a decision of the user ends it. */
export const isForeign = (file: Standing['file']): boolean => file !== 'ok' && file !== 'unsaved'

/** Notes what the file is to us. */
export function settleFile(plot: Standing, file: Standing['file'], message: string): void {
  plot.file = file
  plot.message = message
}

async function checkUntouched(plot: Standing): Promise<void> {
  if (!(await isTouched(plot))) return
  const theirs = await hashOf(plot.path)
  const { filename, rev, savedRev, sha256 } = plot
  throw new CausewayError(
    'PLOT_CONFLICT',
    theirs === null
      ? `the file was removed by another program: ${filename}`
      : `the file was changed by another program: ${filename}`,
    { data: { filename, ours: { rev, saved_rev: savedRev, sha256 }, theirs: { sha256: theirs } } },
  )
}

/** Keeps the plot as it is in the data folder, for as long as its file cannot be written. */
export async function keepCopy(env: PlotEnv, plot: Standing): Promise<void> {
  if (plot.rescueRev === plot.rev) return
  const { journal, log } = env
  const file = rescueFile(env, plot)
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const { temp } = await plot.holder.call('stage', { path: file })
    await commitStaged(temp, file)
    plot.rescueRev = plot.rev
    await journal.rescued(plot.path, plot.rev, basename(file))
  } catch (error) {
    log.error({ plot: plot.filename, err: error }, 'no copy of the unsaved plot could be kept')
  }
}

/** Removes the copy once the file and the plot are the same again. */
export async function dropCopy(env: PlotEnv, plot: Standing): Promise<void> {
  if (plot.rescueRev > 0) await rm(rescueFile(env, plot), { force: true })
  plot.rescueRev = 0
}

function rescueFile({ dir }: PlotEnv, { path }: Standing): string {
  const mark = createHash('sha256').update(path).digest('hex').slice(0, 16)
  return unsavedFile(dir, `${mark}-${basename(path)}`)
}
