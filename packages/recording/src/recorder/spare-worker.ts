import type { RecorderWorker } from './start-recorder-worker.ts'

const maxSpareMs = 60_000

/** Holds one worker for the next run, because starting a thread costs more than recording 1000 frames (measured). */
export class SpareWorker {
  readonly #start: () => RecorderWorker
  #spare: RecorderWorker | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(start: () => RecorderWorker) {
    this.#start = start
  }

  acquire(): RecorderWorker {
    const link = this.#takeSpare()
    return link?.isAlive ? link : this.#start()
  }

  async release(link: RecorderWorker): Promise<void> {
    if (this.#isClosed || this.#spare?.isAlive) return link.stop()
    this.#takeSpare()
    this.#spare = link
    this.#timer = setTimeout(() => void this.#takeSpare()?.stop(), maxSpareMs).unref()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#takeSpare()?.stop()
  }

  #takeSpare(): RecorderWorker | undefined {
    const link = this.#spare
    this.#spare = undefined
    clearTimeout(this.#timer)
    return link
  }
}
