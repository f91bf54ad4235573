// cspell:ignore heard -- a stored field
import { type Action, makeAction } from '../action.ts'
import type { StoredMessage } from '../conversation.ts'
import type { Situation } from '../menu.ts'
import { spokenParameters } from '../menu.ts'
import type { Conversation, InteractionParameter, Need } from '../observation.ts'
import { needShare } from '../observation.ts'
import type { Random } from '../random.ts'
import type { PolicyConstants } from './constants.ts'
import { type AnswerSource, answerQuestion, cut, dialogueAct, smallTalk, type Utterance } from './speech.ts'
import type { ConversationState } from './state.ts'

/** A conversation with all stored messages. */
export interface KnownConversation extends Omit<Conversation, 'messages'> {
  readonly messages: readonly StoredMessage[]
}

export interface ConversationContext {
  readonly situation: Situation
  readonly conversation: KnownConversation
  readonly talk: ConversationState
  /** Messages of others since the last decision. */
  readonly newMessages: readonly StoredMessage[]
  /** Memories for the last message, best first. */
  readonly recollections: readonly AnswerSource[]
  readonly random: Random
  readonly constants: PolicyConstants
}

/** The action, its reason and the conversation state afterwards. */
export interface ConversationTurn {
  readonly action: Action
  readonly because: string
  readonly talk: ConversationState
  readonly memory_id: string | null
}

export const newConversationState = (time: number): ConversationState => ({
  own_turns: 0,
  heard_at: time,
  has_nudged: false,
  has_parted: false,
})

/** Chooses the next step in a conversation. */
export function takeTurn(context: ConversationContext): ConversationTurn {
  const { situation, conversation, talk, constants } = context
  const { observation } = situation
  const last = conversation.messages.filter(({ is_system }) => !is_system).at(-1)
  const isMine = isOwnTurn(last, conversation, observation.entity_id)
  // If both spoke at once, a question may precede the character's own message.
  const crossed = context.newMessages.findLast(isQuestion)?.message
  const asked = isMine && last !== undefined && isQuestion(last) ? last.message : crossed
  if (talk.has_parted)
    return crossed === undefined
      ? step(makeAction('cancel_interaction'), 'the farewell was said', talk)
      : speak(context, answerQuestion(crossed, context.recollections, context), 'there was a question', talk)
  const ending = findReasonToEnd(context, last)
  if (ending !== undefined) return leaveConversation(context, ending, asked)
  if (asked !== undefined) return speak(context, reply(asked, context), 'there was a question', talk)
  const silence = observation.time - talk.heard_at
  if (!isMine) {
    if (silence <= constants.silence_min) return step(makeAction('continue'), 'it is not my turn', talk)
    if (talk.has_nudged) return leaveConversation(context, 'no one answers', undefined)
    const utterance = smallTalk('nudge', { random: context.random, name: partnerName(context) })
    return speak(context, utterance, 'no one has spoken recently', { ...talk, has_nudged: true })
  }
  if (last === undefined) {
    const utterance = smallTalk('opening', { random: context.random, name: partnerName(context) })
    return speak(context, utterance, 'I speak first', talk)
  }
  return speak(context, reply(last.message, context), `${last.speaker_name} spoke last`, talk)
}

const isQuestion = ({ message }: StoredMessage): boolean => dialogueAct(message) === 'question'

/**
 * Whether it is the character's turn: another spoke last, or no one has spoken and the character initiated. With an
 * unknown initiator, the lowest id starts.
 */
function isOwnTurn(last: StoredMessage | undefined, conversation: KnownConversation, self: string): boolean {
  if (last !== undefined) return last.speaker_id !== self
  if (conversation.initiator_id !== null) return conversation.initiator_id === self
  return [...conversation.participants].sort()[0] === self || conversation.participants.length === 0
}

function findReasonToEnd(
  { situation, talk, constants }: ConversationContext,
  last: StoredMessage | undefined,
): string | undefined {
  const { observation } = situation
  const critical = observation.needs.find(
    (need) => needShare(need) <= constants.critical && !isFilled(need, situation),
  )
  if (critical !== undefined) return `${critical.name} is critical`
  if (talk.own_turns >= constants.own_turns) return 'enough was said'
  if (
    last !== undefined &&
    last.speaker_id !== observation.entity_id &&
    dialogueAct(last.message) === 'farewell'
  )
    return `${last.speaker_name} is leaving`
  const company = observation.needs.filter((need) => isFilled(need, situation))
  const isTalkedOut = company.length > 0 && company.every((need) => needShare(need) >= constants.talked_out)
  return isTalkedOut ? 'there is company enough' : undefined
}

/** Whether the conversation fills a need: as the game reports, or the need `social`. */
function isFilled({ name }: Need, { observation }: Situation): boolean {
  const fills = observation.current?.fills ?? []
  return fills.length > 0 ? fills.includes(name) : name === 'social'
}

function leaveConversation(
  context: ConversationContext,
  because: string,
  asked: string | undefined,
): ConversationTurn {
  const goodbye = smallTalk('farewell', { random: context.random, name: partnerName(context) })
  if (speechParameter(context.situation) === undefined)
    return step(makeAction('cancel_interaction'), because, { ...context.talk, has_parted: true })
  const answer = asked === undefined ? undefined : answerQuestion(asked, context.recollections, context)
  const utterance =
    answer === undefined ? goodbye : { text: `${answer.text} ${goodbye.text}`, memory_id: answer.memory_id }
  return speak(context, utterance, because, { ...context.talk, has_parted: true }, true)
}

function reply(message: string, context: ConversationContext): Utterance {
  const kind = dialogueAct(message)
  if (kind === 'question') return answerQuestion(message, context.recollections, context)
  const name = partnerName(context)
  return smallTalk(kind === 'greeting' ? 'greeting' : 'reply', { random: context.random, name })
}

function speak(
  context: ConversationContext,
  utterance: Utterance,
  because: string,
  talk: ConversationState,
  isFarewell = false,
): ConversationTurn {
  const { situation, constants } = context
  const parameter = speechParameter(situation)
  if (parameter === undefined) return step(makeAction('continue'), 'this conversation takes no words', talk)
  const { current, time } = situation.observation
  const hasFarewell = current?.parameters.some(({ name }) => name === 'is_farewell') === true
  const action = makeAction('act_in_interaction', {
    [parameter.name]: cut(utterance.text, constants.utterance_chars),
    ...(isFarewell && hasFarewell ? { is_farewell: true } : {}),
  })
  return {
    action,
    because,
    talk: { ...talk, own_turns: talk.own_turns + 1, heard_at: time },
    memory_id: utterance.memory_id,
  }
}

/** Returns the parameter for the message: `message`, or the only one of type string. */
function speechParameter({ observation }: Situation): InteractionParameter | undefined {
  const { current } = observation
  if (current === null) return undefined
  const texts = spokenParameters(current.name, current.parameters).filter(({ type }) =>
    /^(str|string)/i.test(type),
  )
  return texts.find(({ name }) => name === 'message') ?? (texts.length === 1 ? texts[0] : undefined)
}

/** Returns the name of the last other speaker. */
function partnerName({ conversation, situation }: ConversationContext): string {
  const self = situation.observation.entity_id
  const others = conversation.messages.filter(
    ({ speaker_id, is_system }) => speaker_id !== self && !is_system,
  )
  return others.at(-1)?.speaker_name ?? ''
}

const step = (action: Action, because: string, talk: ConversationState): ConversationTurn => ({
  action,
  because,
  talk,
  memory_id: null,
})
