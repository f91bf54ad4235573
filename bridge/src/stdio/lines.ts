import type { Readable } from 'node:stream'

const newline = 0x0a
const carriageReturn = 0x0d
const space = 0x20

/** Splits chunks into lines, in linear time. Removes line breaks (LF or CRLF) and skips blank lines. */
export class LineSplitter {
  #chunks: Buffer[] = []

  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#chunks.push(chunk.subarray(start, end))
      this.#addLine(lines)
      start = end + 1
    }
    if (start < chunk.length) this.#chunks.push(chunk.subarray(start))
    return lines
  }

  /** Returns the last line if it has no line break. */
  end(): Buffer[] {
    const lines: Buffer[] = []
    this.#addLine(lines)
    return lines
  }

  #addLine(lines: Buffer[]): void {
    const line = trimReturn(concat(this.#chunks))
    this.#chunks = []
    if (!isBlank(line)) lines.push(line)
  }
}

export function readLines(input: Readable, onLine: (line: Buffer) => void): Promise<void> {
  const lines = new LineSplitter()
  input.on('data', (chunk: Buffer) => lines.push(chunk).forEach(onLine))
  return new Promise((resolve, reject) => {
    input.once('error', reject)
    input.once('end', () => {
      lines.end().forEach(onLine)
      resolve()
    })
  })
}

/** Returns the buffer itself if there is only one. */
export const concat = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)

/** Replaces line breaks with spaces, in place. JSON strings contain no raw line breaks. */
export function replaceLineBreaks(json: Buffer): Buffer {
  for (const end of [newline, carriageReturn])
    for (let at = json.indexOf(end); at !== -1; at = json.indexOf(end, at + 1)) json[at] = space
  return json
}

const trimReturn = (line: Buffer): Buffer =>
  line[line.length - 1] === carriageReturn ? line.subarray(0, -1) : line

function isBlank(line: Buffer): boolean {
  for (const byte of line) if (byte > space) return false
  return true
}
