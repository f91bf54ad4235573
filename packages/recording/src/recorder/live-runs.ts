import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { RunStatus } from '../formats/run-schema.ts'
import type { Catalogue, RunEntry } from '../library/catalogue.ts'
import type { LibraryLog } from '../library/library-types.ts'
import { type LiveRun, openLiveRun } from './live-run.ts'
import { SpareWorker } from './spare-worker.ts'
import type { RecorderWorker } from './start-recorder-worker.ts'

export interface RecorderLimits {
  /** Maximum size of all runs. Runs that are not live are removed, least recently written first. */
  readonly maxBytes: number
  /** Age at which a run that is not live is removed; 0 = never. */
  readonly maxAgeMs: number
  /** Maximum number of live runs. Each has a worker thread. */
  readonly maxLiveRuns: number
  /** Time without frames after which a run is interrupted, in ms. */
  readonly idleMs: number
}

export interface LiveRunsOptions {
  readonly folder: string
  readonly catalogue: Catalogue
  readonly startWorker: () => RecorderWorker
  readonly limits: RecorderLimits
  readonly now: () => number
  readonly log: LibraryLog | undefined
}

/** Runs with a worker. The catalogue contains the state of all other runs. */
export class LiveRuns {
  readonly #options: LiveRunsOptions
  readonly #runs = new Map<string, LiveRun>()
  readonly #workers: SpareWorker
  readonly #checkpointWorkers: SpareWorker
  readonly #listeners = new Set<(name: string) => void>()
  readonly #sealListeners = new Set<(name: string) => void>()
  readonly #queues = new Map<string, Promise<unknown>>()

  constructor(options: LiveRunsOptions) {
    this.#options = options
    this.#workers = new SpareWorker(options.startWorker)
    this.#checkpointWorkers = new SpareWorker(options.startWorker)
  }

  get size(): number {
    return this.#runs.size
  }

  get names(): readonly string[] {
    return [...this.#runs.keys()]
  }

  get(name: string): LiveRun | undefined {
    return this.#runs.get(name)
  }

  onStored(listener: (name: string) => void): void {
    this.#listeners.add(listener)
  }

  onSealed(listener: (name: string) => void): void {
    this.#sealListeners.add(listener)
  }

  enqueue<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
    const result = (this.#queues.get(name) ?? Promise.resolve()).then(task)
    const settled = result.catch(() => {})
    this.#queues.set(name, settled)
    void settled.then(() => {
      if (this.#queues.get(name) === settled) this.#queues.delete(name)
    })
    return result
  }

  /**
   * Returns the live run of this name, or opens or creates its file. `expectedBytes` is the size of a new run's
   * first frames. Throws `OVERLOADED`.
   */
  async open(name: string, expectedBytes = 0): Promise<LiveRun> {
    const { folder, catalogue, limits, now } = this.#options
    const existing = this.#runs.get(name)
    if (existing?.isAlive) return existing
    // A crashed worker lost its pending frames. Until a new worker is open, the state of the last flush
    // applies.
    if (existing !== undefined) await this.#forget(existing)
    if (this.#runs.size >= limits.maxLiveRuns) await this.#interruptOldest()
    const run = await openLiveRun({
      name,
      file: join(folder, `${name}.db`),
      workers: this.#workers,
      checkpointWorkers: this.#checkpointWorkers,
      now,
      maxBytes: limits.maxBytes,
      expectedBytes,
      idleMs: limits.idleMs,
      onStored: () => {
        for (const listener of this.#listeners) listener(name)
      },
      onIdle: () =>
        void this.enqueue(name, () => this.#interrupt(name)).catch((error) => this.logFailure(name, error)),
    })
    this.#runs.set(name, run)
    catalogue.putRun(await this.getEntry(run))
    return run
  }

  async close(run: LiveRun, status: RunStatus): Promise<void> {
    try {
      await run.close(status)
    } finally {
      await this.#forget(run)
    }
    for (const listener of this.#sealListeners) listener(run.name)
  }

  suspend(run: LiveRun): Promise<void> {
    return this.close(run, run.progress.status === 'finished' ? 'finished' : 'interrupted')
  }

  async closeAll(): Promise<void> {
    const close = (run: LiveRun) => this.suspend(run).catch((error) => this.logFailure(run.name, error))
    await Promise.all([...this.#runs.values()].map(close))
    await this.#workers.close()
    await this.#checkpointWorkers.close()
  }

  async getEntry(run: LiveRun): Promise<RunEntry> {
    return { ...describe(run), bytes: await getRunSize(join(this.#options.folder, `${run.name}.db`)) }
  }

  update(entry: RunEntry): RunEntry {
    const run = this.#runs.get(entry.name)
    return run ? { ...entry, ...describe(run) } : entry
  }

  logFailure(name: string, error: unknown): void {
    this.#options.log?.warn({ err: error, recording: name }, 'closing a recording failed')
  }

  async #forget(run: LiveRun): Promise<void> {
    try {
      this.#options.catalogue.putRun(await this.getEntry(run))
    } finally {
      // Also if the catalogue is not writable, because the worker may already be writing another run.
      this.#runs.delete(run.name)
    }
  }

  async #interrupt(name: string): Promise<void> {
    const run = this.#runs.get(name)
    if (run && !run.isWriting) await this.suspend(run)
  }

  async #interruptOldest(): Promise<void> {
    const idleRuns = [...this.#runs.values()].filter(({ isWriting }) => !isWriting)
    const oldest = idleRuns.sort((a, b) => a.updatedMs - b.updatedMs)[0]
    if (oldest === undefined)
      throw new CausewayError('OVERLOADED', `${this.#runs.size} recordings are being written`, {
        data: { retry_after_ms: 1000 },
      })
    await this.enqueue(oldest.name, () => this.#interrupt(oldest.name))
  }
}

const describe = ({ name, progress, updatedMs }: LiveRun) => ({
  name,
  status: progress.status,
  total_frames: progress.total_frames,
  first_frame: progress.first_frame_id,
  last_frame: progress.last_frame_id,
  updated_ms: updatedMs,
})

/** Includes the log. Takes a path, because closing a descriptor of an open SQLite file releases its locks. */
export async function getRunSize(file: string): Promise<number> {
  let bytes = 0
  for (const path of [file, `${file}-wal`]) {
    try {
      bytes += (await stat(path)).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return bytes
}
