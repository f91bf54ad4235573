import type { EventStore } from '@modelcontextprotocol/server'

interface EventLimits {
  readonly maxEvents?: number
  /** Maximum characters of the events' JSON. */
  readonly maxLength?: number
}

interface StoredEvent {
  readonly streamId: string
  readonly message: Parameters<EventStore['storeEvent']>[1]
  readonly length: number
}

/** The SDK's GET stream. Other streams belong to requests. */
const getStreamId = '_GET_stream'

/**
 * A session's last events, for `Last-Event-ID`
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery).
 */
export class EventLog implements EventStore {
  readonly #prefix: string
  readonly #maxEvents: number
  readonly #maxLength: number
  readonly #events = new Map<string, StoredEvent>()
  #length = 0
  #count = 0

  /** `prefix` must differ after a restart. */
  constructor(prefix: string, { maxEvents = 256, maxLength = 2 ** 18 }: EventLimits = {}) {
    this.#prefix = prefix
    this.#maxEvents = maxEvents
    this.#maxLength = maxLength
  }

  get length(): number {
    return this.#length
  }

  has(eventId: string): boolean {
    return this.#events.has(eventId)
  }

  async storeEvent(streamId: string, message: StoredEvent['message']): Promise<string> {
    this.#count += 1
    const id = `${this.#prefix}-${streamId === getStreamId ? '' : 'a'}${this.#count}`
    const { length } = JSON.stringify(message)
    this.#evict(length)
    if (length <= this.#maxLength) {
      this.#events.set(id, { streamId, message, length })
      this.#length += length
    }
    return id
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#events.get(eventId)?.streamId
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: Parameters<EventStore['replayEventsAfter']>[1],
  ): Promise<string> {
    const streamId = this.#events.get(lastEventId)?.streamId ?? ''
    let isAfter = false
    for (const [id, event] of [...this.#events]) {
      if (isAfter && event.streamId === streamId) await send(id, event.message)
      isAfter ||= id === lastEventId
    }
    return streamId
  }

  /** Removes the oldest events first: if `has` finds an event, all later ones are stored. */
  #evict(length: number): void {
    for (const [id, oldestEvent] of this.#events) {
      if (this.#events.size < this.#maxEvents && this.#length + length <= this.#maxLength) return
      this.#events.delete(id)
      this.#length -= oldestEvent.length
    }
  }
}

/** Also recognizes events from before a restart. */
export const isResponseEvent = (eventId: string): boolean => /-a\d+$/.test(eventId)
