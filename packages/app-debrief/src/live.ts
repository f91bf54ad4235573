/** Live events of one plot: the latest in a ring, so that a view that was away for a moment misses nothing. */

/** An event as it is sent. */
export interface LiveEvent {
  /** `<rev>` or `<rev>.<n>` for what came after that revision without making another one */
  readonly id: string
  readonly event: string
  /** one line of JSON */
  readonly data: string
}

/** A view that listens. */
export interface Listener {
  /** An event that it has not had. */
  send(event: LiveEvent): void
}

/** The events of a plot. */
export interface Live {
  /** Tells every view; `rev` is that of the plot after the change. */
  tell(rev: number, event: string, members: string): void
  /** Adds a view; gives the events since an id, or null where a snapshot must begin: the ring does not reach back so far. */
  listen(listener: Listener, since: string | null): readonly LiveEvent[] | null
  leave(listener: Listener): void
  /** Where the next event follows. */
  readonly lastId: string
  readonly listeners: number
  /** letters of the events that are kept */
  readonly characters: number
  /** Forgets events until so many letters are given back, the oldest first; gives the letters. */
  shrink(characters: number): number
}

const mostEvents = 256
const mostCharacters = 8 * 2 ** 20

/** Makes the events of a plot that is at this revision. */
export function liveEvents(startRev: number): Live {
  const ring: LiveEvent[] = []
  const listeners = new Set<Listener>()
  let characters = 0
  let last: readonly [rev: number, n: number] = [startRev, 0]
  /** events up to this one are forgotten */
  let forgotten: readonly [rev: number, n: number] = last

  const forgetOldest = (): void => {
    const gone = ring.shift()
    if (gone === undefined) return
    characters -= gone.data.length
    forgotten = place(gone.id) ?? forgotten
  }

  return {
    tell(rev, event, members) {
      last = rev > last[0] ? [rev, 0] : [last[0], last[1] + 1]
      const made: LiveEvent = { id: idText(last), event, data: `{"rev":${rev},${members}}` }
      ring.push(made)
      characters += made.data.length
      while (ring.length > mostEvents || (characters > mostCharacters && ring.length > 0)) forgetOldest()
      for (const listener of listeners) listener.send(made)
    },
    listen(listener, since) {
      listeners.add(listener)
      const from = since === null ? null : place(since)
      if (from === null || isBefore(from, forgotten) || isBefore(last, from)) return null
      return ring.filter(({ id }) => isBefore(from, place(id) ?? from))
    },
    leave: (listener) => void listeners.delete(listener),
    get lastId() {
      return idText(last)
    },
    get listeners() {
      return listeners.size
    },
    get characters() {
      return characters
    },
    shrink(wanted) {
      const before = characters
      while (before - characters < wanted && ring.length > 0) forgetOldest()
      return before - characters
    },
  }
}

const idText = ([rev, n]: readonly [number, number]): string => (n === 0 ? String(rev) : `${rev}.${n}`)

function place(id: string): readonly [rev: number, n: number] | null {
  const [, rev, n = '0'] = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(id) ?? []
  return rev === undefined ? null : [Number(rev), Number(n)]
}

const isBefore = (a: readonly [number, number], b: readonly [number, number]): boolean =>
  a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])
