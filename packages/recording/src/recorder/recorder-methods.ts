import { isCausewayError, reviseError } from '@causeway/protocol'
import type { Handlers } from '@causeway/worker'
import { createSource } from '../formats/create-source.ts'
import type { FrameSource } from '../formats/frame-source.ts'
import type { Line } from '../formats/lines/line-reader.ts'
import type { RunStatus } from '../formats/run-schema.ts'
import { checkpointRun, openRunWriter, type RunProgress, type RunWriter } from './run-writer.ts'

export interface IngestCounts {
  readonly accepted: number
  readonly ignored: number
}

export interface IngestProgress extends IngestCounts, RunProgress {
  /** Whether the stream lacks the end that its format requires. */
  readonly isTruncated: boolean
}

/** A worker that records one run at a time. `nowMs` is Unix time. */
export interface RecorderMethods {
  readonly runOpen: (args: {
    readonly file: string
    readonly nowMs: number
    readonly bytes: number
    readonly expectedBytes: number
  }) => RunProgress
  /** Accepts JSON lines or MCAP. An invalid line or message ends the request; those before it are stored. */
  readonly runWrite: (args: {
    readonly parts: readonly Uint8Array[]
    readonly nowMs: number
  }) => IngestProgress
  /** Ends a request. If `isWhole`, stores a last line without line feed. */
  readonly runEnd: (args: { readonly isWhole: boolean; readonly nowMs: number }) => IngestProgress
  /** Stores pending frames. If that fails, the next `runWrite` or `runEnd` throws. */
  readonly runFlush: (args: { readonly nowMs: number }) => RunProgress
  readonly runStatus: (args: { readonly status: RunStatus; readonly nowMs: number }) => RunProgress
  readonly runClose: () => undefined
  /** Checkpoints a run that another worker writes. Returns the size of its log. */
  readonly runCheckpoint: (args: { readonly file: string }) => number
  readonly runExport: (args: { readonly file: string; readonly to: string }) => undefined
  /** If `isUnchecked` is set, checks and indexes the file first. */
  readonly runImport: (args: {
    readonly file: string
    readonly isUnchecked: boolean
    readonly nowMs: number
  }) => RunProgress
}

export class RecorderSession {
  #writer: RunWriter | undefined
  /** The first byte of a request selects the format. */
  #source: FrameSource | undefined
  #ignored = 0
  #framesBefore = 0
  #flushError: unknown

  readonly handlers: Handlers<RecorderMethods> = {
    runOpen: ({ file, nowMs, bytes, expectedBytes }) => {
      this.#writer = openRunWriter(file, nowMs, { bytes, expectedBytes })
      this.#beginRequest()
      return this.#writer.flush(nowMs)
    },
    runWrite: async ({ parts, nowMs }) => {
      for (const bytes of parts) {
        if (bytes.length > 0) this.#source ??= await createSource(bytes, this.#getWriter().context)
        this.#store(nowMs, (source) => source.push(bytes))
      }
      return this.#count(this.#getWriter().stored)
    },
    runEnd: ({ isWhole, nowMs }) => {
      try {
        if (isWhole) this.#store(nowMs, (source) => source.end())
        return this.#count(this.#getWriter().flush(nowMs))
      } finally {
        this.#beginRequest()
      }
    },
    runFlush: ({ nowMs }) => {
      const writer = this.#getWriter()
      try {
        return writer.flush(nowMs)
      } catch (error) {
        this.#flushError = error
        return writer.stored
      }
    },
    runStatus: ({ status, nowMs }) => this.#getWriter().setStatus(status, nowMs),
    runClose: () => void this.close(),
    runCheckpoint: ({ file }) => checkpointRun(file),
    runExport: async ({ file, to }) => {
      const { exportRun } = await import('./export-run.ts')
      exportRun(file, to)
      return undefined
    },
    runImport: async ({ file, isUnchecked, nowMs }) => {
      const { importRecording, prepareUpload } = await import('./import-run.ts')
      if (isUnchecked) prepareUpload(file)
      return importRecording(file, this.#getWriter(), nowMs)
    },
  }

  readonly close = (): void => {
    this.#writer?.close()
    this.#writer = undefined
    this.#source = undefined
  }

  #getWriter(): RunWriter {
    if (!this.#writer) throw new Error('no run is open in this worker')
    return this.#writer
  }

  #beginRequest(): void {
    this.#source = undefined
    this.#ignored = 0
    this.#flushError = undefined
    this.#framesBefore = this.#getWriter().stored.total_frames
  }

  #count(progress: RunProgress): IngestProgress {
    const accepted = progress.total_frames - this.#framesBefore
    return { ...progress, accepted, ignored: this.#ignored, isTruncated: this.#source?.isTruncated ?? false }
  }

  /** On an error, stores the lines before the invalid one, whose number it adds to the error. */
  #store(nowMs: number, read: (source: FrameSource) => Iterable<Line>): void {
    const source = this.#source
    try {
      // Frames after a failed flush would leave an unreported gap.
      if (this.#flushError !== undefined) throw this.#flushError
      if (source !== undefined)
        for (const line of read(source)) if (!this.#getWriter().add(line, nowMs)) this.#ignored += 1
    } catch (error) {
      const { accepted, ignored, last_frame_id } = this.#count(this.#getWriter().flush(nowMs))
      const { unit, count } = source ?? { unit: 'line', count: 0 }
      this.#beginRequest()
      if (!isCausewayError(error)) throw error
      throw reviseError(error, {
        message: `${unit} ${count}: ${error.message}`,
        data: { ...error.data, line: count, accepted, ignored, last_frame_id },
      })
    }
  }
}
