/** Noticing that another program wrote the file of an open plot, and what becomes of the plot then. */
import { isCausewayError } from '@causeway/protocol'
import { signatureOf } from './plot-file.ts'
import { isForeign, isTouched, keepCopy, settleFile } from './plot-saving.ts'
import { type PlotEnv, type Standing, tellFile } from './standing.ts'

/** True where a file of this signature needs no look: we left it so, or it was judged already. */
export const isKnown = (plot: Standing, signature: string | null): boolean =>
  signature !== null && (signature === plot.signature || isJudged(plot, signature))

const isJudged = ({ file, judged }: Standing, signature: string | null): boolean =>
  isForeign(file) && signature === judged

/**
 * Looks at the file, and settles what it is to us; `reload` takes it over. True where it is ours again, so that what it
 * does not have can be saved. Throws `WORKER_LOST`.
 */
export async function checkFile(
  env: PlotEnv,
  plot: Standing,
  reload: () => Promise<unknown>,
): Promise<boolean> {
  const signature = await signatureOf(plot.path)
  if (isJudged(plot, signature)) return false
  if (!(await isTouched(plot))) {
    if (!isForeign(plot.file)) return false
    settleFile(plot, 'ok', '')
    tellFile(plot)
    return true
  }
  plot.judged = signature
  await judge(env, plot, { signature, reload })
  if (plot.file !== 'ok') tellFile(plot)
  return false
}

interface Seen {
  readonly signature: string | null
  reload(): Promise<unknown>
}

/** A file that another program wrote is taken over, unless there are changes of our own, or it cannot be read. */
async function judge(env: PlotEnv, plot: Standing, { signature, reload }: Seen): Promise<void> {
  if (signature === null) return settleFile(plot, 'missing', 'the file was removed by another program')
  if (plot.rev !== plot.savedRev) {
    settleFile(plot, 'conflict', 'the file was changed by another program, and the plot here as well')
    return keepCopy(env, plot)
  }
  try {
    await reload()
  } catch (error) {
    if (!isCausewayError(error) || error.code === 'WORKER_LOST') throw error
    settleFile(plot, error.code === 'PLOT_NOT_FOUND' ? 'missing' : 'invalid', error.message)
  }
}
