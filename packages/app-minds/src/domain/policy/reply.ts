import { computeSupport } from '../judge-answer.ts'
import type { Situation } from '../menu.ts'
import { searchWords } from '../words.ts'
import { type DialogueAct, findQuestion, parseUtterance, type Sentence } from './dialogue.ts'
import type { ConversationContext } from './policy-context.ts'
import {
  answerQuestion,
  createClaimKey,
  describeCondition,
  describeFeeling,
  findNeeds,
  placeQuestion,
  type SmallTalk,
  smallTalk,
  type Utterance,
} from './speech.ts'
import { describePlace, findPlaceFor, findQuestionToAsk, findTopic, getPartnerName } from './topics.ts'

const say = (text: string, memory_id: string | null = null): Utterance => ({ text, memory_id })

export function composeOpening(context: ConversationContext): Utterance {
  const topic = introduce(findTopic(context) ?? '')
  return say(`${pickFresh('greeting', context)} ${topic}`.trim())
}

/** If `isLast` is set, does not introduce a topic. Returns an empty text if there is nothing to say. */
export function composeReply(
  message: string,
  context: ConversationContext,
  { isLast = false }: { readonly isLast?: boolean } = {},
): Utterance {
  const sentences = parseUtterance(message)
  const greets = sentences.some(({ act }) => act === 'greeting') && !hasGreeted(context)
  const hello = greets && !isLast ? pickFresh('greeting', context) : ''
  const question = findQuestion(message)
  if (question !== undefined) {
    const { text, memory_id } = answer(question, context, isLast)
    return say(join(hello, text), memory_id)
  }
  const reaction = react(sentences, context)
  // Does not start a new topic with a partner who is about to leave.
  if (isLast || plan.test(message)) return say(join(hello, reaction))
  const more = findTopic(context)
  // Prevents two characters from exchanging polite phrases forever.
  if (more === undefined && hello === '' && !sentences.some(({ act }) => act === 'statement')) return say('')
  return say(join(hello, reaction, introduce(more ?? '')))
}

const introduce = (topic: string): string => topic.replace(/^You can /, 'By the way, you can ')

const join = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')

function answer({ act, text }: Sentence, context: ConversationContext, isLast: boolean): Utterance {
  const { situation, recollections, relations, random, constants, mood } = context
  const { needs, time } = situation.observation
  const name = getPartnerName(context)
  switch (act) {
    case 'wellbeing': {
      const [asked] = findNeeds(
        text,
        needs.map((need) => need.name),
      )
      const need = needs.find((one) => one.name === asked)
      const own =
        need === undefined ? describeCondition(needs, mood, constants) : describeFeeling(need, constants)
      const back = isLast ? undefined : findQuestionToAsk(context)
      const topic = isLast || back !== undefined ? undefined : findTopic(context)
      return say(join(own, back ?? topic ?? ''))
    }
    case 'news':
      return say((isLast ? undefined : findTopic(context)) ?? pickFresh('quiet', context))
    case 'presence':
      return say(join(pickFresh('presence', context), (isLast ? undefined : findTopic(context)) ?? ''))
    case 'proposal':
      return say(pickFresh('proposal', context))
    case 'identity': {
      const own = getOwnName(context)
      if (own !== '') return say(`I am ${own}.`)
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
  if (!placeQuestion.test(text)) return undefined
  const { needs } = context.situation.observation
  const [need] = findNeeds(
    text,
    needs.map(({ name }) => name),
  )
  const place = need === undefined ? undefined : findPlaceFor(need, context)
  return place === undefined ? undefined : say(describePlace(place))
}

const badNews =
  /\b(?:die[sd]?|dead|death|kill(?:ed|s)?|stole|stolen|burn(?:ed|t)|broke|broken|lost|fell|hurt|injured|sick|ill|attacked|danger(?:ous)?|flood(?:ed)?|robbed|missing|wolves|refused)\b/i

function react(sentences: readonly Sentence[], context: ConversationContext): string {
  const { act, text } = sentences.findLast((sentence) => reactions.has(sentence.act)) ?? {
    act: 'greeting',
    text: '',
  }
  if (act === 'thanks') return pickFresh('thanks', context)
  if (act === 'condition') return reactToCondition(text, context)
  if (act !== 'statement') return ''
  if (isKnown(text, context)) return pickFresh('known', context)
  return pickFresh(badNews.test(text) ? 'badNews' : 'news', context)
}

const goodCondition =
  /\b(?:well|fine|ok(?:ay)?|good|great|happy|content|calm|relieved|all ?right|not (?:so |too )?bad)\b/i

/** Matches "I am tired, so I want to go to Bed 2 soon." */
const plan = /\bso I want to go\b/i

function reactToCondition(text: string, context: ConversationContext): string {
  if (plan.test(text)) return pickFresh('letGo', context)
  const isGood =
    goodCondition.test(text) &&
    !/\ba (?:little|bit)\b/i.test(text) &&
    !/\bnot (?:so |too |very )?(?:well|good)\b/i.test(text)
  if (isGood) return pickFresh('goodCondition', context)
  const { needs } = context.situation.observation
  const [need] = findNeeds(
    text,
    needs.map(({ name }) => name),
  )
  const place = need === undefined ? undefined : findPlaceFor(need, context)
  const { messages } = context.conversation
  const isMentioned = messages.some(({ message }) => message.includes(place?.display_name ?? ''))
  const advice = place === undefined || isMentioned ? '' : describePlace(place)
  return join(pickFresh('badCondition', context), advice)
}

const reactions: ReadonlySet<DialogueAct> = new Set(['thanks', 'condition', 'statement'])

function isKnown(text: string, { recollections, relations, places }: ConversationContext): boolean {
  const key = createClaimKey(text)
  if ([...places.values()].some((place) => createClaimKey(describePlace(place)) === key)) return true
  const words = searchWords(text)
  return (
    words.length > 2 &&
    recollections.some(({ content }) => computeSupport(words, searchWords(content), relations) === 1)
  )
}

const listOwnMessages = ({ conversation, situation }: ConversationContext) =>
  conversation.messages.filter(({ speaker_id }) => speaker_id === situation.observation.entity_id)

const hasGreeted = (context: ConversationContext): boolean =>
  listOwnMessages(context).some(({ message }) => parseUtterance(message)[0]?.act === 'greeting')

function getOwnName(context: ConversationContext): string {
  const { entity_id, entities } = context.situation.observation as Situation['observation']
  const [own] = listOwnMessages(context)
  return own?.speaker_name ?? entities?.find((entity) => entity.entity_id === entity_id)?.display_name ?? ''
}

function pickFresh(kind: SmallTalk, context: ConversationContext): string {
  const { random } = context
  const own = listOwnMessages(context)
  const options = { random, name: kind === 'wellbeing' ? '' : getPartnerName(context) }
  let text = smallTalk(kind, options)
  for (let tries = 0; tries < 6 && own.some(({ message }) => message.includes(text)); tries++)
    text = smallTalk(kind, options)
  return text
}
