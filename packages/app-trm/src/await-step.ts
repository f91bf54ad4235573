/** Waiting for an evaluation, with or without a part in it. */
import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import type { Running } from './critic.ts'
import type { EvalResult } from './domain/result.ts'

/** How somebody waits for an evaluation. */
export interface Waiting {
  readonly waitS: number
  readonly signal: AbortSignal
  readonly onProgress: (progress: Running['progress']) => void
  /** whether the evaluation is ended when this caller goes away */
  readonly cancels: boolean
}

/** Waits for an evaluation; undefined where it runs on after the wait. Rejects as the evaluation does. */
export async function awaitStep(
  running: Running,
  { waitS, signal, onProgress, cancels }: Waiting,
): Promise<EvalResult | undefined> {
  const tell = (): void => onProgress(running.progress)
  const over = new AbortController()
  const pause = wait(waitS * 1000, undefined, { signal: AbortSignal.any([over.signal, signal]), ref: false })
  running.watchers.add(tell)
  tell()
  try {
    return await Promise.race([running.done, pause])
  } catch (error) {
    if (!signal.aborted) throw error
    if (!cancels) throw signal.reason
    // The files are back, and nothing is left running, before the call is over.
    running.controller.abort(
      new CausewayError('CANCELLED', 'the evaluation was cancelled; the files are as before'),
    )
    return await running.done
  } finally {
    over.abort()
    running.watchers.delete(tell)
  }
}
