/** Answers, streams and sockets that are open, judged again while they last: a token may be withdrawn meanwhile. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Admission } from './admission.ts'

/** What is open. */
export interface Recheck {
  /** Judges these headers again until the result is called; `end` runs when they would no longer come in. */
  watch(headers: IncomingHttpHeaders, end: () => void): () => void
  close(): void
}

interface Watched {
  readonly headers: IncomingHttpHeaders
  readonly end: () => void
}

/** Begins to judge; all in one turn every so often, since a timer for each would cost more than the answers. */
export function openRecheck(admission: Admission, everyMs = 1000): Recheck {
  const open = new Set<Watched>()
  const timer = setInterval(() => {
    for (const one of [...open]) {
      try {
        admission.admit(one)
      } catch {
        open.delete(one)
        one.end()
      }
    }
  }, everyMs).unref()
  return {
    watch(headers, end) {
      const one = { headers, end }
      open.add(one)
      return () => void open.delete(one)
    },
    close: () => clearInterval(timer),
  }
}
