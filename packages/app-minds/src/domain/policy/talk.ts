/** The character's part in a conversation: whose turn it is, what to say, and when to leave. */
import { type Action, act } from '../action.ts'
import type { KeptMessage } from '../conversation.ts'
import type { Situation } from '../menu.ts'
import { spokenParameters } from '../menu.ts'
import type { Conversation, InteractionParameter, Need } from '../observation.ts'
import { shareOf } from '../observation.ts'
import type { Random } from '../random.ts'
import type { PolicyConstants } from './constants.ts'
import { answerTo, cut, dialogueAct, type Recollection, smallTalk, type Utterance } from './speech.ts'
import type { Talk } from './state.ts'

/** A conversation with all that is known of it. */
export interface KnownConversation extends Omit<Conversation, 'messages'> {
  readonly messages: readonly KeptMessage[]
}

/** What a turn is decided on. */
export interface TalkContext {
  readonly situation: Situation
  readonly conversation: KnownConversation
  readonly talk: Talk
  /** What others said since the last decision. */
  readonly heard: readonly KeptMessage[]
  /** Memories for the last utterance, best first. */
  readonly recollections: readonly Recollection[]
  readonly random: Random
  readonly constants: PolicyConstants
}

/** What to do in the conversation, why, and the part in it afterwards. */
export interface Turn {
  readonly action: Action
  readonly because: string
  readonly talk: Talk
  readonly memory_id: string | null
}

/** The part in a conversation that has just begun. */
export const newTalk = (time: number): Talk => ({
  own_turns: 0,
  heard_at: time,
  has_nudged: false,
  has_parted: false,
})

/** The next step in a conversation. */
export function takeTurn(context: TalkContext): Turn {
  const { situation, conversation, talk, constants } = context
  const { observation } = situation
  const last = conversation.messages.filter(({ is_system }) => !is_system).at(-1)
  const isMine = isOwnTurn(last, conversation, observation.entity_id)
  // Where both spoke at once, what was heard may stand before what was said.
  const crossed = context.heard.findLast(isQuestion)?.message
  const asked = isMine && last !== undefined && isQuestion(last) ? last.message : crossed
  if (talk.has_parted)
    return crossed === undefined
      ? step(act('cancel_interaction'), 'the farewell was said', talk)
      : speak(context, answerTo(crossed, context.recollections, context), 'there was a question', talk)
  const ending = endingBecause(context, last)
  if (ending !== undefined) return part(context, ending, asked)
  if (asked !== undefined) return speak(context, reply(asked, context), 'there was a question', talk)
  const silence = observation.time - talk.heard_at
  if (!isMine) {
    if (silence <= constants.silence_min) return step(act('continue'), 'it is not my turn', talk)
    if (talk.has_nudged) return part(context, 'nobody answers', undefined)
    const said = smallTalk('nudge', { random: context.random, name: partnerName(context) })
    return speak(context, said, 'nobody has spoken for a while', { ...talk, has_nudged: true })
  }
  if (last === undefined) {
    const said = smallTalk('opening', { random: context.random, name: partnerName(context) })
    return speak(context, said, 'I speak first', talk)
  }
  return speak(context, reply(last.message, context), `${last.speaker_name} spoke last`, talk)
}

const isQuestion = ({ message }: KeptMessage): boolean => dialogueAct(message) === 'question'

/** My turn: another spoke last, or nobody has spoken and I began; where that is not known, the lowest id begins. */
function isOwnTurn(last: KeptMessage | undefined, conversation: KnownConversation, self: string): boolean {
  if (last !== undefined) return last.speaker_id !== self
  if (conversation.initiator_id !== null) return conversation.initiator_id === self
  return [...conversation.participants].sort()[0] === self || conversation.participants.length === 0
}

function endingBecause(
  { situation, talk, constants }: TalkContext,
  last: KeptMessage | undefined,
): string | undefined {
  const { observation } = situation
  const critical = observation.needs.find(
    (need) => shareOf(need) <= constants.critical && !isFilled(need, situation),
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
  const isTalkedOut = company.length > 0 && company.every((need) => shareOf(need) >= constants.talked_out)
  return isTalkedOut ? 'there is company enough' : undefined
}

/** The need that talking fills: what the game says of the interaction, else the one called social. */
function isFilled({ name }: Need, { observation }: Situation): boolean {
  const fills = observation.current?.fills ?? []
  return fills.length > 0 ? fills.includes(name) : name === 'social'
}

function part(context: TalkContext, because: string, asked: string | undefined): Turn {
  const goodbye = smallTalk('farewell', { random: context.random, name: partnerName(context) })
  if (speechParameter(context.situation) === undefined)
    return step(act('cancel_interaction'), because, { ...context.talk, has_parted: true })
  const answer = asked === undefined ? undefined : answerTo(asked, context.recollections, context)
  const said =
    answer === undefined ? goodbye : { text: `${answer.text} ${goodbye.text}`, memory_id: answer.memory_id }
  return speak(context, said, because, { ...context.talk, has_parted: true }, true)
}

function reply(message: string, context: TalkContext): Utterance {
  const kind = dialogueAct(message)
  if (kind === 'question') return answerTo(message, context.recollections, context)
  const name = partnerName(context)
  return smallTalk(kind === 'greeting' ? 'greeting' : 'reply', { random: context.random, name })
}

function speak(context: TalkContext, said: Utterance, because: string, talk: Talk, isFarewell = false): Turn {
  const { situation, constants } = context
  const parameter = speechParameter(situation)
  if (parameter === undefined) return step(act('continue'), 'this conversation takes no words', talk)
  const { current, time } = situation.observation
  const hasFarewell = current?.parameters.some(({ name }) => name === 'is_farewell') === true
  const action = act('act_in_interaction', {
    [parameter.name]: cut(said.text, constants.utterance_chars),
    ...(isFarewell && hasFarewell ? { is_farewell: true } : {}),
  })
  return {
    action,
    because,
    talk: { ...talk, own_turns: talk.own_turns + 1, heard_at: time },
    memory_id: said.memory_id,
  }
}

/** The parameter that takes words: `message`, else the only one of type string. */
function speechParameter({ observation }: Situation): InteractionParameter | undefined {
  const { current } = observation
  if (current === null) return undefined
  const texts = spokenParameters(current.name, current.parameters).filter(({ type }) =>
    /^(str|string)/i.test(type),
  )
  return texts.find(({ name }) => name === 'message') ?? (texts.length === 1 ? texts[0] : undefined)
}

/** The name of who spoke last beside me, else nothing. */
function partnerName({ conversation, situation }: TalkContext): string {
  const self = situation.observation.entity_id
  const others = conversation.messages.filter(
    ({ speaker_id, is_system }) => speaker_id !== self && !is_system,
  )
  return others.at(-1)?.speaker_name ?? ''
}

const step = (action: Action, because: string, talk: Talk): Turn => ({
  action,
  because,
  talk,
  memory_id: null,
})
