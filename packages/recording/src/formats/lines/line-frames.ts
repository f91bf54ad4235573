import { RecordingError } from '../../errors.ts'
import type { FrameSource } from '../frame-source.ts'
import { createLineReader, type Line } from './line-reader.ts'
import { LineSplitter } from './line-splitter.ts'
import type { RunContext } from './run-line.ts'

/** Without a limit, 1 MB of compressed blank lines could occupy a worker for minutes. */
export const maxBlankLines = 1_000_000

export class LineFrames implements FrameSource {
  readonly unit = 'line'
  readonly isTruncated = false
  readonly #lines = new LineSplitter()
  readonly #readLine: (text: string) => Line
  #blankLines = 0

  constructor(context: RunContext) {
    this.#readLine = createLineReader(context)
  }

  get count(): number {
    return this.#lines.count
  }

  *push(bytes: Uint8Array): Generator<Line> {
    for (const text of this.#lines.push(bytes)) yield* this.#read(text)
  }

  *end(): Generator<Line> {
    const last = this.#lines.end()
    if (last !== undefined) yield* this.#read(last)
  }

  *#read(text: string): Generator<Line> {
    if (text.trim() !== '') {
      this.#blankLines = 0
      yield this.#readLine(text)
      return
    }
    this.#blankLines += 1
    if (this.#blankLines > maxBlankLines)
      throw new RecordingError('INVALID_FRAME', `more than ${maxBlankLines} blank lines in a row`, {
        remedy: 'send one JSON object per line',
        data: { path: '', expected: 'a JSON object' },
      })
  }
}
