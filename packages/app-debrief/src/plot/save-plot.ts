import { createHash } from 'node:crypto'
import { link, mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isCausewayError } from '@causeway/protocol'
import { DebriefError } from '../errors.ts'
import { commitStagedFile, discardStagedFile, getSignature, hashFile } from '../files/plot-file.ts'
import {
  getRescuePath,
  isChangedExternally,
  notifyFileStatus,
  type PlotEnv,
  type PlotRecord,
  setFileStatus,
} from './plot-record.ts'

/**
 * Replaces the file atomically. Throws `PLOT_READONLY`, `SAVE_FAILED` and, if another program wrote the file and
 * `isForced` is not set, `PLOT_CONFLICT`. An error leaves file and plot unchanged.
 */
export async function writePlot(env: PlotEnv, plot: PlotRecord, isForced = false): Promise<void> {
  const { path, holder, rev } = plot
  if (!isForced) await requireUnmodified(plot)
  const { tempPath, sha256, bytes } = await holder.call('stage', { path })
  try {
    await env.journal.markSaving(path, rev, sha256)
    // Another program may have written the file during staging.
    if (!isForced) await requireUnmodified(plot)
  } catch (error) {
    await discardStagedFile(tempPath)
    throw error
  }
  await commitStagedFile(tempPath, path)
  Object.assign(plot, { signature: await getSignature(path), sha256, bytes, savedRev: rev })
  await env.journal.markSaved(path, rev, sha256)
  setFileStatus(plot, 'ok')
  await removeRescue(env, plot)
}

/** Saves changes to the file or, if this fails, to a copy in the data folder. Throws `WORKER_LOST`. */
export async function trySave(env: PlotEnv, plot: PlotRecord): Promise<void> {
  if (plot.savedRev === plot.rev) return
  try {
    await writePlot(env, plot)
    notifyFileStatus(plot)
  } catch (error) {
    if (!isCausewayError(error)) throw error
    const { code, message } = error
    if (code === 'WORKER_LOST') throw error
    env.log.warn({ plot: plot.filename, code, err: error.cause }, 'the plot could not be saved')
    if (code !== 'PLOT_CONFLICT') setFileStatus(plot, 'unsaved', message)
    else if (!isChangedExternally(plot.file)) setFileStatus(plot, 'conflict', message)
    await storeRescue(env, plot)
    notifyFileStatus(plot)
  }
}

export async function writeCopy({ path, holder }: PlotRecord, filename: string): Promise<string> {
  const copyPath = join(path, '..', filename)
  const { tempPath } = await holder.call('stage', { path: copyPath })
  try {
    // Linking fails if the name exists, so concurrent copies cannot overwrite each other.
    await link(tempPath, copyPath)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new DebriefError('SAVE_FAILED', `the copy could not be written: ${filename}`, {
        data: { filename },
        cause: error,
      })
    throw new DebriefError('PLOT_EXISTS', `the file exists: ${filename}`, { data: { filename } })
  } finally {
    await discardStagedFile(tempPath)
  }
  return copyPath
}

export async function isModified(plot: PlotRecord): Promise<boolean> {
  const signature = await getSignature(plot.path)
  if (signature === plot.signature && signature !== null) return false
  const sha256 = signature === null ? null : await hashFile(plot.path)
  if (sha256 !== plot.sha256) return true
  plot.signature = signature
  return false
}

async function requireUnmodified(plot: PlotRecord): Promise<void> {
  if (!(await isModified(plot))) return
  const currentSha256 = await hashFile(plot.path)
  const { filename, rev, savedRev, sha256 } = plot
  throw new DebriefError(
    'PLOT_CONFLICT',
    currentSha256 === null
      ? `the file was removed by another program: ${filename}`
      : `the file was changed by another program: ${filename}`,
    { data: { filename, ours: { rev, saved_rev: savedRev, sha256 }, theirs: { sha256: currentSha256 } } },
  )
}

export async function storeRescue(env: PlotEnv, plot: PlotRecord): Promise<void> {
  if (plot.rescueRev === plot.rev) return
  const file = findRescuePath(env, plot)
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const { tempPath } = await plot.holder.call('stage', { path: file })
    await commitStagedFile(tempPath, file)
    plot.rescueRev = plot.rev
    await env.journal.markRescued(plot.path, plot.rev, basename(file))
  } catch (error) {
    env.log.error({ plot: plot.filename, err: error }, 'the copy of the unsaved plot could not be written')
  }
}

export async function removeRescue(env: PlotEnv, plot: PlotRecord): Promise<void> {
  if (plot.rescueRev > 0) await rm(findRescuePath(env, plot), { force: true })
  plot.rescueRev = 0
}

function findRescuePath({ dir }: PlotEnv, { path }: PlotRecord): string {
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 16)
  return getRescuePath(dir, `${hash}-${basename(path)}`)
}
