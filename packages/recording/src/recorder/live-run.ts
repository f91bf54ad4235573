import type { RunStatus } from '../formats/run-schema.ts'
import { LogCheckpoints } from './log-checkpoints.ts'
import { PartQueue } from './part-queue.ts'
import type { IngestProgress } from './recorder-methods.ts'
import type { RunProgress } from './run-writer.ts'
import type { SpareWorker } from './spare-worker.ts'
import type { RecorderWorker } from './start-recorder-worker.ts'

interface LiveRunOptions {
  readonly name: string
  readonly file: string
  readonly workers: SpareWorker
  readonly checkpointWorkers: SpareWorker
  readonly now: () => number
  readonly maxBytes: number
  readonly expectedBytes: number
  readonly idleMs: number
  readonly onStored: () => void
  readonly onIdle: () => void
}

/** Maximum delay of a frame's flush, in ms. */
const flushMs = 100

export async function openLiveRun(options: LiveRunOptions): Promise<LiveRun> {
  const { file, workers, now, maxBytes, expectedBytes } = options
  const link = workers.acquire()
  try {
    let progress = await link.call('runOpen', { file, nowMs: now(), bytes: maxBytes, expectedBytes })
    if (progress.status === 'interrupted')
      progress = await link.call('runStatus', { status: 'live', nowMs: now() })
    return new LiveRun(options, link, progress)
  } catch (error) {
    await link.stop()
    throw error
  }
}

export class LiveRun {
  readonly name: string
  readonly #options: LiveRunOptions
  readonly #link: RecorderWorker
  readonly #checkpoints: LogCheckpoints
  readonly #idleTimer: NodeJS.Timeout
  #flushTimer: NodeJS.Timeout | undefined
  #progress: RunProgress
  #updatedMs: number
  #isWriting = false

  constructor(options: LiveRunOptions, link: RecorderWorker, progress: RunProgress) {
    this.name = options.name
    this.#options = options
    this.#link = link
    this.#checkpoints = new LogCheckpoints(options.file, options.checkpointWorkers)
    this.#progress = progress
    this.#updatedMs = options.now()
    this.#idleTimer = setTimeout(() => options.onIdle(), options.idleMs).unref()
  }

  get progress(): RunProgress {
    return this.#progress
  }

  /** Unix time of the last flush, in ms. */
  get updatedMs(): number {
    return this.#updatedMs
  }

  get isWriting(): boolean {
    return this.#isWriting
  }

  get isAlive(): boolean {
    return this.#link.isAlive
  }

  /** Reserves the run for one client until `write` has ended. */
  begin(): void {
    this.#isWriting = true
  }

  async write(body: AsyncIterable<Uint8Array>): Promise<IngestProgress> {
    try {
      await this.#writeParts(body)
      return await this.#endRequest(true)
    } catch (error) {
      await this.#endRequest(false).catch(() => {})
      throw error
    } finally {
      this.#isWriting = false
      this.#idleTimer.refresh()
    }
  }

  /** If `isUnchecked`, the file is checked and indexed first. */
  async import(file: string, { isUnchecked = false } = {}): Promise<void> {
    this.#update(await this.#link.call('runImport', { file, isUnchecked, nowMs: this.#options.now() }))
  }

  async close(status: RunStatus): Promise<void> {
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#flushTimer)
    await this.#checkpoints.end()
    try {
      this.#update(await this.#link.call('runStatus', { status, nowMs: this.#options.now() }))
      await this.#link.call('runClose', undefined)
    } catch (error) {
      await this.#link.stop()
      throw error
    }
    await this.#options.workers.release(this.#link)
  }

  async #writeParts(body: AsyncIterable<Uint8Array>): Promise<void> {
    const queue = new PartQueue(body)
    for (let parts = await queue.take(); parts.length > 0; parts = await queue.take()) {
      const args = { parts, nowMs: this.#options.now() }
      const transfer = parts.flatMap(getTransferable)
      const { stored_bytes } = this.#update(await this.#link.call('runWrite', args, { transfer }))
      this.#scheduleFlush()
      await this.#checkpoints.advance(stored_bytes)
    }
  }

  async #endRequest(isWhole: boolean): Promise<IngestProgress> {
    return this.#update(await this.#link.call('runEnd', { isWhole, nowMs: this.#options.now() }))
  }

  #scheduleFlush(): void {
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined
      this.#link.call('runFlush', { nowMs: this.#options.now() }).then(
        (progress) => this.#update(progress),
        () => {},
      )
    }, flushMs)
  }

  #update<Progress extends RunProgress>(next: Progress): Progress {
    const { total_frames, status } = this.#progress
    const hasChanged = next.total_frames !== total_frames || next.status !== status
    this.#progress = next
    if (hasChanged) {
      this.#updatedMs = this.#options.now()
      this.#options.onStored()
    }
    return next
  }
}

/**
 * Returns the buffer if the bytes fill it, as network reads do. Transferring it avoids garbage collections in the main
 * thread.
 */
const getTransferable = ({ buffer, byteLength }: Uint8Array): readonly ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
