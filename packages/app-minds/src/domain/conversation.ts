/** Joining what a game repeats of a conversation, its last messages, to what is known of it. */
import type { Message } from './observation.ts'

/** A message as it is kept; `gap` says that messages before it were never seen. */
export interface KeptMessage extends Message {
  readonly gap: boolean
}

/** The joined conversation. */
export interface Merged {
  readonly messages: readonly KeptMessage[]
  /** Those that were not known before, in order. */
  readonly added: readonly KeptMessage[]
}

/**
 * Joins the last messages of a conversation to what is stored of it.
 *
 * With timestamps on all incoming messages: the union by timestamp, speaker and text, each as often as the side that has
 * it most, in order of time, then of arrival: the same words of one speaker in one tick count twice where one window
 * shows both. Otherwise the longest tail of the stored that the incoming begin with is
 * the overlap. `window` is the number of messages that the game repeats; a full window without overlap leaves a gap.
 */
export function mergeMessages(
  stored: readonly KeptMessage[],
  incoming: readonly Message[],
  window = 5,
): Merged {
  if (incoming.length === 0) return { messages: stored, added: [] }
  return incoming.every(({ timestamp }) => timestamp !== null)
    ? mergeByTime(stored, incoming)
    : mergeByOverlap(stored, incoming, window)
}

function mergeByTime(stored: readonly KeptMessage[], incoming: readonly Message[]): Merged {
  const known = new Map<string, number>()
  for (const message of stored) known.set(keyOf(message), (known.get(keyOf(message)) ?? 0) + 1)
  const added: KeptMessage[] = []
  for (const message of incoming) {
    const key = keyOf(message)
    const left = known.get(key) ?? 0
    if (left > 0) known.set(key, left - 1)
    else added.push({ ...message, gap: false })
  }
  if (added.length === 0) return { messages: stored, added }
  // A sort that keeps the order of equals: messages of one tick stay in the order in which they came.
  const messages = [...stored, ...added].sort((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0))
  return { messages, added }
}

function mergeByOverlap(
  stored: readonly KeptMessage[],
  incoming: readonly Message[],
  window: number,
): Merged {
  const overlap = longestOverlap(stored, incoming)
  const isCut = overlap === 0 && stored.length > 0 && incoming.length >= window
  const added = incoming.slice(overlap).map((message, index) => ({ ...message, gap: isCut && index === 0 }))
  return { messages: [...stored, ...added], added }
}

function longestOverlap(stored: readonly Message[], incoming: readonly Message[]): number {
  for (let n = Math.min(stored.length, incoming.length); n > 0; n--) {
    const tail = stored.slice(-n)
    if (tail.every((message, index) => saysTheSame(message, incoming[index]))) return n
  }
  return 0
}

const keyOf = ({ timestamp, speaker_id, message }: Message): string =>
  JSON.stringify([timestamp, speaker_id, message])

const saysTheSame = (a: Message, b: Message | undefined): boolean =>
  b !== undefined && a.speaker_id === b.speaker_id && a.message === b.message
