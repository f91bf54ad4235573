// cspell:ignore told -- part of what characters say
import type { Situation } from '../menu.ts'
import type { Need } from '../observation.ts'
import { computeManhattanDistance, computeNeedShare, isConversation } from '../observation.ts'
import { hash32 } from '../random.ts'
import { parseUtterance, type Sentence } from './dialogue.ts'
import type { Place } from './place.ts'
import type { ConversationContext } from './policy-context.ts'
import { createClaimKey, describeNeed, namesPlaceFor, removeAnnouncement, smallTalk } from './speech.ts'

/** Returns a topic as a sentence. Skips topics of this conversation and of earlier statements to this partner. */
export function findTopic(context: ConversationContext): string | undefined {
  const said = new Set(
    context.conversation.messages.flatMap(({ message }) => parseUtterance(message).map(toKey)),
  )
  const isUnsaid = (text: string): boolean =>
    parseUtterance(text).every((sentence) => !said.has(toKey(sentence)))
  const known = new Set(context.state.shared)
  const isNew = (text: string): boolean =>
    isUnsaid(text) && hashStatements(text, context).some((hash) => !known.has(hash))
  const topic = findNeedTopic(context, isUnsaid) ?? findNewsTopic(context, isNew)
  if (topic !== undefined) return topic
  const place = placeTopic(context, isNew)
  const question = findQuestionToAsk(context)
  return context.random() < 0.5 ? (place ?? question) : (question ?? place)
}

const toKey = ({ text }: Sentence): string => createClaimKey(text)

export function hashStatements(
  text: string,
  { conversation, situation }: Pick<ConversationContext, 'conversation' | 'situation'>,
): readonly number[] {
  const self = situation.observation.entity_id
  const partners = conversation.participants.filter((id) => id !== self).sort()
  return parseUtterance(text)
    .filter(({ act }) => act === 'statement')
    .map((sentence) => hash32(`${partners.join()}|${toKey(sentence)}`))
}

type Filter = (text: string) => boolean

function findNeedTopic(context: ConversationContext, isNew: Filter): string | undefined {
  const { situation, constants } = context
  const { observation } = situation
  const low = observation.needs
    .filter((need) => computeNeedShare(need) < constants.search_below && !isFilledByTalk(need, situation))
    .sort((a, b) => computeNeedShare(a) - computeNeedShare(b))[0]
  if (low === undefined) return undefined
  const { feeling, remedy } = describeNeed(low.name)
  const place = findPlaceFor(low.name, context)
  if (place === undefined && hasAdviceFor(low.name, context)) return undefined
  const text =
    place === undefined
      ? `I am ${feeling}. Do you know where I can ${remedy}?`
      : `I am ${feeling}, so I want to go to ${addArticle(place.display_name)} soon.`
  return isNew(text) ? text : undefined
}

/** Game minutes for which the character does not ask for the same advice again. */
const adviceMinutes = 720

function hasAdviceFor(need: string, { conversation, situation, state }: ConversationContext): boolean {
  const { entity_id: self, time } = situation.observation
  const said = conversation.messages.filter(({ speaker_id }) => speaker_id !== self)
  const recent = state.news.filter((one) => time - one.time < adviceMinutes)
  return [...said.map(({ message }) => message), ...recent.map(({ text }) => text)].some((text) =>
    namesPlaceFor(need, text),
  )
}

function findNewsTopic({ state, conversation }: ConversationContext, isNew: Filter): string | undefined {
  const present = new Set([
    ...conversation.participants,
    ...conversation.messages.map(({ speaker_id }) => speaker_id),
  ])
  const found = state.news.findLast(({ speaker_id, text }) => !present.has(speaker_id) && isNew(text))
  return found === undefined ? undefined : `${found.speaker_name} told me: ${removeAnnouncement(found.text)}`
}

function placeTopic({ places, situation, random }: ConversationContext, isNew: Filter): string | undefined {
  const visible = new Set(situation.observation.entities?.map(({ entity_id }) => entity_id))
  const known = [...places.values()]
    .filter((place) => !place.gone && !visible.has(place.entity_id) && isThing(place))
    .map(describePlace)
    .filter(isNew)
  return known[Math.floor(random() * known.length)]
}

const isThing = ({ interactions }: Place): boolean =>
  interactions.length > 0 && !interactions.every(({ name }) => isConversation(name))

export function describePlace({ display_name, position, interactions }: Place): string {
  const uses = interactions
    .map(({ name }) => name.replaceAll('_', ' '))
    .filter((name) => !isConversation(name))
  const where = position === null ? '' : `, at (${position[0]}, ${position[1]})`
  return `You can ${uses.slice(0, 2).join(' or ')} at ${addArticle(display_name)}${where}.`
}

const addArticle = (name: string): string =>
  /^(?:the|an?|\S+['’]s)\s|\d|\s\p{Lu}/u.test(name) ? name : `the ${name}`

export function findPlaceFor(need: string, { places, situation }: ConversationContext): Place | undefined {
  const { position } = situation.observation
  const steps = (place: Place): number =>
    position === null || place.position === null
      ? Number.MAX_SAFE_INTEGER
      : computeManhattanDistance(position, place.position)
  return [...places.values()]
    .filter((place) => !place.gone && isThing(place))
    .filter(({ interactions }) => interactions.some(({ fills }) => fills.includes(need)))
    .sort((a, b) => steps(a) - steps(b) || (a.entity_id < b.entity_id ? -1 : 1))[0]
}

export function isFilledByTalk({ name }: Need, { observation }: Situation): boolean {
  const fills = observation.current?.fills ?? []
  return fills.length > 0 ? fills.includes(name) : name === 'social'
}

export function findQuestionToAsk(context: ConversationContext): string | undefined {
  const { conversation, random } = context
  const asked = new Set(
    conversation.messages.flatMap(({ message }) => parseUtterance(message).map(({ act }) => act)),
  )
  const kinds = [
    ...(asked.has('wellbeing') ? [] : (['wellbeing'] as const)),
    ...(asked.has('news') ? [] : (['askNews'] as const)),
  ]
  const kind = kinds[0]
  if (kind === 'wellbeing' && asked.size > 0) return smallTalk('wellbeingBack', { random, name: '' })
  return kind === undefined ? undefined : smallTalk(kind, { random, name: getPartnerName(context) })
}

export function getPartnerName({ conversation, situation, places }: ConversationContext): string {
  const { entity_id: self, entities, current } = situation.observation
  const spoken = conversation.messages.findLast(
    ({ speaker_id, is_system }) => speaker_id !== self && !is_system,
  )
  if (spoken !== undefined) return spoken.speaker_name
  const others = [...conversation.participants, conversation.initiator_id, current?.entity_id].filter(
    (id) => id != null && id !== self,
  )
  for (const id of others) {
    const seen = entities?.find(({ entity_id }) => entity_id === id) ?? places.get(id ?? '')
    if (seen !== undefined && seen.display_name !== '') return seen.display_name
  }
  return ''
}
