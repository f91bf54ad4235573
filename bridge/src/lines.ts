const newline = 0x0a
const carriageReturn = 0x0d
const space = 0x20

/**
 * Bytes to lines. Feed it chunks as they come; a line that spans many chunks is joined once, so the cost is linear.
 * Lines come without their end (LF or CRLF); blank ones are left out.
 */
export class LineSplitter {
  #pieces: Buffer[] = []

  /** The lines that this chunk completes. */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#pieces.push(chunk.subarray(start, end))
      this.#take(lines)
      start = end + 1
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start))
    return lines
  }

  /** The last line, where the input ended without a newline. */
  end(): Buffer[] {
    const lines: Buffer[] = []
    this.#take(lines)
    return lines
  }

  #take(lines: Buffer[]): void {
    const line = withoutReturn(joined(this.#pieces))
    this.#pieces = []
    if (!isBlank(line)) lines.push(line)
  }
}

/** Pieces as one buffer; a single piece is not copied. */
export const joined = (pieces: readonly Buffer[]): Buffer =>
  pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)

/**
 * A JSON text on one line. Inside strings JSON allows no raw line end, so every one that is there is white space and
 * becomes a space, in place: nothing is parsed or written anew.
 */
export function onOneLine(json: Buffer): Buffer {
  for (const end of [newline, carriageReturn])
    for (let at = json.indexOf(end); at !== -1; at = json.indexOf(end, at + 1)) json[at] = space
  return json
}

const withoutReturn = (line: Buffer): Buffer =>
  line[line.length - 1] === carriageReturn ? line.subarray(0, -1) : line

function isBlank(line: Buffer): boolean {
  for (const byte of line) if (byte > space) return false
  return true
}
