export interface LiveEvent {
  /** `<rev>`, or `<rev>.<n>` for the later events of a revision. */
  readonly id: string
  readonly event: string
  /** JSON on one line. */
  readonly data: string
}

type EventListener = (event: LiveEvent) => void

type EventPosition = readonly [rev: number, index: number]

const maxEvents = 256
const maxCharacters = 8 * 2 ** 20

/** Live events of a plot. Viewers resume from the retained events. */
export class PlotEvents {
  readonly #retainedEvents: LiveEvent[] = []
  readonly #listeners = new Set<EventListener>()
  #characters = 0
  #lastPosition: EventPosition
  #lastEvictedPosition: EventPosition

  constructor(rev: number) {
    this.#lastPosition = [rev, 0]
    this.#lastEvictedPosition = this.#lastPosition
  }

  get lastId(): string {
    return formatId(this.#lastPosition)
  }

  get listenerCount(): number {
    return this.#listeners.size
  }

  get characters(): number {
    return this.#characters
  }

  /** `rev` is the revision after the change. `members` are the JSON members of the data. */
  emit(rev: number, event: string, members: string): void {
    this.#lastPosition =
      rev > this.#lastPosition[0] ? [rev, 0] : [this.#lastPosition[0], this.#lastPosition[1] + 1]
    const liveEvent: LiveEvent = {
      id: formatId(this.#lastPosition),
      event,
      data: `{"rev":${rev},${members}}`,
    }
    this.#retainedEvents.push(liveEvent)
    this.#characters += liveEvent.data.length
    while (
      this.#retainedEvents.length > maxEvents ||
      (this.#characters > maxCharacters && this.#retainedEvents.length > 0)
    )
      this.#evictOldest()
    for (const listener of this.#listeners) listener(liveEvent)
  }

  /** Adds a listener. Returns the events after `since`, or `null` if the viewer requires a snapshot. */
  subscribe(listener: EventListener, since: string | null): readonly LiveEvent[] | null {
    this.#listeners.add(listener)
    const from = since === null ? null : parseId(since)
    if (from === null || isEarlier(from, this.#lastEvictedPosition) || isEarlier(this.#lastPosition, from))
      return null
    return this.#retainedEvents.filter(({ id }) => isEarlier(from, parseId(id) ?? from))
  }

  unsubscribe(listener: EventListener): void {
    this.#listeners.delete(listener)
  }

  shrink(characters: number): number {
    const before = this.#characters
    while (before - this.#characters < characters && this.#retainedEvents.length > 0) this.#evictOldest()
    return before - this.#characters
  }

  #evictOldest(): void {
    const evictedEvent = this.#retainedEvents.shift()
    if (evictedEvent === undefined) return
    this.#characters -= evictedEvent.data.length
    this.#lastEvictedPosition = parseId(evictedEvent.id) ?? this.#lastEvictedPosition
  }
}

const formatId = ([rev, index]: EventPosition): string => (index === 0 ? String(rev) : `${rev}.${index}`)

function parseId(id: string): EventPosition | null {
  const [, rev, index = '0'] = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(id) ?? []
  return rev === undefined ? null : [Number(rev), Number(index)]
}

const isEarlier = (a: EventPosition, b: EventPosition): boolean =>
  a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])
