// cspell:ignore heard -- a stored field
import { type Action, makeAction } from '../action.ts'
import type { KnownConversation, StoredMessage } from '../conversation.ts'
import type { Situation } from '../menu.ts'
import { listSpokenParameters } from '../menu.ts'
import type { InteractionParameter, Need } from '../observation.ts'
import { computeNeedShare } from '../observation.ts'
import { findQuestion, isFarewell } from './dialogue.ts'
import type { ConversationContext } from './policy-context.ts'
import { composeOpening, composeReply } from './reply.ts'
import { composeSmallTalk, describeNeed, truncate, type Utterance } from './speech.ts'
import type { ConversationState } from './state.ts'
import { getPartnerName, isFilledByTalk } from './topics.ts'

interface ConversationTurn {
  readonly action: Action
  readonly because: string
  readonly talk: ConversationState
  readonly text: string
  readonly memory_id: string | null
}

export const createConversationState = (time: number): ConversationState => ({
  own_turns: 0,
  heard_at: time,
  has_nudged: false,
  has_parted: false,
})

export function takeTurn(context: ConversationContext): ConversationTurn {
  const { situation, conversation, talk, constants, random } = context
  const { observation } = situation
  const lastMessage = conversation.messages.filter(({ is_system }) => !is_system).at(-1)
  const isMyTurn = isOwnTurn(lastMessage, conversation, observation.entity_id)
  // If both spoke at the same time, an unanswered question can precede the character's own message.
  const unansweredQuestion = context.newMessages.findLast(
    ({ message }) => findQuestion(message) !== undefined,
  )?.message
  const isOwnMessage = lastMessage?.speaker_id === observation.entity_id
  const openQuestion =
    lastMessage !== undefined && !isOwnMessage && findQuestion(lastMessage.message) !== undefined
      ? lastMessage.message
      : unansweredQuestion
  if (talk.has_parted)
    return unansweredQuestion === undefined
      ? makeTurn(makeAction('cancel_interaction'), 'the farewell was said', talk)
      : speak(
          context,
          composeReply(unansweredQuestion, context, { isLast: true }),
          'there was a question',
          talk,
        )
  const endReason = findReasonToEnd(context, lastMessage)
  if (endReason !== undefined)
    return leaveConversation(
      context,
      endReason,
      openQuestion ?? (isOwnMessage ? undefined : lastMessage?.message),
    )
  if (openQuestion !== undefined)
    return speak(context, composeReply(openQuestion, context), 'there was a question', talk)
  const silence = observation.time - talk.heard_at
  if (!isMyTurn) {
    if (silence <= constants.silence_min) return makeTurn(makeAction('continue'), 'it is not my turn', talk)
    if (talk.has_nudged) return leaveConversation(context, 'no one answers', undefined)
    const nudge =
      lastMessage === undefined
        ? composeOpening(context)
        : { text: composeSmallTalk('nudge', { random, name: getPartnerName(context) }), memory_id: null }
    return speak(context, nudge, 'no one has spoken recently', { ...talk, has_nudged: true })
  }
  if (lastMessage === undefined) return speak(context, composeOpening(context), 'I speak first', talk)
  const reply = composeReply(lastMessage.message, context)
  if (reply.text === '') return leaveConversation(context, 'there is nothing left to say', undefined)
  return speak(context, reply, `${lastMessage.speaker_name} spoke last`, talk)
}

/**
 * Whether another participant spoke last. Before the first message, whether the character is the initiator or, if the
 * initiator is unknown, has the lowest id.
 */
function isOwnTurn(
  lastMessage: StoredMessage | undefined,
  conversation: KnownConversation,
  selfId: string,
): boolean {
  if (lastMessage !== undefined) return lastMessage.speaker_id !== selfId
  if (conversation.initiator_id !== null) return conversation.initiator_id === selfId
  return [...conversation.participants].sort()[0] === selfId || conversation.participants.length === 0
}

const partnerLeavingReason = 'the other is leaving'

type EndReason = string | Need

/** Returns `undefined` before the first message, and while the partner has time to respond. */
function findReasonToEnd(
  { situation, talk, constants }: ConversationContext,
  lastMessage: StoredMessage | undefined,
): EndReason | undefined {
  const { observation } = situation
  if (lastMessage === undefined) return undefined
  const isWaiting = lastMessage.speaker_id === observation.entity_id
  if (isWaiting && observation.time - talk.heard_at <= constants.silence_min) return undefined
  const criticalNeed = observation.needs.find(
    (need) => computeNeedShare(need) <= constants.critical && !isFilledByTalk(need, situation),
  )
  if (criticalNeed !== undefined) return criticalNeed
  if (!isWaiting && isFarewell(lastMessage.message)) return partnerLeavingReason
  if (talk.own_turns >= constants.own_turns) return 'enough was said'
  const companyNeeds = observation.needs.filter((need) => isFilledByTalk(need, situation))
  const hasEnoughCompany =
    companyNeeds.length > 0 && companyNeeds.every((need) => computeNeedShare(need) >= constants.talked_out)
  return hasEnoughCompany && talk.own_turns > 0 ? 'there is company enough' : undefined
}

function leaveConversation(
  context: ConversationContext,
  endReason: EndReason,
  message: string | undefined,
): ConversationTurn {
  const because = typeof endReason === 'string' ? endReason : `${endReason.name} is critical`
  const talk = { ...context.talk, has_parted: true }
  if (findSpeechParameter(context.situation) === undefined)
    return makeTurn(makeAction('cancel_interaction'), because, talk)
  const options = { random: context.random, name: getPartnerName(context) }
  const reply =
    message === undefined ? { text: '', memory_id: null } : composeReply(message, context, { isLast: true })
  const excuse =
    typeof endReason === 'string' ? '' : describeExcuse(describeNeed(endReason.name).feeling, reply.text)
  const farewellKind = endReason === partnerLeavingReason ? 'farewellReply' : 'farewell'
  const farewell = composeSmallTalk(excuse === '' ? farewellKind : 'farewellAfterExcuse', options)
  const text = [reply.text, excuse, farewell].filter((part) => part !== '').join(' ')
  return speak(context, { ...reply, text }, because, talk, true)
}

const describeExcuse = (feeling: string, replyText: string): string =>
  replyText.includes(feeling) ? 'I cannot stay.' : `I am ${feeling} and cannot stay.`

function speak(
  context: ConversationContext,
  utterance: Utterance,
  because: string,
  talk: ConversationState,
  isFarewell = false,
): ConversationTurn {
  const { situation, constants } = context
  const parameter = findSpeechParameter(situation)
  if (parameter === undefined)
    return makeTurn(makeAction('continue'), 'this conversation takes no words', talk)
  const { current, time } = situation.observation
  const hasFarewell = current?.parameters.some(({ name }) => name === 'is_farewell') === true
  const action = makeAction('act_in_interaction', {
    [parameter.name]: truncate(utterance.text, constants.utterance_chars),
    ...(isFarewell && hasFarewell ? { is_farewell: true } : {}),
  })
  return {
    action,
    because,
    talk: { ...talk, own_turns: talk.own_turns + 1, heard_at: time },
    text: utterance.text,
    memory_id: utterance.memory_id,
  }
}

function findSpeechParameter({ observation }: Situation): InteractionParameter | undefined {
  const { current } = observation
  if (current === null) return undefined
  const textParameters = listSpokenParameters(current.name, current.parameters).filter(({ type }) =>
    /^(str|string)/i.test(type),
  )
  return (
    textParameters.find(({ name }) => name === 'message') ??
    (textParameters.length === 1 ? textParameters[0] : undefined)
  )
}

const makeTurn = (action: Action, because: string, talk: ConversationState): ConversationTurn => ({
  action,
  because,
  talk,
  text: '',
  memory_id: null,
})
