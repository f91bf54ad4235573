/** Messages and events as games send them. */
import { asObject, CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { Message, MindEvent } from '../domain/observation.ts'
import type { Limits } from '../limits.ts'
import { within } from './limit.ts'
import { problemsOf } from './problems.ts'
import { text } from './read-interaction.ts'

/** Longest message that is kept, characters. */
const messageChars = 2000

/** Messages of a conversation; what has no words is left out. */
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

const eventsShape = z.array(eventShape).nullish()

/** Events since the last call; those without a time happened now. Throws `INVALID_EVENTS`, and `LIMIT_EXCEEDED` as observations do. */
export function readEvents(value: unknown, now: number, limits: Limits): readonly MindEvent[] {
  if (value === undefined || value === null) return []
  within('observation_bytes', Buffer.byteLength(JSON.stringify(value)), limits.observation_bytes)
  const parsed = eventsShape.safeParse(value)
  if (!parsed.success)
    throw new CausewayError(
      'INVALID_EVENTS',
      `Invalid events format: ${problemsOf(parsed.error).join('; ')}`,
      {
        data: { problems: problemsOf(parsed.error) },
      },
    )
  return (parsed.data ?? []).map(({ event_type, timestamp, payload }) => ({
    event_type: event_type.toUpperCase(),
    timestamp: timestamp ?? now,
    payload: payload ?? {},
  }))
}

/** The events of the last hour, newest last, not more than the limit. */
export function recentEvents(
  events: readonly MindEvent[],
  now: number,
  limits: Limits,
): readonly MindEvent[] {
  return events.filter(({ timestamp }) => now - timestamp <= limits.event_minutes).slice(-limits.events)
}
