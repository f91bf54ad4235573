import { computeSupport } from '../judge-answer.ts'
import type { Situation } from '../menu.ts'
import { listContentWords } from '../words.ts'
import { type DialogueAct, findQuestion, parseUtterance, type Sentence } from './dialogue.ts'
import type { ConversationContext } from './policy-context.ts'
import {
  answerQuestion,
  composeSmallTalk,
  createClaimKey,
  describeCondition,
  describeFeeling,
  findNeeds,
  placeQuestionPattern,
  type SmallTalk,
  type Utterance,
} from './speech.ts'
import { describePlace, findPlaceFor, findQuestionToAsk, findTopic, getPartnerName } from './topics.ts'

const makeUtterance = (text: string, memory_id: string | null = null): Utterance => ({ text, memory_id })

export function composeOpening(context: ConversationContext): Utterance {
  const topic = introduceTopic(findTopic(context) ?? '')
  return makeUtterance(`${pickUnusedSentence('greeting', context)} ${topic}`.trim())
}

/** With `isLast`, omits the greeting and new topics. Returns an empty text if there is nothing to say. */
export function composeReply(
  message: string,
  context: ConversationContext,
  { isLast = false }: { readonly isLast?: boolean } = {},
): Utterance {
  const sentences = parseUtterance(message)
  const shouldGreet = sentences.some(({ act }) => act === 'greeting') && !hasGreeted(context)
  const greeting = shouldGreet && !isLast ? pickUnusedSentence('greeting', context) : ''
  const question = findQuestion(message)
  if (question !== undefined) {
    const { text, memory_id } = composeAnswer(question, context, isLast)
    return makeUtterance(joinParts(greeting, text), memory_id)
  }
  const reaction = composeReaction(sentences, context)
  // Does not start a new topic with a partner who is about to leave.
  if (isLast || planPattern.test(message)) return makeUtterance(joinParts(greeting, reaction))
  const nextTopic = findTopic(context)
  // Prevents two characters from exchanging polite phrases forever.
  if (nextTopic === undefined && greeting === '' && !sentences.some(({ act }) => act === 'statement'))
    return makeUtterance('')
  return makeUtterance(joinParts(greeting, reaction, introduceTopic(nextTopic ?? '')))
}

const introduceTopic = (topic: string): string => topic.replace(/^You can /, 'By the way, you can ')

const joinParts = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')

function composeAnswer({ act, text }: Sentence, context: ConversationContext, isLast: boolean): Utterance {
  const { situation, recollections, relations, random, constants, mood } = context
  const { needs, time } = situation.observation
  const name = getPartnerName(context)
  switch (act) {
    case 'wellbeing': {
      const [askedNeed] = findNeeds(
        text,
        needs.map((need) => need.name),
      )
      const need = needs.find((need) => need.name === askedNeed)
      const ownCondition =
        need === undefined ? describeCondition(needs, mood, constants) : describeFeeling(need, constants)
      const returnQuestion = isLast ? undefined : findQuestionToAsk(context)
      const topic = isLast || returnQuestion !== undefined ? undefined : findTopic(context)
      return makeUtterance(joinParts(ownCondition, returnQuestion ?? topic ?? ''))
    }
    case 'news':
      return makeUtterance((isLast ? undefined : findTopic(context)) ?? pickUnusedSentence('noNews', context))
    case 'presence':
      return makeUtterance(
        joinParts(pickUnusedSentence('presence', context), (isLast ? undefined : findTopic(context)) ?? ''),
      )
    case 'proposal':
      return makeUtterance(pickUnusedSentence('proposal', context))
    case 'identity': {
      const ownName = getOwnName(context)
      if (ownName !== '') return makeUtterance(`I am ${ownName}.`)
      break
    }
    default:
      break
  }
  return (
    answerPlaceQuestion(text, context) ??
    answerQuestion(text, recollections, { relations, random, constants, now: time, asker: name })
  )
}

function answerPlaceQuestion(text: string, context: ConversationContext): Utterance | undefined {
  if (!placeQuestionPattern.test(text)) return undefined
  const { needs } = context.situation.observation
  const [need] = findNeeds(
    text,
    needs.map(({ name }) => name),
  )
  const place = need === undefined ? undefined : findPlaceFor(need, context)
  return place === undefined ? undefined : makeUtterance(describePlace(place))
}

const badNewsPattern =
  /\b(?:die[sd]?|dead|death|kill(?:ed|s)?|stole|stolen|burn(?:ed|t)|broke|broken|lost|fell|hurt|injured|sick|ill|attacked|danger(?:ous)?|flood(?:ed)?|robbed|missing|wolves|refused)\b/i

function composeReaction(sentences: readonly Sentence[], context: ConversationContext): string {
  const { act, text } = sentences.findLast((sentence) => reactionActs.has(sentence.act)) ?? {
    act: 'greeting',
    text: '',
  }
  if (act === 'thanks') return pickUnusedSentence('thanks', context)
  if (act === 'condition') return reactToCondition(text, context)
  if (act !== 'statement') return ''
  if (isKnown(text, context)) return pickUnusedSentence('known', context)
  return pickUnusedSentence(badNewsPattern.test(text) ? 'badNews' : 'news', context)
}

const goodConditionPattern =
  /\b(?:well|fine|ok(?:ay)?|good|great|happy|content|calm|relieved|all ?right|not (?:so |too )?bad)\b/i

/** Matches "I am tired, so I want to go to Bed 2 soon." */
const planPattern = /\bso I want to go\b/i

function reactToCondition(text: string, context: ConversationContext): string {
  if (planPattern.test(text)) return pickUnusedSentence('understanding', context)
  const isGood =
    goodConditionPattern.test(text) &&
    !/\ba (?:little|bit)\b/i.test(text) &&
    !/\bnot (?:so |too |very )?(?:well|good)\b/i.test(text)
  if (isGood) return pickUnusedSentence('goodCondition', context)
  const { needs } = context.situation.observation
  const [need] = findNeeds(
    text,
    needs.map(({ name }) => name),
  )
  const place = need === undefined ? undefined : findPlaceFor(need, context)
  const { messages } = context.conversation
  const isMentioned = messages.some(({ message }) => message.includes(place?.display_name ?? ''))
  const advice = place === undefined || isMentioned ? '' : describePlace(place)
  return joinParts(pickUnusedSentence('badCondition', context), advice)
}

const reactionActs: ReadonlySet<DialogueAct> = new Set(['thanks', 'condition', 'statement'])

function isKnown(text: string, { recollections, relations, places }: ConversationContext): boolean {
  const key = createClaimKey(text)
  if ([...places.values()].some((place) => createClaimKey(describePlace(place)) === key)) return true
  const words = listContentWords(text)
  return (
    words.length > 2 &&
    recollections.some(({ content }) => computeSupport(words, listContentWords(content), relations) === 1)
  )
}

const listOwnMessages = ({ conversation, situation }: ConversationContext) =>
  conversation.messages.filter(({ speaker_id }) => speaker_id === situation.observation.entity_id)

const hasGreeted = (context: ConversationContext): boolean =>
  listOwnMessages(context).some(({ message }) => parseUtterance(message)[0]?.act === 'greeting')

function getOwnName(context: ConversationContext): string {
  const { entity_id, entities } = context.situation.observation as Situation['observation']
  const [ownMessage] = listOwnMessages(context)
  return (
    ownMessage?.speaker_name ?? entities?.find((entity) => entity.entity_id === entity_id)?.display_name ?? ''
  )
}

function pickUnusedSentence(kind: SmallTalk, context: ConversationContext): string {
  const { random } = context
  const ownMessages = listOwnMessages(context)
  const options = { random, name: kind === 'wellbeing' ? '' : getPartnerName(context) }
  let text = composeSmallTalk(kind, options)
  for (let attempt = 0; attempt < 6 && ownMessages.some(({ message }) => message.includes(text)); attempt++)
    text = composeSmallTalk(kind, options)
  return text
}
