import type { RecorderWorker } from '../worker-link.ts'

/** Time after which a worker that nobody needs is ended, ms. */
const spareMs = 60_000

/** Workers for one run after the other. */
export interface SpareWorker {
  /** The worker that was kept, or a new one. */
  take(): RecorderWorker
  /** Takes back a worker that has closed its run: one is kept for the next run, others are ended. */
  give(link: RecorderWorker): Promise<void>
  /** Ends the one that is kept. */
  close(): Promise<void>
}

/**
 * Keeps the last worker for the next run. An engine whose runs are short, as those of its tests are, would else pay more
 * for each new thread, and for its code that is compiled anew, than for 1000 frames (measured).
 */
export function spareWorker(start: () => RecorderWorker): SpareWorker {
  let spare: RecorderWorker | undefined
  let ending: NodeJS.Timeout | undefined
  let isClosed = false
  const takeSpare = (): RecorderWorker | undefined => {
    const link = spare
    spare = undefined
    clearTimeout(ending)
    return link
  }
  return {
    take() {
      const link = takeSpare()
      return link?.isAlive ? link : start()
    },
    async give(link) {
      if (isClosed || spare?.isAlive) return link.stop()
      takeSpare()
      spare = link
      ending = setTimeout(() => void takeSpare()?.stop(), spareMs).unref()
    },
    async close() {
      isClosed = true
      await takeSpare()?.stop()
    },
  }
}
