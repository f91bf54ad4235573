export interface LiveEvent {
  /** `<rev>`, or `<rev>.<n>` for the later events of a revision. */
  readonly id: string
  readonly event: string
  /** JSON on one line. */
  readonly data: string
}

type EventListener = (event: LiveEvent) => void

type EventPosition = readonly [rev: number, n: number]

const maxEvents = 256
const maxCharacters = 8 * 2 ** 20

/** Live events of a plot. Viewers resume from the retained events. */
export class PlotEvents {
  readonly #retained: LiveEvent[] = []
  readonly #listeners = new Set<EventListener>()
  #characters = 0
  #last: EventPosition
  #evicted: EventPosition

  constructor(rev: number) {
    this.#last = [rev, 0]
    this.#evicted = this.#last
  }

  get lastId(): string {
    return formatId(this.#last)
  }

  get listenerCount(): number {
    return this.#listeners.size
  }

  get characters(): number {
    return this.#characters
  }

  /** `rev` is the revision after the change. `members` are the JSON members of the data. */
  emit(rev: number, event: string, members: string): void {
    this.#last = rev > this.#last[0] ? [rev, 0] : [this.#last[0], this.#last[1] + 1]
    const liveEvent: LiveEvent = { id: formatId(this.#last), event, data: `{"rev":${rev},${members}}` }
    this.#retained.push(liveEvent)
    this.#characters += liveEvent.data.length
    while (
      this.#retained.length > maxEvents ||
      (this.#characters > maxCharacters && this.#retained.length > 0)
    )
      this.#evictOldest()
    for (const listener of this.#listeners) listener(liveEvent)
  }

  /** Returns the events after an id, or `null` if the viewer requires a snapshot. */
  subscribe(listener: EventListener, since: string | null): readonly LiveEvent[] | null {
    this.#listeners.add(listener)
    const from = since === null ? null : parseId(since)
    if (from === null || isBefore(from, this.#evicted) || isBefore(this.#last, from)) return null
    return this.#retained.filter(({ id }) => isBefore(from, parseId(id) ?? from))
  }

  unsubscribe(listener: EventListener): void {
    this.#listeners.delete(listener)
  }

  /** Evicts the oldest events until `characters` are freed. Returns the number of evicted characters. */
  shrink(characters: number): number {
    const before = this.#characters
    while (before - this.#characters < characters && this.#retained.length > 0) this.#evictOldest()
    return before - this.#characters
  }

  #evictOldest(): void {
    const evicted = this.#retained.shift()
    if (evicted === undefined) return
    this.#characters -= evicted.data.length
    this.#evicted = parseId(evicted.id) ?? this.#evicted
  }
}

const formatId = ([rev, n]: EventPosition): string => (n === 0 ? String(rev) : `${rev}.${n}`)

function parseId(id: string): EventPosition | null {
  const [, rev, n = '0'] = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(id) ?? []
  return rev === undefined ? null : [Number(rev), Number(n)]
}

const isBefore = (a: EventPosition, b: EventPosition): boolean =>
  a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])
