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
  readonly addedMessages: readonly StoredMessage[]
}

/**
 * Merges the latest messages of a conversation into the stored messages.
 *
 * If all incoming messages have timestamps, returns the union by timestamp, speaker and text, sorted by time, then by
 * arrival. A message that one list contains twice is retained twice. Otherwise, appends the incoming messages without
 * the longest sequence that ends the stored and begins the incoming messages. If at least `windowSize` messages, as
 * many as the game repeats, overlap nothing, messages were missed: sets `gap`.
 */
export function mergeMessages(
  storedMessages: readonly StoredMessage[],
  incomingMessages: readonly Message[],
  windowSize = 5,
): MergedConversation {
  if (incomingMessages.length === 0) return { messages: storedMessages, addedMessages: [] }
  return incomingMessages.every(({ timestamp }) => timestamp !== null)
    ? mergeByTime(storedMessages, incomingMessages)
    : mergeByOverlap(storedMessages, incomingMessages, windowSize)
}

function mergeByTime(
  storedMessages: readonly StoredMessage[],
  incomingMessages: readonly Message[],
): MergedConversation {
  const storedCounts = new Map<string, number>()
  for (const message of storedMessages)
    storedCounts.set(createMessageKey(message), (storedCounts.get(createMessageKey(message)) ?? 0) + 1)
  const addedMessages: StoredMessage[] = []
  for (const message of incomingMessages) {
    const key = createMessageKey(message)
    const remainingCount = storedCounts.get(key) ?? 0
    if (remainingCount > 0) storedCounts.set(key, remainingCount - 1)
    else addedMessages.push({ ...message, gap: false })
  }
  if (addedMessages.length === 0) return { messages: storedMessages, addedMessages }
  // The stable sort keeps the order of arrival within a tick.
  const messages = [...storedMessages, ...addedMessages].sort(
    (a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0),
  )
  return { messages, addedMessages }
}

function mergeByOverlap(
  storedMessages: readonly StoredMessage[],
  incomingMessages: readonly Message[],
  windowSize: number,
): MergedConversation {
  const overlap = findLongestOverlap(storedMessages, incomingMessages)
  const hasGap = overlap === 0 && storedMessages.length > 0 && incomingMessages.length >= windowSize
  const addedMessages = incomingMessages
    .slice(overlap)
    .map((message, index) => ({ ...message, gap: hasGap && index === 0 }))
  return { messages: [...storedMessages, ...addedMessages], addedMessages }
}

function findLongestOverlap(
  storedMessages: readonly Message[],
  incomingMessages: readonly Message[],
): number {
  for (let n = Math.min(storedMessages.length, incomingMessages.length); n > 0; n--) {
    const tail = storedMessages.slice(-n)
    if (tail.every((message, index) => isSameMessage(message, incomingMessages[index]))) return n
  }
  return 0
}

const createMessageKey = ({ timestamp, speaker_id, message }: Message): string =>
  JSON.stringify([timestamp, speaker_id, message])

const isSameMessage = (a: Message, b: Message | undefined): boolean =>
  b !== undefined && a.speaker_id === b.speaker_id && a.message === b.message
