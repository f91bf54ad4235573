import type { RecordingWorker } from '../reader/start-recording-worker.ts'
import type { AnalysisRequest, RecordingSummary } from '../types.ts'

const idleTimeoutMs = 5000

/** Analyses recordings in one worker of low priority. */
export class BackgroundReader {
  readonly #startWorker: () => RecordingWorker
  #link: RecordingWorker | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(startWorker: () => RecordingWorker) {
    this.#startWorker = startWorker
  }

  /** Rejects with `WORKER_LOST` after `close`. */
  analyse(file: string, request: (summary: RecordingSummary) => AnalysisRequest | null) {
    const result = this.#last.then(() => this.#analyse(file, request))
    this.#last = result.catch(() => {})
    return result
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#link?.kill()
    await this.#last
  }

  async #analyse(file: string, request: (summary: RecordingSummary) => AnalysisRequest | null) {
    clearTimeout(this.#idleTimer)
    const link = await this.#getLink()
    try {
      const { summary } = await link.call('open', { file, path: file })
      const analysis = request(summary)
      const result = analysis && (await link.call('analyse', { ...analysis, isCached: false }))
      return { summary, result }
    } finally {
      this.#idleTimer = setTimeout(() => void this.#stop(), idleTimeoutMs).unref()
    }
  }

  async #getLink(): Promise<RecordingWorker> {
    if (this.#link?.isAlive) return this.#link
    this.#link = this.#startWorker()
    await this.#link.call('lowerPriority', undefined)
    return this.#link
  }

  async #stop(): Promise<void> {
    const link = this.#link
    this.#link = undefined
    await link?.stop()
  }
}
