/** What a worker does to record a run: bytes of lines in, flushes out. One run at a time. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { HandlersOf } from '@causeway/worker'
import { type LineSplitter, lineSplitter } from './line-splitter.ts'
import type { Ingested } from './recorder-types.ts'
import type { RunStatus } from './run-schema.ts'
import { openRunWriter, type RunProgress, type RunWriter } from './run-writer.ts'
import { type Line, lineReader } from './wire-frame.ts'

/** Methods of a worker that records. */
export interface RecorderMethods {
  /** Opens or creates a run file; `bytes` bounds it. */
  readonly runOpen: (args: {
    readonly file: string
    readonly nowMs: number
    readonly bytes: number
  }) => RunProgress
  /** Takes bytes of lines. A line that does not fit ends the request: what stands before it is stored first. */
  readonly runWrite: (args: { readonly bytes: Uint8Array; readonly nowMs: number }) => Ingested & RunProgress
  /** Ends a request: its last line may lack an end, unless the connection broke in the middle of it. */
  readonly runEnd: (args: { readonly isWhole: boolean; readonly nowMs: number }) => Ingested & RunProgress
  /** Stores what waits; where that fails, the next `runWrite` or `runEnd` throws. */
  readonly runFlush: (args: { readonly nowMs: number }) => RunProgress
  readonly runStatus: (args: { readonly status: RunStatus; readonly nowMs: number }) => RunProgress
  /** Closes the run file. */
  readonly runClose: () => undefined
  /** Writes a run file as a recording of the C++ recorder to a new file. */
  readonly runExport: (args: { readonly file: string; readonly to: string }) => undefined
  /** Reads a private copy of a recording of the C++ recorder into the open run, which is new. */
  readonly runImport: (args: { readonly file: string; readonly nowMs: number }) => RunProgress
}

/** Compressed bodies could otherwise occupy a worker for minutes with 1 MB. */
export const maxBlankLines = 1_000_000

/** Makes the methods of one worker, and what lets go of its run. */
export function recorderMethods(): {
  readonly handlers: HandlersOf<RecorderMethods>
  readonly close: () => void
} {
  let current: { readonly writer: RunWriter; readonly readLine: (text: string) => Line } | undefined
  let lines: LineSplitter = lineSplitter()
  let ignored = 0
  let blankLines = 0
  let before = 0
  let failure: unknown
  const opened = (): NonNullable<typeof current> => {
    if (!current) throw new Error('no run is open in this worker')
    return current
  }
  const open = (): RunWriter => opened().writer
  const take = (text: string, nowMs: number): void => {
    if (text.trim() === '') {
      if (++blankLines > maxBlankLines) throw tooManyBlankLines()
      return
    }
    blankLines = 0
    const { writer, readLine } = opened()
    const line = readLine(text)
    if ('run' in line) writer.addRun(line.run)
    else {
      if (!writer.addFrame(line.frame, nowMs)) ignored++
      if (line.tellsContacts) writer.tellContacts()
    }
  }
  const ingested = (progress: RunProgress): Ingested & RunProgress => ({
    ...progress,
    accepted: progress.total_frames - before,
    ignored,
  })
  const begin = (): void => {
    lines = lineSplitter()
    ignored = 0
    blankLines = 0
    failure = undefined
    before = open().stored().total_frames
  }
  /** Runs over lines; where one of them fails, those before it are stored and the error says which it was. */
  const over = (nowMs: number, work: () => void): void => {
    try {
      // Frames after those that could not be stored would leave a gap that nobody is told of.
      if (failure !== undefined) throw failure
      work()
    } catch (error) {
      const { accepted, last_frame_id } = ingested(open().flush(nowMs))
      const at = { line: lines.count, accepted, ignored, last_frame_id }
      begin()
      throw isCausewayError(error) ? atLine(error, at) : error
    }
  }
  const close = (): void => {
    current?.writer.close()
    current = undefined
    lines = lineSplitter()
  }
  const handlers: HandlersOf<RecorderMethods> = {
    runOpen({ file, nowMs, bytes }) {
      const writer = openRunWriter(file, nowMs, { bytes })
      current = { writer, readLine: lineReader(writer.knowledge) }
      begin()
      return writer.flush(nowMs)
    },
    runWrite({ bytes, nowMs }) {
      over(nowMs, () => {
        for (const line of lines.push(bytes)) take(line, nowMs)
      })
      return ingested(open().stored())
    },
    runEnd({ isWhole, nowMs }) {
      over(nowMs, () => {
        const last = isWhole ? lines.end() : undefined
        if (last !== undefined) take(last, nowMs)
      })
      const done = ingested(open().flush(nowMs))
      begin()
      return done
    },
    runFlush({ nowMs }) {
      try {
        return open().flush(nowMs)
      } catch (error) {
        failure = error
        return open().stored()
      }
    },
    runStatus: ({ status, nowMs }) => open().setStatus(status, nowMs),
    runClose: () => void close(),
    // What few runs need is loaded when one does: a recorder is ready a third sooner without it.
    async runExport({ file, to }) {
      const { exportRun } = await import('./export-run.ts')
      exportRun(file, to)
      return undefined
    },
    async runImport({ file, nowMs }) {
      const { importRecording } = await import('./import-run.ts')
      return importRecording(file, open(), nowMs)
    },
  }
  return { handlers, close }
}

const tooManyBlankLines = (): CausewayError =>
  new CausewayError('INVALID_FRAME', `more than ${maxBlankLines} blank lines in a row`, {
    remedy: 'send one JSON object a line',
    data: { path: '', expected: 'a JSON object' },
  })

/** The same error with the line that it happened on, and with what the client needs to go on. */
function atLine(error: CausewayError, at: Readonly<Record<string, number | null>>): CausewayError {
  const { code, message, remedy, data } = error
  return new CausewayError(code, `line ${at.line}: ${message}`, {
    remedy,
    data: { ...data, ...at },
    cause: error,
  })
}
