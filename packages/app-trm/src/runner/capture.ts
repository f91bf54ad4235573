import stripAnsi from 'strip-ansi'

export interface CapturedOutput {
  /** Without escape sequences. A line in brackets replaces omitted output. */
  readonly text: string
  readonly bytes: number
  readonly truncated: boolean
}

const [headBytes, middleBytes, tailBytes] = [64 * 1024, 64 * 1024, 256 * 1024]

/** Patterns of failures, and the number of lines to store for each failure. */
const failureWords = ['Error', 'FAIL', 'not ok', 'Traceback', 'panic', '✖']
const failureLine = /\b\w*Error\b|\bFAIL(ED|URE)?\b|^\s*not ok\b|^Traceback|^panic|✖/
const linesPerFailure = 20

/** Stores the beginning, the end and failures of a stream in bounded memory. */
export class Capture {
  readonly #head: Buffer[] = []
  readonly #tail: Buffer[] = []
  readonly #middle: string[] = []
  readonly #size = { head: 0, tail: 0, middle: 0, all: 0 }

  add(chunk: Buffer): void {
    const size = this.#size
    size.all += chunk.length
    const freeBytes = headBytes - size.head
    if (freeBytes > 0) {
      this.#head.push(chunk.subarray(0, freeBytes))
      size.head += Math.min(freeBytes, chunk.length)
    }
    if (chunk.length <= freeBytes) return
    const remainder = chunk.subarray(Math.max(0, freeBytes))
    this.#tail.push(remainder)
    size.tail += remainder.length
    for (let first = this.#tail[0]; first && size.tail - first.length >= tailBytes; first = this.#tail[0]) {
      this.#tail.shift()
      size.tail -= first.length
      this.#addFailures(first)
    }
  }

  finish(): CapturedOutput {
    const tail = Buffer.concat(this.#tail)
    const end = tail.subarray(Math.max(0, tail.length - tailBytes))
    const omittedBytes = this.#size.all - this.#size.head - end.length
    const texts = [
      Buffer.concat(this.#head).toString('utf8'),
      ...(omittedBytes > 0 ? [`\n[${omittedBytes} bytes omitted]\n`] : []),
      ...(this.#middle.length > 0 ? [`${this.#middle.join('\n')}\n[…]\n`] : []),
      end.toString('utf8'),
    ]
    return { text: cleanOutput(texts.join('')), bytes: this.#size.all, truncated: omittedBytes > 0 }
  }

  #addFailures(chunk: Buffer): void {
    const size = this.#size
    if (size.middle >= middleBytes || !failureWords.some((word) => chunk.includes(word))) return
    let remaining = 0
    for (const line of chunk.toString('utf8').split('\n')) {
      if (failureLine.test(line)) remaining = linesPerFailure
      if (remaining-- <= 0 || size.middle >= middleBytes) continue
      const shortLine = line.slice(0, 2000)
      this.#middle.push(shortLine)
      size.middle += shortLine.length + 1
    }
  }
}

/** Removes escape sequences and text overwritten by a carriage return, and collapses repeated lines. */
export function cleanOutput(text: string): string {
  const lines = stripAnsi(text).replaceAll('\r\n', '\n').split('\n')
  const cleanedLines: string[] = []
  let repeats = 0
  const flush = (): void => {
    if (repeats > 2) cleanedLines.push(`[the line above ${repeats} more times]`)
    else for (; repeats > 0; repeats--) cleanedLines.push(cleanedLines.at(-1) ?? '')
    repeats = 0
  }
  for (const line of lines) {
    const visibleText = line.slice(line.lastIndexOf('\r') + 1)
    if (visibleText !== '' && visibleText === cleanedLines.at(-1)) {
      repeats++
      continue
    }
    flush()
    cleanedLines.push(visibleText)
  }
  flush()
  return cleanedLines.join('\n')
}
