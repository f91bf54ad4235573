// cspell:ignore told -- a tag of stored memories
import type { StoredMessage } from '../conversation.ts'
import { splitReport } from '../judge-answer.ts'
import type { MemoryDraft } from '../memory.ts'
import type { Observation } from '../observation.ts'
import { isConversation } from '../observation.ts'
import { makeReplacementTest } from '../supersede.ts'
import { findQuestion, parseUtterance } from './dialogue.ts'
import type { DerivedEvent } from './perceive.ts'
import { createClaimKey } from './speech.ts'
import { type MindState, toGameDay } from './state.ts'

/** Forms each memory at most once per game day. `formed` holds the keys of previous memories. */
export function formMemories(
  observation: Observation,
  derivedEvents: readonly DerivedEvent[],
  newMessages: readonly StoredMessage[],
  formed: MindState['formed'],
): { readonly memories: readonly MemoryDraft[]; readonly formed: MindState['formed'] } {
  const day = toGameDay(observation.time)
  const keys = new Set(formed.day === day ? formed.keys : [])
  const drafts = [
    ...derivedEvents.flatMap((event) => toEventDrafts(event)),
    ...newMessages.filter((message) => message.speaker_id !== observation.entity_id).flatMap(toSpeechDrafts),
  ]
  const memories: MemoryDraft[] = []
  for (const { key, ...draft } of drafts) {
    if (keys.has(key)) continue
    keys.add(key)
    memories.push({ ...draft, sim_time: observation.time, location: observation.position })
  }
  return { memories, formed: { day, keys: [...keys].slice(-maxKeys) } }
}

const maxKeys = 400

type KeyedDraft = Omit<MemoryDraft, 'sim_time' | 'location'> & { readonly key: string }

const makeEpisode = (
  kind: string,
  parts: readonly [thing: string, ...deed: string[]],
  content: string,
  importance: number,
): KeyedDraft => ({
  key: [kind, ...parts].join('|'),
  content,
  importance,
  kind: 'episodic',
  subject: parts[0],
  tags: [kind, ...parts.slice(1)],
})

function toEventDrafts(event: DerivedEvent): KeyedDraft[] {
  switch (event.kind) {
    case 'sighting':
      return toSightingDrafts(event)
    case 'critical': {
      const { need, share } = event
      return [
        makeEpisode('critical', [need], `My ${need} became critical (${Math.round(share * 100)} %).`, 6),
      ]
    }
    case 'relieved': {
      const { need } = event
      return [makeEpisode('relieved', [need], `My ${need} is no longer critical.`, 5)]
    }
    case 'refusal': {
      const { entity_id, interaction_name } = event.goal
      const reason = event.reason === null ? '' : `: ${event.reason}`
      const content = `${entity_id} refused ${interaction_name}${reason}.`
      return [makeEpisode('refusal', [entity_id, interaction_name], content, 4)]
    }
    case 'error':
      return [{ ...makeEpisode('error', [event.text], `Error: ${event.text}`, 3), subject: null }]
    case 'blocked':
      return []
  }
}

function toSightingDrafts({ place }: Extract<DerivedEvent, { kind: 'sighting' }>): KeyedDraft[] {
  const { entity_id, display_name, position, interactions } = place
  const positionText = position === null ? '' : ` at (${position[0]}, ${position[1]})`
  if (interactions.every(({ name }) => isConversation(name)))
    return [makeEpisode('meeting', [entity_id], `I met ${display_name}${positionText}.`, 6)]
  const names = interactions.map(({ name }) => name).join(', ')
  const content = `I saw ${display_name}${positionText}, where one can ${names}.`
  return [makeEpisode('sighting', [entity_id], content, 3)]
}

function toSpeechDrafts({ speaker_id, speaker_name, message, is_system }: StoredMessage): KeyedDraft[] {
  if (is_system || message.trim() === '') return []
  const question = findQuestion(message)
  const claim = readClaim(message)
  return [
    ...(claim === ''
      ? []
      : [
          {
            key: `statement|${speaker_id}|${claim}`,
            content: `${speaker_name} told me: ${claim}`,
            importance: 5 + (isVerifiable(claim) ? 2 : 0),
            kind: 'fact' as const,
            subject: speaker_id,
            tags: ['told'],
          },
        ]),
    ...(question?.act !== 'question'
      ? []
      : [
          {
            key: `question|${speaker_id}|${question.text}`,
            content: `${speaker_name} asked me: ${question.text}`,
            importance: 3,
            kind: 'episodic' as const,
            subject: speaker_id,
            tags: ['question'],
          },
        ]),
  ]
}

const readClaim = (message: string): string =>
  parseUtterance(message)
    .filter(({ act }) => act === 'statement')
    .map(({ text }) => text)
    .join(' ')
    .replace(/^(?:As I remember it|What I recall|I remember this): /, '')

const maxNews = 8

/**
 * Adds the statements of new messages to the news, except hearsay and known statements. A statement that gives
 * another value for a subject replaces the earlier statement.
 */
export function updateNews(
  news: MindState['news'],
  messages: readonly StoredMessage[],
  time: number,
): MindState['news'] {
  const addedNews = messages.flatMap(
    ({ speaker_id, speaker_name, message, is_system }): MindState['news'] => {
      const text = is_system ? '' : readClaim(message)
      if (text === '' || splitReport(text).speaker !== null) return []
      if (news.some((newsItem) => createClaimKey(newsItem.text) === createClaimKey(text))) return []
      return [{ speaker_id, speaker_name, text, time }]
    },
  )
  const toFact = ({ text, time: sim_time }: MindState['news'][number]) => ({
    content: text,
    sim_time,
    order: 1,
  })
  const isReplaced = makeReplacementTest(addedNews.map(toFact))
  return [...news.filter((newsItem) => !isReplaced({ ...toFact(newsItem), order: 0 })), ...addedNews].slice(
    -maxNews,
  )
}

function isVerifiable(message: string): boolean {
  const afterFirstLetter = message.trim().slice(1)
  return (
    /\d/.test(message) ||
    /\s\p{Lu}\p{L}+/u.test(afterFirstLetter) ||
    /\b(promise|will|must|agreed|meet)\b/i.test(message)
  )
}
