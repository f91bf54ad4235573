import { asObject } from '@causeway/protocol'
import { z } from 'zod'
import type { Message, MindEvent } from '../domain/observation.ts'
import type { Limits } from '../limits.ts'
import { text } from './read-interaction.ts'
import { parseInput, requireWithin } from './validation.ts'

const messageChars = 2000

export function readMessages(value: unknown): readonly Message[] {
  if (!Array.isArray(value)) return []
  return value.map(asObject).flatMap((one): Message[] => {
    const message = text(one.message)
    if (message === null) return []
    const speaker = text(one.speaker_id) ?? text(one.speaker_name) ?? ''
    const { timestamp } = one
    return [
      {
        speaker_id: speaker,
        speaker_name: text(one.speaker_name) ?? speaker,
        message: message.slice(0, messageChars),
        timestamp: typeof timestamp === 'number' && Number.isFinite(timestamp) ? timestamp : null,
        is_system: one.is_system === true,
      },
    ]
  })
}

const eventShape = z.looseObject({
  event_type: z.string().min(1).max(100),
  timestamp: z.number().optional(),
  payload: z.looseObject({}).nullish(),
})

/** The default time of an event is `now`. Throws `INVALID_EVENTS` and `LIMIT_EXCEEDED`. */
export function readEvents(value: unknown, now: number, limits: Limits): readonly MindEvent[] {
  if (value === undefined || value === null) return []
  requireWithin('observation_bytes', Buffer.byteLength(JSON.stringify(value)), limits.observation_bytes)
  return parseInput('events', z.array(eventShape), value).map(({ event_type, timestamp, payload }) => ({
    event_type: event_type.toUpperCase(),
    timestamp: timestamp ?? now,
    payload: payload ?? {},
  }))
}

/** Returns the latest events within the last `event_minutes`, newest last. */
export function selectRecentEvents(
  events: readonly MindEvent[],
  now: number,
  limits: Limits,
): readonly MindEvent[] {
  return events.filter(({ timestamp }) => now - timestamp <= limits.event_minutes).slice(-limits.events)
}
