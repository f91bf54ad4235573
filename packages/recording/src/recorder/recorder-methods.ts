import { type CausewayError, isCausewayError, reviseError } from '@causeway/protocol'
import type { Handlers } from '@causeway/worker'
import { RecordingError } from '../errors.ts'
import { createLineReader, type Line } from '../formats/lines/line-reader.ts'
import { LineSplitter } from '../formats/lines/line-splitter.ts'
import type { RunStatus } from '../formats/run-schema.ts'
import { openRunWriter, type RunProgress, type RunWriter } from './run-writer.ts'

export interface IngestCounts {
  readonly accepted: number
  readonly ignored: number
}

type IngestProgress = IngestCounts & RunProgress

/** Methods of a worker that records one run at a time. `nowMs` is the Unix time in milliseconds. */
export interface RecorderMethods {
  readonly runOpen: (args: {
    readonly file: string
    readonly nowMs: number
    readonly bytes: number
  }) => RunProgress
  /** Receives bytes of lines. An invalid line ends the request; the lines before it are stored. */
  readonly runWrite: (args: { readonly bytes: Uint8Array; readonly nowMs: number }) => IngestProgress
  /** Ends a request. The last line may lack a line feed if the stream is whole. */
  readonly runEnd: (args: { readonly isWhole: boolean; readonly nowMs: number }) => IngestProgress
  /** Stores pending frames. If that fails, the next `runWrite` or `runEnd` throws. */
  readonly runFlush: (args: { readonly nowMs: number }) => RunProgress
  readonly runStatus: (args: { readonly status: RunStatus; readonly nowMs: number }) => RunProgress
  readonly runClose: () => undefined
  readonly runExport: (args: { readonly file: string; readonly to: string }) => undefined
  readonly runImport: (args: { readonly file: string; readonly nowMs: number }) => RunProgress
}

/** Otherwise, 1 MB of compressed blank lines could occupy a worker for minutes. */
export const maxBlankLines = 1_000_000

interface OpenRun {
  readonly writer: RunWriter
  readonly readLine: (text: string) => Line
}

export class RecorderSession {
  #run: OpenRun | undefined
  #lines = new LineSplitter()
  #ignored = 0
  #blankLines = 0
  #framesBefore = 0
  #flushError: unknown

  readonly handlers: Handlers<RecorderMethods> = {
    runOpen: ({ file, nowMs, bytes }) => {
      const writer = openRunWriter(file, nowMs, { bytes })
      this.#run = { writer, readLine: createLineReader(writer.context) }
      this.#beginRequest()
      return writer.flush(nowMs)
    },
    runWrite: ({ bytes, nowMs }) => {
      this.#processLines(nowMs, () => {
        for (const line of this.#lines.push(bytes)) this.#addLine(line, nowMs)
      })
      return this.#count(this.#getRun().writer.stored)
    },
    runEnd: ({ isWhole, nowMs }) => {
      this.#processLines(nowMs, () => {
        const last = isWhole ? this.#lines.end() : undefined
        if (last !== undefined) this.#addLine(last, nowMs)
      })
      const progress = this.#count(this.#getRun().writer.flush(nowMs))
      this.#beginRequest()
      return progress
    },
    runFlush: ({ nowMs }) => {
      const { writer } = this.#getRun()
      try {
        return writer.flush(nowMs)
      } catch (error) {
        this.#flushError = error
        return writer.stored
      }
    },
    runStatus: ({ status, nowMs }) => this.#getRun().writer.setStatus(status, nowMs),
    runClose: () => void this.close(),
    runExport: async ({ file, to }) => {
      const { exportRun } = await import('./export-run.ts')
      exportRun(file, to)
      return undefined
    },
    runImport: async ({ file, nowMs }) => {
      const { importRecording } = await import('./import-run.ts')
      return importRecording(file, this.#getRun().writer, nowMs)
    },
  }

  readonly close = (): void => {
    this.#run?.writer.close()
    this.#run = undefined
    this.#lines = new LineSplitter()
  }

  #getRun(): OpenRun {
    if (!this.#run) throw new Error('no run is open in this worker')
    return this.#run
  }

  #beginRequest(): void {
    this.#lines = new LineSplitter()
    this.#ignored = 0
    this.#blankLines = 0
    this.#flushError = undefined
    this.#framesBefore = this.#getRun().writer.stored.total_frames
  }

  #count(progress: RunProgress): IngestProgress {
    return { ...progress, accepted: progress.total_frames - this.#framesBefore, ignored: this.#ignored }
  }

  /** Runs `work`. If a line fails, stores the lines before it and adds its number to the error. */
  #processLines(nowMs: number, work: () => void): void {
    try {
      // Frames after a failed flush would leave an unreported gap.
      if (this.#flushError !== undefined) throw this.#flushError
      work()
    } catch (error) {
      const { accepted, ignored, last_frame_id } = this.#count(this.#getRun().writer.flush(nowMs))
      const line = this.#lines.count
      this.#beginRequest()
      if (!isCausewayError(error)) throw error
      throw reviseError(error, {
        message: `line ${line}: ${error.message}`,
        data: { ...error.data, line, accepted, ignored, last_frame_id },
      })
    }
  }

  #addLine(text: string, nowMs: number): void {
    if (text.trim() === '') {
      this.#blankLines += 1
      if (this.#blankLines > maxBlankLines) throw tooManyBlankLines()
      return
    }
    this.#blankLines = 0
    const { writer, readLine } = this.#getRun()
    const line = readLine(text)
    if ('run' in line) {
      writer.addRun(line.run)
      return
    }
    if (!writer.addFrame(line.frame, nowMs)) this.#ignored += 1
    if (line.hasContactData) writer.markContactData()
  }
}

const tooManyBlankLines = (): CausewayError =>
  new RecordingError('INVALID_FRAME', `more than ${maxBlankLines} blank lines in a row`, {
    remedy: 'send one JSON object per line',
    data: { path: '', expected: 'a JSON object' },
  })
