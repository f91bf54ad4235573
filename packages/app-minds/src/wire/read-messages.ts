import { asObject } from '@causeway/protocol'
import { z } from 'zod'
import type { Message, MindEvent } from '../domain/observation.ts'
import type { Limits } from '../limits.ts'
import { toTextOrNull } from './read-interaction.ts'
import { parseInput, requireWithinLimit } from './validation.ts'

const maxMessageChars = 2000

export function readMessages(value: unknown): readonly Message[] {
  if (!Array.isArray(value)) return []
  return value.map(asObject).flatMap((entry): Message[] => {
    const message = toTextOrNull(entry.message)
    if (message === null) return []
    const speaker = toTextOrNull(entry.speaker_id) ?? toTextOrNull(entry.speaker_name) ?? ''
    const { timestamp } = entry
    return [
      {
        speaker_id: speaker,
        speaker_name: toTextOrNull(entry.speaker_name) ?? speaker,
        message: message.slice(0, maxMessageChars),
        timestamp: typeof timestamp === 'number' && Number.isFinite(timestamp) ? timestamp : null,
        is_system: entry.is_system === true,
      },
    ]
  })
}

const eventInputSchema = z.looseObject({
  event_type: z.string().min(1).max(100),
  timestamp: z.number().optional(),
  payload: z.looseObject({}).nullish(),
})

/** The default time of an event is `now`. Throws `INVALID_EVENTS` and `LIMIT_EXCEEDED`. */
export function readEvents(value: unknown, now: number, limits: Limits): readonly MindEvent[] {
  if (value === undefined || value === null) return []
  requireWithinLimit('observation_bytes', Buffer.byteLength(JSON.stringify(value)), limits.observation_bytes)
  return parseInput('events', z.array(eventInputSchema), value).map(({ event_type, timestamp, payload }) => ({
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
