import type { CausewayError } from '@causeway/protocol'
import { RecordingError } from '../errors.ts'
import { type BackgroundOptions, BackgroundWork } from './background-work.ts'
import type { Snapshot } from './catalogue.ts'
import type { LoadedRecording } from './loaded-recording.ts'

const graceMs = 10_000

interface LoadedOptions extends BackgroundOptions {
  readonly maxWorkers: number
  readonly now: () => number
  readonly onDamage: (entry: LoadedRecording, error: CausewayError) => void
  /** The recording remains usable, without indexes or preparation. */
  readonly onBackgroundFailure: (entry: LoadedRecording, error: unknown) => void
}

/** Loaded recordings by the key of their copy, least recently used first. */
export class LoadedRecordings {
  readonly #options: LoadedOptions
  readonly #loaded = new Map<string, LoadedRecording>()
  readonly #background: BackgroundWork

  constructor(options: LoadedOptions) {
    this.#options = options
    this.#background = new BackgroundWork(options)
  }

  get openCount(): number {
    return this.#findOpen().length
  }

  get preparingCount(): number {
    return this.#background.count
  }

  async use(key: string): Promise<LoadedRecording | undefined> {
    const entry = this.#loaded.get(key)
    if (!entry) return undefined
    this.#loaded.delete(key)
    await this.#insert(entry)
    return entry
  }

  async add(entry: LoadedRecording): Promise<void> {
    await this.#unload(entry.key)
    await this.#insert(entry)
    this.#runBackgroundWork(entry).catch((error) => this.#options.onBackgroundFailure(entry, error))
  }

  async discard(key: string): Promise<void> {
    await this.#unload(key)
    await this.#options.copies.remove(key)
  }

  async release({ key, used_ms }: Snapshot): Promise<boolean> {
    // A copy that is being loaded is not in the map yet. A negative age means that the clock was set back.
    const age = this.#options.now() - used_ms
    if (this.#loaded.get(key)?.isBusy || (age >= 0 && age < graceMs)) return false
    await this.#unload(key)
    return true
  }

  async countWorkerBytes(): Promise<number> {
    const sizes = await Promise.all([...this.#loaded.values()].map((entry) => entry.countWorkerBytes()))
    return sizes.reduce((sum, bytes) => sum + bytes, 0)
  }

  countResultBytes(): number {
    return [...this.#loaded.values()].reduce((sum, { results }) => sum + results.bytes, 0)
  }

  /** Stops idle workers, least recently used first, until `bytes` are released. Returns the released bytes. */
  async shrinkWorkers(bytes: number): Promise<number> {
    let releasedBytes = 0
    for (const entry of this.#findOpen()) {
      if (releasedBytes >= bytes) break
      if (entry.isBusy) continue
      const size = await entry.countWorkerBytes()
      if (entry.isBusy) continue
      await entry.release()
      releasedBytes += size
    }
    return releasedBytes
  }

  shrinkResults(bytes: number): number {
    let released = 0
    for (const { results } of this.#loaded.values())
      if (released < bytes) released += results.shrink(bytes - released)
    return released
  }

  async close(): Promise<void> {
    await this.#background.stopAll()
    await Promise.all([...this.#loaded.values()].map((entry) => entry.release()))
    this.#loaded.clear()
  }

  #findOpen(): readonly LoadedRecording[] {
    return [...this.#loaded.values()].filter(({ isOpen }) => isOpen)
  }

  async #insert(entry: LoadedRecording): Promise<void> {
    this.#loaded.set(entry.key, entry)
    this.#options.copies.touch(entry.key)
    const open = this.#findOpen()
    const idleRecordings = open.filter((recording) => recording !== entry && !recording.isBusy)
    const excess = Math.max(0, open.length - this.#options.maxWorkers)
    await Promise.all(idleRecordings.slice(0, excess).map((recording) => recording.release()))
  }

  async #unload(key: string): Promise<void> {
    await this.#background.stop(key)
    const entry = this.#loaded.get(key)
    this.#loaded.delete(key)
    await entry?.release()
  }

  async #runBackgroundWork(entry: LoadedRecording): Promise<void> {
    try {
      await this.#background.run(entry)
    } catch (error) {
      if (RecordingError.is(error, 'RECORDING_DAMAGED')) {
        this.#options.onDamage(entry, error)
        entry.fail(error)
        await this.discard(entry.key)
      } else this.#options.onBackgroundFailure(entry, error)
    }
  }
}
