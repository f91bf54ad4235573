import type { SpareWorker } from './spare-worker.ts'
import type { RecorderWorker } from './start-recorder-worker.ts'

/** Number of stored bytes between two checkpoints: two batches. */
const stepBytes = 8 * 1024 ** 2

/** Log size at which the writer pauses. SQLite reuses the log only after a complete checkpoint, which needs a pause. */
export const pauseBytes = 64 * 1024 ** 2

/** Checkpoints a run in another worker, because its writer would have to wait for the disk. */
export class LogCheckpoints {
  readonly #file: string
  readonly #workers: Pick<SpareWorker, 'acquire' | 'release'>
  #running: Promise<void> | undefined
  #logBytes = 0
  /** Stored bytes when the last checkpoint started. */
  #startedAt = 0

  constructor(file: string, workers: Pick<SpareWorker, 'acquire' | 'release'>) {
    this.#file = file
    this.#workers = workers
  }

  /** Must be called between two writes. Resolves when the next write may start. */
  async advance(storedBytes: number): Promise<void> {
    const bytes = storedBytes - this.#startedAt
    if (this.#logBytes >= pauseBytes || bytes >= pauseBytes) {
      await this.#running
      await this.#checkpoint()
      this.#logBytes = 0
    } else if (bytes >= stepBytes && this.#running === undefined) {
      this.#running = this.#checkpoint().finally(() => {
        this.#running = undefined
      })
    } else return
    this.#startedAt = storedBytes
  }

  async end(): Promise<void> {
    await this.#running
  }

  async #checkpoint(): Promise<void> {
    let link: RecorderWorker | undefined
    try {
      link = this.#workers.acquire()
      this.#logBytes = await link.call('runCheckpoint', { file: this.#file })
      await this.#workers.release(link)
    } catch {
      // The writer checkpoints a long log itself.
      await link?.stop()
    }
  }
}
