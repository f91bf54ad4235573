/** The answers that are under way, so that stopping can wait for them. */
import { CausewayError } from '@causeway/protocol'

/** Counts answers; once stopping, refuses new ones. */
export interface Inflight {
  readonly isStopping: boolean
  /** Throws `SHUTTING_DOWN` once `stop` was called, and `OVERLOADED`; for streams, which stopping does not wait for. */
  admit(): void
  /**
   * Runs one answer to its last byte. Rejects as `admit` throws. `leave` says that it has become a stream without an end
   * of its own, which stopping does not wait for.
   */
  run<T>(answer: (leave: () => void) => Promise<T>): Promise<T>
  /** Refuses from now on; resolves when the last answer is done. */
  stop(): Promise<void>
}

/** When it is too much. */
export interface Crowd {
  /** Answers under way at once. */
  readonly max?: number
  /** True while the process itself cannot follow. */
  isOverloaded?(): boolean
  /** True while memory is short: then one answer at a time. */
  isShort?(): boolean
  /** Hears of each request that is turned away, and for want of what. */
  onRefused?(want: Want): void
}

/** What there was too little of: places among those that are answered, memory, or time to follow. */
export type Want = 'places' | 'memory' | 'time'

/** Who was turned away for want of room is told to come again after this time. */
const retryMs = 1000

/** Makes the count, at zero. */
export function inflight({
  max = Number.POSITIVE_INFINITY,
  isOverloaded = () => false,
  isShort = () => false,
  onRefused = () => {},
}: Crowd = {}): Inflight {
  let running = 0
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let isStopping = false
  const wanting = (): Want | undefined => {
    if (isOverloaded()) return 'time'
    if (running >= max) return 'places'
    // Not none: a limit that is too small for the server itself makes it slow, and must not make it useless.
    return running >= 1 && isShort() ? 'memory' : undefined
  }
  const admit = (): void => {
    if (isStopping) throw new CausewayError('SHUTTING_DOWN', 'the server is stopping')
    const want = wanting()
    if (want === undefined) return
    onRefused(want)
    throw new CausewayError('OVERLOADED', `the server is busy with ${running} requests`, {
      data: { retry_after_ms: retryMs },
    })
  }
  return {
    get isStopping() {
      return isStopping
    },
    admit,
    async run(answer) {
      admit()
      running += 1
      let isCounted = true
      const leave = (): void => {
        if (!isCounted) return
        isCounted = false
        running -= 1
        if (isStopping && running === 0) finish()
      }
      try {
        return await answer(leave)
      } finally {
        leave()
      }
    },
    stop() {
      isStopping = true
      if (running === 0) finish()
      return finished
    },
  }
}
