/** Output of a command in bounded memory: its beginning, its end, and what looks like a failure between them. */
import stripAnsi from 'strip-ansi'

/** What is kept of one stream. */
export interface Captured {
  /** without escapes; a line in brackets stands where something is left out */
  readonly text: string
  /** all that was written */
  readonly bytes: number
  readonly truncated: boolean
}

/** A stream that is being kept. */
export interface Capture {
  add(chunk: Buffer): void
  end(): Captured
}

/** Bytes kept of the beginning, of failures in the middle, and of the end. */
const [headBytes, middleBytes, tailBytes] = [64 * 1024, 64 * 1024, 256 * 1024]

/** What makes a line of the middle worth keeping, with what follows it. */
const telling = ['Error', 'FAIL', 'not ok', 'Traceback', 'panic', '✖']
const tellingLine = /\b\w*Error\b|\bFAIL(ED|URE)?\b|^\s*not ok\b|^Traceback|^panic|✖/
const linesAfter = 20

/** Begins to keep a stream. */
export function capture(): Capture {
  const head: Buffer[] = []
  const tail: Buffer[] = []
  const middle: string[] = []
  const size = { head: 0, tail: 0, middle: 0, all: 0 }

  const keepMiddle = (chunk: Buffer): void => {
    if (size.middle >= middleBytes || !telling.some((word) => chunk.includes(word))) return
    const lines = chunk.toString('utf8').split('\n')
    let wanted = 0
    for (const line of lines) {
      if (tellingLine.test(line)) wanted = linesAfter
      if (wanted-- <= 0 || size.middle >= middleBytes) continue
      const kept = line.slice(0, 2000)
      middle.push(kept)
      size.middle += kept.length + 1
    }
  }
  const dropOldest = (): void => {
    for (let first = tail[0]; first !== undefined && size.tail - first.length >= tailBytes; first = tail[0]) {
      tail.shift()
      size.tail -= first.length
      keepMiddle(first)
    }
  }
  return {
    add(chunk) {
      size.all += chunk.length
      const room = headBytes - size.head
      if (room > 0) {
        head.push(chunk.subarray(0, room))
        size.head += Math.min(room, chunk.length)
      }
      if (chunk.length <= room) return
      const rest = chunk.subarray(Math.max(0, room))
      tail.push(rest)
      size.tail += rest.length
      dropOldest()
    },
    end() {
      const kept = Buffer.concat(tail)
      const end = kept.length > tailBytes ? kept.subarray(kept.length - tailBytes) : kept
      const left = size.all - size.head - end.length
      const texts = [
        Buffer.concat(head).toString('utf8'),
        ...(left > 0 ? [`\n[${left} bytes are left out]\n`] : []),
        ...(middle.length > 0 ? [`${middle.join('\n')}\n[…]\n`] : []),
        end.toString('utf8'),
      ]
      return { text: tidy(texts.join('')), bytes: size.all, truncated: left > 0 }
    },
  }
}

/** Without escapes, without what a carriage return wrote over, and with repeated lines told once. */
export function tidy(text: string): string {
  const lines = stripAnsi(text).replaceAll('\r\n', '\n').split('\n')
  const shown: string[] = []
  let repeats = 0
  const flush = (): void => {
    if (repeats > 2) shown.push(`[the line above ${repeats} times more]`)
    else for (; repeats > 0; repeats--) shown.push(shown.at(-1) ?? '')
    repeats = 0
  }
  for (const line of lines) {
    const last = line.slice(line.lastIndexOf('\r') + 1)
    if (last !== '' && last === shown.at(-1)) {
      repeats++
      continue
    }
    flush()
    shown.push(last)
  }
  flush()
  return shown.join('\n')
}
