import type { CallOptions } from '@causeway/worker'
import { RecordingError } from '../errors.ts'
import type { RecordingWorker } from '../reader/start-recording-worker.ts'
import type { WorkerAnswer, WorkerArgs } from '../reader/worker-methods.ts'

/**
 * Calls `copy`. Kills the worker and throws `IMPORT_LIMIT` after `limitMs` without progress. A parser can loop forever
 * on a damaged file.
 */
export async function callWithStallLimit(
  link: RecordingWorker,
  args: WorkerArgs<'copy'>,
  { limitMs, progress, signal }: CallOptions & { readonly limitMs: number },
): Promise<WorkerAnswer<'copy'>> {
  let isStalled = false
  const timer = setTimeout(() => {
    isStalled = true
    void link.kill()
  }, limitMs)
  try {
    return await link.call('copy', args, {
      signal,
      progress: (...step) => {
        timer.refresh()
        progress?.(...step)
      },
    })
  } catch (error) {
    if (!isStalled) throw error
    throw new RecordingError(
      'IMPORT_LIMIT',
      `the import made no progress for ${limitMs / 1000} s: ${args.source}`,
      {
        remedy: 'the file is probably damaged: write it again, or convert it with a recorder',
        data: { path: args.source, limit: limitMs },
        cause: error,
      },
    )
  } finally {
    clearTimeout(timer)
  }
}
