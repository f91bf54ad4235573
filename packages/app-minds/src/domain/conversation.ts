import { z } from 'zod'
import { type Conversation, type Message, messageSchema } from './observation.ts'

export const storedMessageSchema = messageSchema.extend({
  /** Whether messages directly before this one are missing. */
  gap: z.boolean(),
})
export type StoredMessage = Readonly<z.output<typeof storedMessageSchema>>

export interface KnownConversation extends Omit<Conversation, 'messages'> {
  readonly messages: readonly StoredMessage[]
}

interface MergedConversation {
  readonly messages: readonly StoredMessage[]
  readonly added: readonly StoredMessage[]
}

/**
 * Merges the latest messages of a conversation into the stored messages.
 *
 * If all incoming messages have timestamps, returns the union by timestamp, speaker and text, sorted by time, then by
 * arrival. A message that one list contains twice is retained twice. Otherwise, the overlap is the longest sequence
 * that ends the stored and begins the incoming messages. `window` is the number of messages that the game repeats: a
 * full window without overlap means that messages were missed.
 */
export function mergeMessages(
  stored: readonly StoredMessage[],
  incoming: readonly Message[],
  window = 5,
): MergedConversation {
  if (incoming.length === 0) return { messages: stored, added: [] }
  return incoming.every(({ timestamp }) => timestamp !== null)
    ? mergeByTime(stored, incoming)
    : mergeByOverlap(stored, incoming, window)
}

function mergeByTime(stored: readonly StoredMessage[], incoming: readonly Message[]): MergedConversation {
  const known = new Map<string, number>()
  for (const message of stored)
    known.set(createMessageKey(message), (known.get(createMessageKey(message)) ?? 0) + 1)
  const added: StoredMessage[] = []
  for (const message of incoming) {
    const key = createMessageKey(message)
    const left = known.get(key) ?? 0
    if (left > 0) known.set(key, left - 1)
    else added.push({ ...message, gap: false })
  }
  if (added.length === 0) return { messages: stored, added }
  // The stable sort keeps the order of arrival within a tick.
  const messages = [...stored, ...added].sort((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0))
  return { messages, added }
}

function mergeByOverlap(
  stored: readonly StoredMessage[],
  incoming: readonly Message[],
  window: number,
): MergedConversation {
  const overlap = findLongestOverlap(stored, incoming)
  const hasGap = overlap === 0 && stored.length > 0 && incoming.length >= window
  const added = incoming.slice(overlap).map((message, index) => ({ ...message, gap: hasGap && index === 0 }))
  return { messages: [...stored, ...added], added }
}

function findLongestOverlap(stored: readonly Message[], incoming: readonly Message[]): number {
  for (let n = Math.min(stored.length, incoming.length); n > 0; n--) {
    const tail = stored.slice(-n)
    if (tail.every((message, index) => isSameMessage(message, incoming[index]))) return n
  }
  return 0
}

const createMessageKey = ({ timestamp, speaker_id, message }: Message): string =>
  JSON.stringify([timestamp, speaker_id, message])

const isSameMessage = (a: Message, b: Message | undefined): boolean =>
  b !== undefined && a.speaker_id === b.speaker_id && a.message === b.message
