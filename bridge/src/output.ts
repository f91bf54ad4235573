import type { Writable } from 'node:stream'
import { onOneLine } from './lines.ts'

/** The way to the client: one JSON text per line, nothing else. */
export interface Output {
  /** Writes a message. The buffer becomes the output's: line ends in it are replaced in place. */
  write(json: Buffer): void
  /** True while the client reads slower than the server answers. */
  isBlocked(): boolean
  /** Calls back once the client has caught up; at once when it has. */
  whenOpen(then: () => void): void
  /** Resolves when everything written has left the process, or cannot any more. */
  flushed(): Promise<void>
}

const newline = Buffer.from('\n')

/** `onClosed` is called once, when the client has closed its end. */
export function createOutput(stream: Writable, onClosed: () => void): Output {
  let isBlocked = false
  let isClosed = false
  let waiting: (() => void)[] = []

  const open = (): void => {
    isBlocked = false
    const released = waiting
    waiting = []
    for (const then of released) then()
  }
  stream.on('drain', open)
  stream.on('error', () => {
    if (isClosed) return
    isClosed = true
    open()
    onClosed()
  })

  return {
    write(json) {
      if (isClosed) return
      stream.cork()
      stream.write(onOneLine(json))
      isBlocked = !stream.write(newline) || isBlocked
      process.nextTick(() => stream.uncork())
    },
    isBlocked: () => isBlocked,
    whenOpen: (then) => (isBlocked ? void waiting.push(then) : then()),
    flushed: () =>
      new Promise((resolve) => {
        if (isClosed) resolve()
        else stream.write('', () => resolve())
      }),
  }
}
