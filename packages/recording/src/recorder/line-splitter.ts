/** Bytes to lines. */
import { CausewayError } from '@causeway/protocol'

/** Longest line: some 10,000 bodies with contacts. */
export const longestLine = 16 * 1024 ** 2

/** Cuts a stream of bytes at its line feeds; what is left at the end is a line too if `end` is called. */
export interface LineSplitter {
  /** Lines that these bytes complete, without their ends; throws `INVALID_FRAME` for one that is too long. */
  push(bytes: Uint8Array): Generator<string>
  /** The last line, which has no end, or undefined. */
  end(): string | undefined
  /** Number of lines that have come out so far. */
  readonly count: number
}

/** Starts a stream. */
export function lineSplitter(limit = longestLine): LineSplitter {
  let parts: Uint8Array[] = []
  let held = 0
  let count = 0
  const take = (last: Uint8Array): string => {
    count++
    const whole = held === 0 ? last : Buffer.concat([...parts, last])
    const text = Buffer.from(whole.buffer, whole.byteOffset, whole.length).toString('utf8')
    parts = []
    held = 0
    return text
  }
  const hold = (rest: Uint8Array): void => {
    if (held + rest.length > limit) {
      count++
      throw new CausewayError('INVALID_FRAME', `the line is longer than ${limit} bytes`, {
        remedy: 'end each frame with a line feed',
        data: { path: '', expected: `at most ${limit} bytes` },
      })
    }
    if (rest.length === 0) return
    parts.push(rest)
    held += rest.length
  }
  return {
    *push(bytes) {
      let from = 0
      for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
        if (held + to - from > limit) hold(bytes.subarray(from, to))
        const line = take(bytes.subarray(from, to))
        from = to + 1
        yield line
      }
      hold(bytes.subarray(from))
    },
    end: () => (held === 0 ? undefined : take(new Uint8Array(0))),
    get count() {
      return count
    },
  }
}
