import { getAnswersFilePath } from '../formats/answers-file.ts'
import { getColumnsFilePath } from '../formats/columns-file.ts'
import type { RecordingWorker } from '../reader/start-recording-worker.ts'
import type { AnalysisRequest, RecordingSummary } from '../types.ts'
import type { LoadedRecording } from './loaded-recording.ts'
import { exists, type SnapshotCache } from './snapshot-cache.ts'

export interface BackgroundOptions {
  readonly copies: SnapshotCache
  readonly startWorker: () => RecordingWorker
  /** Minimum bodies × frames for preparing columns and analyses. */
  readonly minBodyFrames: number
  readonly analysesToPrepare: (summary: RecordingSummary) => readonly AnalysisRequest[]
}

/** Completes private copies, each in its own worker. */
export class BackgroundWork {
  readonly #options: BackgroundOptions
  readonly #links = new Map<string, RecordingWorker>()

  constructor(options: BackgroundOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#links.size
  }

  /** Skips completed steps. Throws `RECORDING_DAMAGED`, and `WORKER_LOST` if stopped. */
  async run(entry: LoadedRecording): Promise<void> {
    const { copies, startWorker, minBodyFrames } = this.#options
    const { key, file, recording, isIndexed } = entry
    const { identity, summary } = recording
    const bodyFrames = (summary.frames?.total_frames ?? 0) * summary.bodies.length
    const isLong = bodyFrames >= minBodyFrames && identity.run === undefined
    if (isIndexed && !isLong) return
    const link = startWorker()
    this.#links.set(key, link)
    try {
      await link.call('lowerPriority', undefined)
      if (!isIndexed) {
        await link.call('finish', { file, path: identity.path })
        await entry.refresh()
        await copies.resize(key)
      }
      if (isLong) await this.#prepare(entry, link)
    } finally {
      if (this.#links.get(key) === link) this.#links.delete(key)
      await link.stop()
    }
  }

  async stop(key: string): Promise<void> {
    await this.#links.get(key)?.kill()
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.kill()))
  }

  async #prepare(entry: LoadedRecording, link: RecordingWorker): Promise<void> {
    const { file, key, recording } = entry
    const [columns, answers] = [getColumnsFilePath(file), getAnswersFilePath(file)]
    const missing: AnalysisRequest[] = []
    for (const request of this.#options.analysesToPrepare(recording.summary)) {
      const found = await link.call('recall', { file: answers, request })
      if (found.length === 0) missing.push(request)
      else await entry.cacheResult(request, async () => found[0])
    }
    const hasColumns = await exists(columns)
    if (hasColumns && missing.length === 0) return
    await link.call('open', { file, path: recording.identity.path })
    if (!hasColumns) {
      await link.call('columns', { file: columns })
      await entry.refresh()
    }
    for (const request of missing)
      await entry.cacheResult(request, (options) =>
        link.call('prepareAnalysis', { file: answers, request }, options),
      )
    await this.#options.copies.resize(key)
  }
}
