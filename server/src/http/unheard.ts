/** A notice to the client: one of the protocol's notifications. */
export interface Notice {
  readonly method: string
  readonly params?: Record<string, unknown>
}

/** What a session says while no stream of the client is open, as between `initialized` and its first GET. */
export interface Unheard {
  /** Notes a notice where nobody listens; the same notice is kept once. */
  note(notice: Notice): void
  /** A stream has been opened: from now on notices are heard, and these were not. */
  open(): Notice[]
  /** A stream has ended. */
  close(): void
}

/** Keeps at most `capacity` different notices. */
export function unheard(capacity = 256): Unheard {
  const kept = new Map<string, Notice>()
  let streams = 0
  return {
    note(notice) {
      if (streams === 0 && kept.size < capacity) kept.set(JSON.stringify(notice), notice)
    },
    open() {
      streams += 1
      const missed = [...kept.values()]
      kept.clear()
      return missed
    },
    close() {
      streams -= 1
    },
  }
}
