/** Announcements that a mind is another one: at once, and then at most once a second, the last one never left out. */

/** Tells of changes. */
export interface PacedChanges {
  tell(mindId: string): void
  stop(): void
}

/** Least time between two announcements of one mind, ms. */
const pauseMs = 1000

/** Paces `announce`. */
export function pacedChanges(announce: (mindId: string) => void): PacedChanges {
  const waiting = new Map<string, { readonly timer: NodeJS.Timeout; isDue: boolean }>()
  const begin = (mindId: string): void => {
    announce(mindId)
    const timer = setTimeout(() => {
      const isDue = waiting.get(mindId)?.isDue === true
      waiting.delete(mindId)
      if (isDue) begin(mindId)
    }, pauseMs)
    waiting.set(mindId, { timer: timer.unref(), isDue: false })
  }
  return {
    tell(mindId) {
      const entry = waiting.get(mindId)
      if (entry === undefined) begin(mindId)
      else entry.isDue = true
    },
    stop() {
      for (const { timer } of waiting.values()) clearTimeout(timer)
      waiting.clear()
    },
  }
}
