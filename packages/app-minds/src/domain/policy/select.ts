/** The policy: from all that is known in a cycle to one action, the same for the same inputs, with its reasons. */
import { type Action, act } from '../action.ts'
import type { KeptMessage } from '../conversation.ts'
import type { Situation } from '../menu.ts'
import { isTalk, shareOf } from '../observation.ts'
import type { Random } from '../random.ts'
import { answerBids } from './bid.ts'
import { byRank, type Candidate, type Outlook, plain, plainTerms, useCandidates } from './candidate.ts'
import type { PolicyConstants } from './constants.ts'
import { goalKey } from './perceive.ts'
import type { Recollection } from './speech.ts'
import type { CarriedState, Goal, Stay, Talk } from './state.ts'
import { type KnownConversation, newTalk, takeTurn } from './talk.ts'

/** Everything that the policy decides on. */
export interface PolicyInput {
  readonly outlook: Outlook
  /** After perceiving. */
  readonly state: CarriedState
  readonly conversations: readonly KnownConversation[]
  /** What others said since the last decision. */
  readonly heard: readonly KeptMessage[]
  /** Memories for the last utterance. */
  readonly recollections: readonly Recollection[]
  readonly random: Random
}

/** One line of an explanation. */
export interface ExplainedCandidate {
  readonly action: Action
  readonly target: string | null
  readonly score: number
  readonly terms: Candidate['terms']
  readonly rejected_because?: string
}

/** What the policy decided. */
export interface PolicyChoice {
  readonly action: Action
  readonly because: string
  readonly goal: Goal | null
  /** The parts in conversations afterwards. */
  readonly talks: CarriedState['talks']
  /** The best five candidates. */
  readonly candidates: readonly ExplainedCandidate[]
  /** Memory that is quoted, where one is. */
  readonly quoted: string | null
}

/** Decides. */
export function selectAction(input: PolicyInput): PolicyChoice {
  const { outlook, state } = input
  const { situation } = outlook
  const { constants } = outlook
  const bid = answerBids(situation, constants)
  if (bid !== undefined) return chosen(input, [bid], 'an invitation waits for an answer')
  if (situation.isTornDown) {
    const stays = plain(act(situation.isMoving ? 'continue' : 'wait'), constants.wait)
    return chosen(input, [stays], 'an interaction is being taken down')
  }
  if (situation.isInteracting) return inInteraction(input)
  if (situation.isBetween)
    return chosen(input, [staying(constants)], 'an interaction is about to begin or to end')
  const uses = useCandidates(outlook)
  const free = [...uses, ...fallbacks(situation, constants)]
  if (!situation.isMoving) return chosen(input, free, 'the best that can be done now')
  return chosen(input, keepGoing(free, state, outlook), 'on the way')
}

/** Walking about and standing still, always possible where the body is free. */
function fallbacks({ observation }: Situation, constants: PolicyConstants): Candidate[] {
  const isWanting = observation.needs.some((need) => shareOf(need) < constants.search_below)
  return [
    plain(act('wander'), constants.wander + (isWanting ? constants.search : 0)),
    plain(act('wait'), constants.wait),
  ]
}

/** While moving, another candidate must beat the goal by a margin, unless a need has turned critical meanwhile. */
function keepGoing(candidates: readonly Candidate[], state: CarriedState, outlook: Outlook): Candidate[] {
  const { constants } = outlook
  const goal = state.last?.goal ?? null
  const before = state.last?.needs ?? {}
  const hasNewCritical = state.critical.some((need) => (before[need] ?? 1) > constants.critical)
  if (goal === null) {
    // A walk without a goal ends as soon as there is one.
    const uses = candidates.filter((one) => one.goal !== null)
    return [...uses, plain(act('continue'), constants.wait)]
  }
  const same = candidates.find((one) => one.goal !== null && goalKey(one.goal) === goalKey(goal))
  if (same?.action.action === 'interact_with' && same.rejected_because === undefined) return [...candidates]
  const isLost = same === undefined || same.rejected_because !== undefined
  const present = isLost ? 0 : same.score
  const factor = hasNewCritical ? 1 : constants.hysteresis
  const going: Candidate = {
    action: act('continue'),
    target: goal.entity_id,
    score: Math.max(present * factor, isLost ? constants.wait : 0),
    terms: { ...(same?.terms ?? plainTerms), hysteresis: factor },
    goal,
  }
  return [...candidates.filter((one) => one !== same || hasNewCritical), going]
}

function inInteraction(input: PolicyInput): PolicyChoice {
  const { outlook, state, conversations } = input
  const { situation, constants } = outlook
  const { current, time } = situation.observation
  const talk = conversations.find(
    (one) =>
      one.interaction_id === current?.interaction_id ||
      (isTalk(current?.name ?? '') && isTalk(one.interaction_name)),
  )
  if (talk !== undefined) return inTalk(input, talk)
  const stay = state.stay
  if (stay === null) return chosen(input, [staying(constants)], 'it has just begun')
  const leave = leavingBecause(stay, input)
  const isEarly = time - stay.since < constants.minimum_stay_min && leave?.isUrgent !== true
  if (leave === undefined || isEarly)
    return chosen(input, [staying(constants)], isEarly ? 'it has just begun' : 'it still helps')
  const candidates = [plain(act('cancel_interaction'), leave.score), staying(constants)]
  return chosen(input, candidates, leave.because)
}

const staying = ({ stay }: PolicyConstants): Candidate => plain(act('continue'), stay)

interface Leaving {
  readonly score: number
  readonly because: string
  /** also within the least stay */
  readonly isUrgent: boolean
}

/** Why to leave: all that it fills is full; or another need is critical while its own is well enough. */
function leavingBecause(stay: Stay, { outlook }: PolicyInput): Leaving | undefined {
  const { constants, situation } = outlook
  const { needs, time } = situation.observation
  const filled = needs.filter(({ name }) => stay.fills.includes(name))
  const others = needs.filter(({ name }) => !stay.fills.includes(name))
  const critical = others.find((need) => shareOf(need) <= constants.critical)
  const leaving = (because: string): Leaving => ({ score: constants.leave, because, isUrgent: false })
  if (filled.length === 0) {
    if (critical !== undefined) return leaving(`${critical.name} is critical`)
    const isLong = time - stay.since >= constants.idle_stay_min
    return isLong ? leaving('it has lasted long enough') : undefined
  }
  if (filled.every((need) => shareOf(need) >= constants.satisfied))
    return { score: constants.leave_satisfied, because: 'it has nothing more to give', isUrgent: true }
  if (critical === undefined) return undefined
  const primary = filled.reduce((low, need) => (shareOf(need) < shareOf(low) ? need : low))
  const enough = Math.max(constants.good_enough, constants.critical + constants.critical_margin)
  return shareOf(primary) > enough ? leaving(`${critical.name} is critical`) : undefined
}

function inTalk(input: PolicyInput, conversation: KnownConversation): PolicyChoice {
  const { outlook, state, heard, recollections, random } = input
  const { situation, constants } = outlook
  const { time } = situation.observation
  const talk: Talk = state.talks[conversation.interaction_id] ?? newTalk(time)
  const turn = takeTurn({ situation, conversation, talk, heard, recollections, random, constants })
  return {
    ...chosen(input, [plain(turn.action, constants.stay)], turn.because),
    talks: { ...state.talks, [conversation.interaction_id]: turn.talk },
    quoted: turn.memory_id,
  }
}

function chosen({ state }: PolicyInput, candidates: readonly Candidate[], because: string): PolicyChoice {
  const usable = candidates.filter((one) => one.rejected_because === undefined).sort(byRank)
  const refused = candidates.filter((one) => one.rejected_because !== undefined).sort(byRank)
  const best = usable[0] ?? plain(act('wait'), 0)
  return {
    action: best.action,
    because,
    goal: best.goal,
    talks: state.talks,
    candidates: [...usable, ...refused].slice(0, 5).map(explained),
    quoted: null,
  }
}

function explained({ action, target, score, terms, rejected_because }: Candidate): ExplainedCandidate {
  const { gain, cost, distance, memory, freshness, hysteresis } = terms
  return {
    action,
    target,
    score: rounded(score),
    terms: {
      gain: rounded(gain),
      cost: rounded(cost),
      distance: rounded(distance),
      memory: rounded(memory),
      freshness: rounded(freshness),
      hysteresis,
    },
    ...(rejected_because === undefined ? {} : { rejected_because }),
  }
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4
