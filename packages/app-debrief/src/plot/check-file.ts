import { isCausewayError } from '@causeway/protocol'
import { WorkerError } from '@causeway/worker'
import { DebriefError } from '../errors.ts'
import { getSignature } from '../files/plot-file.ts'
import {
  isChangedExternally,
  notifyFileStatus,
  type PlotEnv,
  type PlotRecord,
  setFileStatus,
} from './plot-record.ts'
import { isModified, storeRescue } from './save-plot.ts'

export const isKnownSignature = (plot: PlotRecord, signature: string | null): boolean =>
  signature !== null && (signature === plot.signature || isChecked(plot, signature))

const isChecked = ({ file, checkedSignature }: PlotRecord, signature: string | null): boolean =>
  isChangedExternally(file) && signature === checkedSignature

/**
 * If no changes are unsaved, reloads a file that another program changed. Returns `true` if another program has
 * restored the previous content. Throws `WORKER_LOST` and `PLOT_UNREADABLE`.
 */
export async function checkFile(
  env: PlotEnv,
  plot: PlotRecord,
  reload: () => Promise<unknown>,
): Promise<boolean> {
  const signature = await getSignature(plot.path)
  if (isChecked(plot, signature)) return false
  if (!(await isModified(plot))) {
    if (!isChangedExternally(plot.file)) return false
    setFileStatus(plot, 'ok')
    notifyFileStatus(plot)
    return true
  }
  plot.checkedSignature = signature
  if (signature === null) setFileStatus(plot, 'missing', 'the file was removed by another program')
  else if (plot.rev === plot.savedRev) await tryReload(plot, reload)
  else {
    setFileStatus(
      plot,
      'conflict',
      'the file was changed by another program, and the plot has unsaved changes',
    )
    await storeRescue(env, plot)
  }
  if (plot.file !== 'ok') notifyFileStatus(plot)
  return false
}

async function tryReload(plot: PlotRecord, reload: () => Promise<unknown>): Promise<void> {
  try {
    await reload()
  } catch (error) {
    const isTemporary = WorkerError.is(error, 'WORKER_LOST') || DebriefError.is(error, 'PLOT_UNREADABLE')
    if (isTemporary || !isCausewayError(error)) throw error
    setFileStatus(plot, DebriefError.is(error, 'PLOT_NOT_FOUND') ? 'missing' : 'invalid', error.message)
  }
}
