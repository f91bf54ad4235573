import { basename } from 'node:path'
import { StoreError } from '@causeway/store'
import type { CallOptions } from '@causeway/worker'
import { DebriefError } from '../errors.ts'
import { createNotFoundError, getFileSize, removeStaleFiles } from '../files/plot-file.ts'
import type { PlotRow } from '../journal/journal.ts'
import { PlotEvents } from '../live/plot-events.ts'
import { createHolder, type PlotHolder } from '../memory/plot-holder.ts'
import type { LoadedFile } from '../memory/plot-methods.ts'
import { getRescuePath, type PlotEnv, type PlotRecord } from './plot-record.ts'

interface LoadOptions extends CallOptions {
  readonly live?: PlotEvents
  /** Forces a worker. Otherwise, only large files use one. */
  readonly isInWorker?: boolean
}

interface OpenedFile {
  readonly holder: PlotHolder
  readonly loaded: LoadedFile
  readonly live: PlotEvents | undefined
}

/**
 * Loads a plot from its file, or from the stored copy if the file could not be written, and applies the changes in
 * the journal. Throws `PLOT_NOT_FOUND`, `PLOT_UNREADABLE`, `INVALID_PLOT`, `PLOT_TOO_LARGE`, `CANCELLED`, and
 * `DATA_MISSING` or `DATA_DAMAGED` for the stored copy.
 */
export async function loadPlot(
  env: PlotEnv,
  path: string,
  { live, isInWorker = false, ...options }: LoadOptions = {},
): Promise<PlotRecord> {
  await removeStaleFiles(path)
  const row = await env.journal.getPlot(path)
  if (row?.rescue != null) return loadRescue(env, { ...row, rescue: row.rescue }, live)
  const file = { ...(await openFile(path, isInWorker, options)), live }
  try {
    return row === undefined
      ? await beginHistory(env, file, { path, rev: 1 })
      : await recoverPlot(env, row, file)
  } catch (error) {
    await file.holder.stop()
    throw error
  }
}

async function openFile(
  path: string,
  isInWorker = false,
  options: CallOptions = {},
): Promise<Omit<OpenedFile, 'live'>> {
  const bytes = await getFileSize(path)
  if (bytes === null) throw createNotFoundError(path)
  const holder = createHolder(bytes, isInWorker)
  try {
    return { holder, loaded: await holder.call('load', { path }, options) }
  } catch (error) {
    await holder.stop()
    throw error
  }
}

async function beginHistory(
  env: PlotEnv,
  { holder, loaded, live }: OpenedFile,
  {
    path,
    rev,
    selection = null,
  }: { readonly path: string; readonly rev: number; readonly selection?: readonly string[] | null },
): Promise<PlotRecord> {
  const filename = basename(path).normalize('NFC')
  const restoredState = await holder.call('restore', { selection, entries: [], patches: [] })
  await env.journal.beginPlot({
    path,
    filename,
    rev,
    sha256: loaded.sha256,
    selection: restoredState.selection,
  })
  return createRecord({ path, rev, savedRev: rev }, { holder, loaded, live })
}

async function recoverPlot(env: PlotEnv, row: PlotRow, file: OpenedFile): Promise<PlotRecord> {
  const { journal, log } = env
  const { path, selection, rev } = row
  const { loaded, holder } = file
  // The last save may have been completed without being recorded.
  const isSaved = loaded.sha256 === row.saving_sha256 && row.saving_rev !== null
  if (isSaved) await journal.markSaved(path, row.saving_rev, loaded.sha256)
  const savedRev = isSaved ? row.saving_rev : row.saved_rev
  if (!isSaved && loaded.sha256 !== row.sha256) {
    const record = await beginHistory(env, file, { path, rev: rev + 1, selection })
    const lostChanges = rev - savedRev
    if (lostChanges === 0) return record
    log.warn(
      { plot: row.filename, changes: lostChanges },
      'another program replaced the file; changes were discarded',
    )
    const warning = `the last ${lostChanges} changes were discarded: another program wrote the file while the server was stopped`
    return { ...record, warnings: [warning, ...record.warnings] }
  }
  const patches = await journal.listPatches(path, savedRev)
  const entries = await journal.listEntries(path)
  await holder.call('restore', { selection, entries, patches })
  await journal.setOpen(path, true)
  return createRecord({ path, rev, savedRev }, file)
}

async function loadRescue(
  env: PlotEnv,
  row: PlotRow & { readonly rescue: string },
  live: PlotEvents | undefined,
): Promise<PlotRecord> {
  const { path, rescue_rev, selection, rev, saved_rev, sha256 } = row
  const name = basename(row.rescue)
  const file = await openFile(getRescuePath(env.dir, name)).catch((error: unknown) => {
    throw toRescueError(error, name)
  })
  const patches = await env.journal.listPatches(path, rescue_rev ?? rev)
  await file.holder.call('restore', { selection, entries: await env.journal.listEntries(path), patches })
  await env.journal.setOpen(path, true)
  const record = createRecord({ path, rev, savedRev: saved_rev }, { ...file, live })
  return { ...record, sha256, signature: null, rescueRev: rescue_rev ?? 0 }
}

/** A missing or damaged copy is an error of the data folder, not of the user's file. */
function toRescueError(error: unknown, name: string): unknown {
  const isMissing = DebriefError.is(error, 'PLOT_NOT_FOUND')
  if (!isMissing && !DebriefError.is(error, 'INVALID_PLOT')) return error
  const file = `debrief-unsaved/${name}`
  const [code, problem] = isMissing
    ? (['DATA_MISSING', 'is missing'] as const)
    : (['DATA_DAMAGED', 'is damaged'] as const)
  return new StoreError(code, `the copy of unsaved changes ${problem}: ${file}`, {
    data: { file },
    cause: error,
  })
}

const createRecord = (
  { path, rev, savedRev }: Pick<PlotRecord, 'path' | 'rev' | 'savedRev'>,
  { holder, loaded, live = new PlotEvents(rev) }: OpenedFile,
): PlotRecord => ({
  filename: basename(path).normalize('NFC'),
  path,
  holder,
  rev,
  savedRev,
  sha256: loaded.sha256,
  signature: loaded.signature,
  bytes: loaded.bytes,
  file: 'ok',
  checkedSignature: undefined,
  message: '',
  warnings: loaded.warnings,
  rescueRev: 0,
  live,
})
