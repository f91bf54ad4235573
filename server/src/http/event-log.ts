/**
 * What a session was sent lately, so that a client whose stream broke takes it up again by `Last-Event-ID`
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery).
 */
import type { EventStore } from '@modelcontextprotocol/server'

/** The SDK's store of events, bounded. */
export interface EventLog extends EventStore {
  /** True while every event after this one is kept as well. */
  knows(eventId: string): boolean
  /** True for an event of the stream of an answer, of whichever life of the session. */
  isOfAnswer(eventId: string): boolean
  /** Letters of the events that are kept. */
  readonly length: number
}

/** What a log keeps at most; the oldest events make room. */
export interface EventLimits {
  readonly maxEvents?: number
  /** Characters of the events as JSON. */
  readonly maxLength?: number
}

/** The SDK's name of the stream on which a session listens; every other one belongs to the answer of a request. */
const listening = '_GET_stream'

/** Makes an empty log; the prefix tells its events from those of an earlier life of the same session. */
export function eventLog(
  prefix: string,
  { maxEvents = 256, maxLength = 2 ** 18 }: EventLimits = {},
): EventLog {
  const events = new Map<string, { streamId: string; message: Stored; length: number }>()
  let total = 0
  let count = 0

  /** From the oldest on and never from between: a known id must mean that nothing after it is missing. */
  const makeRoom = (length: number): void => {
    for (const [id, oldest] of events) {
      if (events.size < maxEvents && total + length <= maxLength) return
      events.delete(id)
      total -= oldest.length
    }
  }

  return {
    knows: (eventId) => events.has(eventId),
    get length() {
      return total
    },
    isOfAnswer: (eventId) => /-a\d+$/.test(eventId),
    async storeEvent(streamId, message) {
      const id = `${prefix}-${streamId === listening ? '' : 'a'}${++count}`
      const { length } = JSON.stringify(message)
      makeRoom(length)
      if (length <= maxLength) {
        events.set(id, { streamId, message, length })
        total += length
      }
      return id
    },
    getStreamIdForEventId: async (eventId) => events.get(eventId)?.streamId,
    async replayEventsAfter(lastEventId, { send }) {
      const streamId = events.get(lastEventId)?.streamId ?? ''
      let isAfter = false
      for (const [id, event] of [...events]) {
        if (isAfter && event.streamId === streamId) await send(id, event.message)
        isAfter ||= id === lastEventId
      }
      return streamId
    },
  }
}

type Stored = Parameters<EventStore['storeEvent']>[1]
