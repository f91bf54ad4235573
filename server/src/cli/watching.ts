/** Long commands: a line that shows how far they are, and Ctrl-C that stops them in order. */
import { byteText } from './byte-text.ts'

/** Aborts when the person or a service manager has had enough. */
export function interruption(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}

/** A line on a terminal that is written over; nothing elsewhere, where it would be many lines. */
export interface ProgressLine {
  readonly show: ((done: number, total: number, file: string) => void) | undefined
  /** Takes the line away. */
  end(): void
}

/** Shows bytes done and to do. */
export function progressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (!stream.isTTY) return { show: undefined, end: () => {} }
  let isShown = false
  return {
    show(done, total, file) {
      isShown = true
      stream.write(`\r\x1b[K${byteText(done)} of ${byteText(total)}  ${file}`.slice(0, stream.columns ?? 80))
    },
    end() {
      if (isShown) stream.write('\r\x1b[K')
      isShown = false
    },
  }
}
