import type { Output } from './output.ts'

/** The reading side of one HTTP answer. */
export interface Source {
  pause(): void
  resume(): void
}

/**
 * Holds back the answers: all of them while the client does not read, and all but one while together they have
 * gathered more than the bridge may keep.
 */
export interface Flow {
  /** After each piece: how many bytes of a message that is not complete this answer keeps by now. */
  gathered(source: Source, bytes: number): void
  /** The answer is complete, or never will be. */
  ended(source: Source): void
}

interface Parts {
  readonly output: Pick<Output, 'isBlocked' | 'whenOpen'>
  /** What all unfinished messages may keep together, in bytes. */
  readonly allowance: number
  /** An answer that gathers nothing for so long no longer keeps the others back, in milliseconds. */
  readonly patienceMs: number
}

export function createFlow({ output, allowance, patienceMs }: Parts): Flow {
  const kept = new Map<Source, number>()
  const paused = new Set<Source>()
  let total = 0
  let stalled: NodeJS.Timeout | undefined
  let isAwaited = false
  let isScheduled = false

  const keep = (source: Source, bytes: number): void => {
    total += bytes - (kept.get(source) ?? 0)
    if (bytes === 0) kept.delete(source)
    else kept.set(source, bytes)
  }

  /** The answer that is nearest to its end, as far as one can know, goes on first. */
  const largest = (sources: Iterable<Source>): Source | undefined => {
    let found: Source | undefined
    for (const source of sources)
      if (found === undefined || (kept.get(source) ?? 0) > (kept.get(found) ?? 0)) found = source
    return found
  }

  const resume = (source: Source): void => {
    paused.delete(source)
    source.resume()
  }

  /** Lets go whatever may go on. */
  const release = (): void => {
    clearTimeout(stalled)
    if (paused.size === 0) return
    if (output.isBlocked()) awaitOutput()
    else if (total <= allowance) for (const source of [...paused]) resume(source)
    else {
      const isAnyRunning = [...kept.keys()].some((source) => !paused.has(source))
      const next = largest(paused)
      if (!isAnyRunning && next !== undefined) resume(next)
      watch()
    }
  }

  /** Later, because undici's parser must not be entered again from one of its own calls. */
  const releaseSoon = (): void => {
    if (isScheduled || paused.size === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      release()
    })
  }

  const awaitOutput = (): void => {
    if (isAwaited) return
    isAwaited = true
    output.whenOpen(() => {
      isAwaited = false
      releaseSoon()
    })
  }

  /** One that stalls must not hold up the others for ever. */
  const watch = (): void => {
    clearTimeout(stalled)
    stalled = setTimeout(() => {
      const next = largest(paused)
      if (next !== undefined && !output.isBlocked()) resume(next)
      if (paused.size > 0) watch()
    }, patienceMs).unref()
  }

  return {
    gathered(source, bytes) {
      keep(source, bytes)
      const isOver = total > allowance
      if (output.isBlocked() || (isOver && largest(kept.keys()) !== source)) {
        paused.add(source)
        source.pause()
        // The one that may go on may be among the paused.
        releaseSoon()
      } else if (isOver && paused.size > 0) watch()
    },
    ended(source) {
      keep(source, 0)
      paused.delete(source)
      releaseSoon()
    },
  }
}
