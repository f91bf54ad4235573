import type { Output } from '../stdio/output.ts'

export interface Source {
  pause(): void
  resume(): void
}

interface Options {
  readonly output: Pick<Output, 'isBlocked' | 'whenWritable'>
  /** Maximum total size of incomplete messages; default: 16 MiB. */
  readonly maxBytes?: number
  /** Time after which a response without progress no longer blocks others; default: 1000. */
  readonly stallMs?: number
}

/**
 * Pauses all responses while the client does not read, and all but one while incomplete messages exceed
 * `maxBytes`.
 */
export class Backpressure {
  readonly #output: Options['output']
  readonly #maxBytes: number
  readonly #stallMs: number
  readonly #buffered = new Map<Source, number>()
  readonly #paused = new Set<Source>()
  #total = 0
  #stallTimer: NodeJS.Timeout | undefined
  #isScheduled = false

  constructor({ output, maxBytes = 16 * 1024 * 1024, stallMs = 1000 }: Options) {
    this.#output = output
    this.#maxBytes = maxBytes
    this.#stallMs = stallMs
  }

  /** `bytes` is the size of the incomplete message. */
  update(source: Source, bytes: number): void {
    this.#setBuffered(source, bytes)
    const isOver = this.#total > this.#maxBytes
    if (this.#output.isBlocked || (isOver && this.#largest(this.#buffered.keys()) !== source)) {
      this.#paused.add(source)
      source.pause()
      this.#scheduleResume()
    } else if (isOver && this.#paused.size > 0) this.#watchStall()
  }

  end(source: Source): void {
    this.#setBuffered(source, 0)
    this.#paused.delete(source)
    this.#scheduleResume()
  }

  #setBuffered(source: Source, bytes: number): void {
    const before = this.#buffered.get(source) ?? 0
    if (bytes === before) return
    this.#total += bytes - before
    if (bytes === 0) this.#buffered.delete(source)
    else this.#buffered.set(source, bytes)
  }

  /** Returns the source with the most bytes, which is probably the closest to its end. */
  #largest(sources: Iterable<Source>): Source | undefined {
    let largest: Source | undefined
    for (const source of sources)
      if (largest === undefined || (this.#buffered.get(source) ?? 0) > (this.#buffered.get(largest) ?? 0))
        largest = source
    return largest
  }

  #resume(source: Source): void {
    this.#paused.delete(source)
    source.resume()
  }

  #resumeAllowed(): void {
    clearTimeout(this.#stallTimer)
    if (this.#paused.size === 0) return
    if (this.#output.isBlocked) this.#scheduleResume()
    else if (this.#total <= this.#maxBytes) for (const source of [...this.#paused]) this.#resume(source)
    else {
      const isAnyRunning = [...this.#buffered.keys()].some((source) => !this.#paused.has(source))
      const next = this.#largest(this.#paused)
      if (!isAnyRunning && next !== undefined) this.#resume(next)
      this.#watchStall()
    }
  }

  /** Resumes in a later tick: undici's parser is not reentrant. */
  #scheduleResume(): void {
    if (this.#isScheduled || this.#paused.size === 0) return
    this.#isScheduled = true
    this.#output.whenWritable(() =>
      setImmediate(() => {
        this.#isScheduled = false
        this.#resumeAllowed()
      }),
    )
  }

  #watchStall(): void {
    clearTimeout(this.#stallTimer)
    this.#stallTimer = setTimeout(() => {
      const next = this.#largest(this.#paused)
      if (next !== undefined && !this.#output.isBlocked) this.#resume(next)
      if (this.#paused.size > 0) this.#watchStall()
    }, this.#stallMs).unref()
  }
}
