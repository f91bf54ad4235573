import type { Output } from '../stdio/output.ts'

export interface Source {
  pause(): void
  resume(): void
}

interface Options {
  readonly output: Pick<Output, 'isBlocked' | 'whenWritable'>
  /** Maximum total size of incomplete messages; default: 16 MiB. */
  readonly maxBytes?: number
  /** Milliseconds after which a response without progress no longer blocks others; default: 1000. */
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
  readonly #bufferedBytes = new Map<Source, number>()
  readonly #pausedSources = new Set<Source>()
  #totalBytes = 0
  #stallTimer: NodeJS.Timeout | undefined
  #isScheduled = false

  constructor({ output, maxBytes = 16 * 1024 * 1024, stallMs = 1000 }: Options) {
    this.#output = output
    this.#maxBytes = maxBytes
    this.#stallMs = stallMs
  }

  /** Pauses the source if required. `bytes` is the size of its incomplete message. */
  update(source: Source, bytes: number): void {
    this.#setBuffered(source, bytes)
    const exceedsLimit = this.#totalBytes > this.#maxBytes
    if (
      this.#output.isBlocked ||
      (exceedsLimit && this.#findLargest(this.#bufferedBytes.keys()) !== source)
    ) {
      this.#pausedSources.add(source)
      source.pause()
      this.#scheduleResume()
    } else if (exceedsLimit && this.#pausedSources.size > 0) this.#watchStall()
  }

  end(source: Source): void {
    this.#setBuffered(source, 0)
    this.#pausedSources.delete(source)
    this.#scheduleResume()
  }

  #setBuffered(source: Source, bytes: number): void {
    const previousBytes = this.#bufferedBytes.get(source) ?? 0
    if (bytes === previousBytes) return
    this.#totalBytes += bytes - previousBytes
    if (bytes === 0) this.#bufferedBytes.delete(source)
    else this.#bufferedBytes.set(source, bytes)
  }

  /** Returns the source with the most bytes, which is probably the closest to its end. */
  #findLargest(sources: Iterable<Source>): Source | undefined {
    let largestSource: Source | undefined
    for (const source of sources)
      if (
        largestSource === undefined ||
        (this.#bufferedBytes.get(source) ?? 0) > (this.#bufferedBytes.get(largestSource) ?? 0)
      )
        largestSource = source
    return largestSource
  }

  #resume(source: Source): void {
    this.#pausedSources.delete(source)
    source.resume()
  }

  #resumeAllowed(): void {
    clearTimeout(this.#stallTimer)
    if (this.#pausedSources.size === 0) return
    if (this.#output.isBlocked) this.#scheduleResume()
    else if (this.#totalBytes <= this.#maxBytes)
      for (const source of [...this.#pausedSources]) this.#resume(source)
    else {
      const isAnyRunning = [...this.#bufferedBytes.keys()].some((source) => !this.#pausedSources.has(source))
      const next = this.#findLargest(this.#pausedSources)
      if (!isAnyRunning && next !== undefined) this.#resume(next)
      this.#watchStall()
    }
  }

  /** Resumes in a later tick: undici's parser is not reentrant. */
  #scheduleResume(): void {
    if (this.#isScheduled || this.#pausedSources.size === 0) return
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
      const next = this.#findLargest(this.#pausedSources)
      if (next !== undefined && !this.#output.isBlocked) this.#resume(next)
      if (this.#pausedSources.size > 0) this.#watchStall()
    }, this.#stallMs).unref()
  }
}
