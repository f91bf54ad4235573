/** Places in which evaluations run; who finds none waits in line. */

/** A number of places. */
export interface Slots {
  /** Waits for a place; gives what frees it. Rejects with the signal's reason when it aborts first. */
  take(signal: AbortSignal): Promise<() => void>
  /** how many wait */
  readonly waiting: number
}

/** Evaluations at once where no setting says it. */
export const defaultPlaces = 2

/** Makes places for `limit` at once. */
export function makeSlots(limit = defaultPlaces): Slots {
  const line: (() => void)[] = []
  let free = limit
  const release = (): void => {
    const next = line.shift()
    if (next === undefined) free++
    else next()
  }
  const onceOnly = (): (() => void) => {
    let isFreed = false
    return () => {
      if (isFreed) return
      isFreed = true
      release()
    }
  }
  return {
    get waiting() {
      return line.length
    },
    async take(signal) {
      signal.throwIfAborted()
      if (free > 0) {
        free--
        return onceOnly()
      }
      await new Promise<void>((resolve, reject) => {
        const enter = (): void => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = (): void => {
          line.splice(line.indexOf(enter), 1)
          reject(signal.reason)
        }
        line.push(enter)
        signal.addEventListener('abort', leave, { once: true })
      })
      return onceOnly()
    },
  }
}
