/** Announcements inside the server: a set of listeners a kind, told in the order in which they came. */

/** One kind of announcement. */
export interface Announcement<Args extends readonly unknown[]> {
  /** Adds a listener; the result removes it. */
  listen(listener: (...args: Args) => void): () => void
  announce(...args: Args): void
}

/** Makes an announcement without listeners. A listener that throws does not keep the others from being told. */
export function announcement<Args extends readonly unknown[]>(
  onError: (error: unknown) => void,
): Announcement<Args> {
  const listeners = new Set<(...args: Args) => void>()
  return {
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    announce(...args) {
      for (const listener of [...listeners]) {
        try {
          listener(...args)
        } catch (error) {
          onError(error)
        }
      }
    },
  }
}
