import { setTimeout as pause } from 'node:timers/promises'
import { getAnswersFilePath } from '../formats/answers-file.ts'
import { getColumnsFilePath } from '../formats/columns-file.ts'
import type { RecordingWorker } from '../reader/start-recording-worker.ts'
import type { AnalysisRequest, RecordingSummary } from '../types.ts'
import type { LoadedRecording } from './loaded-recording.ts'
import { exists, type SnapshotCache } from './snapshot-cache.ts'

export interface BackgroundOptions {
  readonly copies: SnapshotCache
  readonly startWorker: () => RecordingWorker
  readonly minBodyFrames: number
  readonly analysesToPrepare: (summary: RecordingSummary) => readonly AnalysisRequest[]
}

/** Delay in ms after loading and between checks for pending calls, which background work would slow down. */
const pollMs = 500

interface RunningWork {
  readonly controller: AbortController
  link?: RecordingWorker
}

/** Completes private copies, each in its own worker, while their recordings are not used. */
export class BackgroundWork {
  readonly #options: BackgroundOptions
  readonly #running = new Map<string, RunningWork>()

  constructor(options: BackgroundOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#running.size
  }

  /** Skips completed steps. Returns early if stopped. Throws `RECORDING_DAMAGED`. */
  async run(entry: LoadedRecording): Promise<void> {
    const { key, isIndexed, recording } = entry
    const { identity, summary } = recording
    const bodyFrames = (summary.frames?.total_frames ?? 0) * summary.bodies.length
    const isLong = bodyFrames >= this.#options.minBodyFrames && identity.run === undefined
    if (isIndexed && !isLong) return
    const running: RunningWork = { controller: new AbortController() }
    const { signal } = running.controller
    this.#running.set(key, running)
    try {
      await pause(pollMs, undefined, { signal })
      await waitUntilIdle(entry, signal)
      const link = this.#options.startWorker()
      running.link = link
      await link.call('lowerPriority', undefined)
      if (!isIndexed) await this.#finish(entry, link)
      if (isLong) await this.#prepare(entry, link, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      if (this.#running.get(key) === running) this.#running.delete(key)
      await running.link?.stop()
    }
  }

  async stop(key: string): Promise<void> {
    const running = this.#running.get(key)
    running?.controller.abort()
    await running?.link?.kill()
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((key) => this.stop(key)))
  }

  async #finish(entry: LoadedRecording, link: RecordingWorker): Promise<void> {
    const { file, key, recording } = entry
    await link.call('finish', { file, path: recording.identity.path })
    await entry.refresh()
    await this.#options.copies.resize(key)
  }

  async #prepare(entry: LoadedRecording, link: RecordingWorker, signal: AbortSignal): Promise<void> {
    const { file, key, recording } = entry
    const [columns, answers] = [getColumnsFilePath(file), getAnswersFilePath(file)]
    const missingAnalyses: AnalysisRequest[] = []
    for (const request of this.#options.analysesToPrepare(recording.summary)) {
      const cachedAnswer = await link.call('findAnswer', { file: answers, request })
      if (cachedAnswer.length === 0) missingAnalyses.push(request)
      else await entry.cacheResult(request, async () => cachedAnswer[0])
    }
    const hasColumns = await exists(columns)
    if (hasColumns && missingAnalyses.length === 0) return
    await link.call('open', { file, path: recording.identity.path })
    if (!hasColumns) {
      await waitUntilIdle(entry, signal)
      await link.call('columns', { file: columns })
      await entry.refresh()
    }
    for (const request of missingAnalyses) {
      await waitUntilIdle(entry, signal)
      await entry.cacheResult(request, (options) =>
        link.call('prepareAnalysis', { file: answers, request }, options),
      )
    }
    await this.#options.copies.resize(key)
  }
}

async function waitUntilIdle(entry: LoadedRecording, signal: AbortSignal): Promise<void> {
  while (entry.isBusy) await pause(pollMs, undefined, { signal })
  // A timer that fired just before the abort resolves.
  signal.throwIfAborted()
}
