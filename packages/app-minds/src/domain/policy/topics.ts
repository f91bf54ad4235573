// cspell:ignore told -- part of what characters say
import type { Situation } from '../menu.ts'
import type { Need } from '../observation.ts'
import { computeManhattanDistance, computeNeedShare, isConversation } from '../observation.ts'
import { hash32 } from '../random.ts'
import { parseUtterance, type Sentence } from './dialogue.ts'
import type { Place } from './place.ts'
import type { ConversationContext } from './policy-context.ts'
import {
  composeSmallTalk,
  createClaimKey,
  describeNeed,
  mentionsPlaceFor,
  removeAnnouncement,
} from './speech.ts'

/** Returns a topic as a sentence. Skips what was said in this conversation or earlier to this partner. */
export function findTopic(context: ConversationContext): string | undefined {
  const usedKeys = new Set(
    context.conversation.messages.flatMap(({ message }) => parseUtterance(message).map(toKey)),
  )
  const isUnused = (text: string): boolean =>
    parseUtterance(text).every((sentence) => !usedKeys.has(toKey(sentence)))
  const sharedHashes = new Set(context.state.shared)
  const isNew = (text: string): boolean =>
    isUnused(text) && hashStatements(text, context).some((hash) => !sharedHashes.has(hash))
  const topic = findNeedTopic(context, isUnused) ?? findNewsTopic(context, isNew)
  if (topic !== undefined) return topic
  const place = findPlaceTopic(context, isNew)
  const question = findQuestionToAsk(context)
  return context.random() < 0.5 ? (place ?? question) : (question ?? place)
}

const toKey = ({ text }: Sentence): string => createClaimKey(text)

export function hashStatements(
  text: string,
  { conversation, situation }: Pick<ConversationContext, 'conversation' | 'situation'>,
): readonly number[] {
  const selfId = situation.observation.entity_id
  const partnerIds = conversation.participants.filter((id) => id !== selfId).sort()
  return parseUtterance(text)
    .filter(({ act }) => act === 'statement')
    .map((sentence) => hash32(`${partnerIds.join()}|${toKey(sentence)}`))
}

type TopicFilter = (text: string) => boolean

function findNeedTopic(context: ConversationContext, isNew: TopicFilter): string | undefined {
  const { situation, constants } = context
  const { observation } = situation
  const lowestNeed = observation.needs
    .filter((need) => computeNeedShare(need) < constants.search_below && !isFilledByTalk(need, situation))
    .sort((a, b) => computeNeedShare(a) - computeNeedShare(b))[0]
  if (lowestNeed === undefined) return undefined
  const { feeling, remedy } = describeNeed(lowestNeed.name)
  const place = findPlaceFor(lowestNeed.name, context)
  if (place === undefined && hasAdviceFor(lowestNeed.name, context)) return undefined
  const text =
    place === undefined
      ? `I am ${feeling}. Do you know where I can ${remedy}?`
      : `I am ${feeling}, so I want to go to ${addArticle(place.display_name)} soon.`
  return isNew(text) ? text : undefined
}

/** Game minutes for which the character does not ask for the same advice again. */
const adviceMinutes = 720

function hasAdviceFor(need: string, { conversation, situation, state }: ConversationContext): boolean {
  const { entity_id: selfId, time } = situation.observation
  const partnerMessages = conversation.messages.filter(({ speaker_id }) => speaker_id !== selfId)
  const recentNews = state.news.filter((newsItem) => time - newsItem.time < adviceMinutes)
  return [...partnerMessages.map(({ message }) => message), ...recentNews.map(({ text }) => text)].some(
    (text) => mentionsPlaceFor(need, text),
  )
}

function findNewsTopic({ state, conversation }: ConversationContext, isNew: TopicFilter): string | undefined {
  const presentIds = new Set([
    ...conversation.participants,
    ...conversation.messages.map(({ speaker_id }) => speaker_id),
  ])
  const newsItem = state.news.findLast(({ speaker_id, text }) => !presentIds.has(speaker_id) && isNew(text))
  return newsItem === undefined
    ? undefined
    : `${newsItem.speaker_name} told me: ${removeAnnouncement(newsItem.text)}`
}

function findPlaceTopic(
  { places, situation, random }: ConversationContext,
  isNew: TopicFilter,
): string | undefined {
  const visible = new Set(situation.observation.entities?.map(({ entity_id }) => entity_id))
  const descriptions = [...places.values()]
    .filter((place) => !place.gone && !visible.has(place.entity_id) && isUsablePlace(place))
    .map(describePlace)
    .filter(isNew)
  return descriptions[Math.floor(random() * descriptions.length)]
}

const isUsablePlace = ({ interactions }: Place): boolean =>
  interactions.length > 0 && !interactions.every(({ name }) => isConversation(name))

export function describePlace({ display_name, position, interactions }: Place): string {
  const interactionNames = interactions
    .map(({ name }) => name.replaceAll('_', ' '))
    .filter((name) => !isConversation(name))
  const positionText = position === null ? '' : `, at (${position[0]}, ${position[1]})`
  return `You can ${interactionNames.slice(0, 2).join(' or ')} at ${addArticle(display_name)}${positionText}.`
}

const addArticle = (name: string): string =>
  /^(?:the|an?|\S+['’]s)\s|\d|\s\p{Lu}/u.test(name) ? name : `the ${name}`

export function findPlaceFor(need: string, { places, situation }: ConversationContext): Place | undefined {
  const { position } = situation.observation
  const computeSteps = (place: Place): number =>
    position === null || place.position === null
      ? Number.MAX_SAFE_INTEGER
      : computeManhattanDistance(position, place.position)
  return [...places.values()]
    .filter((place) => !place.gone && isUsablePlace(place))
    .filter(({ interactions }) => interactions.some(({ fills }) => fills.includes(need)))
    .sort((a, b) => computeSteps(a) - computeSteps(b) || (a.entity_id < b.entity_id ? -1 : 1))[0]
}

export function isFilledByTalk({ name }: Need, { observation }: Situation): boolean {
  const fills = observation.current?.fills ?? []
  return fills.length > 0 ? fills.includes(name) : name === 'social'
}

export function findQuestionToAsk(context: ConversationContext): string | undefined {
  const { conversation, random } = context
  const askedActs = new Set(
    conversation.messages.flatMap(({ message }) => parseUtterance(message).map(({ act }) => act)),
  )
  const unaskedKinds = [
    ...(askedActs.has('wellbeing') ? [] : (['wellbeing'] as const)),
    ...(askedActs.has('news') ? [] : (['askNews'] as const)),
  ]
  const kind = unaskedKinds[0]
  if (kind === 'wellbeing' && askedActs.size > 0)
    return composeSmallTalk('wellbeingBack', { random, name: '' })
  return kind === undefined ? undefined : composeSmallTalk(kind, { random, name: getPartnerName(context) })
}

export function getPartnerName({ conversation, situation, places }: ConversationContext): string {
  const { entity_id: selfId, entities, current } = situation.observation
  const lastPartnerMessage = conversation.messages.findLast(
    ({ speaker_id, is_system }) => speaker_id !== selfId && !is_system,
  )
  if (lastPartnerMessage !== undefined) return lastPartnerMessage.speaker_name
  const partnerIds = [...conversation.participants, conversation.initiator_id, current?.entity_id].filter(
    (id) => id != null && id !== selfId,
  )
  for (const id of partnerIds) {
    const entity = entities?.find(({ entity_id }) => entity_id === id) ?? places.get(id ?? '')
    if (entity !== undefined && entity.display_name !== '') return entity.display_name
  }
  return ''
}
