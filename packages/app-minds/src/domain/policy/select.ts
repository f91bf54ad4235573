import { type Action, makeAction } from '../action.ts'
import type { KnownConversation, StoredMessage } from '../conversation.ts'
import type { Situation } from '../menu.ts'
import { computeNeedShare, isConversation } from '../observation.ts'
import { answerBids } from './bid.ts'
import { type Candidate, compareCandidates, makeCandidate, neutralTerms, useCandidates } from './candidate.ts'
import type { PolicyConstants } from './constants.ts'
import { createGoalKey } from './perceive.ts'
import type { PolicyContext } from './policy-context.ts'
import type { Goal, MindState } from './state.ts'
import { createConversationState, takeTurn } from './talk.ts'
import { hashStatements } from './topics.ts'

export type ExplainedCandidate = Omit<Candidate, 'goal'>

interface PolicyChoice {
  readonly action: Action
  readonly because: string
  readonly goal: Goal | null
  readonly talks: MindState['talks']
  /** Statements shared so far, including those of this action. */
  readonly shared: MindState['shared']
  readonly candidates: readonly ExplainedCandidate[]
  readonly quoted: string | null
}

export function selectAction(context: PolicyContext): PolicyChoice {
  const { situation, constants } = context
  const bid = answerBids(situation, constants)
  if (bid !== undefined) return makeChoice(context, [bid], 'an invitation is pending')
  if (situation.isEnding) {
    const stayCandidate = makeCandidate(makeAction(situation.isMoving ? 'continue' : 'wait'), constants.wait)
    return makeChoice(context, [stayCandidate], 'an interaction is ending')
  }
  if (situation.isInteracting) return chooseInInteraction(context)
  if (situation.isTransitioning)
    return makeChoice(context, [makeStayCandidate(constants)], 'an interaction is beginning or ending')
  const uses = useCandidates(context)
  const free = [...uses, ...makeFallbacks(situation, constants)]
  if (!situation.isMoving) return makeChoice(context, free, 'the best available action')
  return makeChoice(context, continueMovement(free, context), 'on the way')
}

function makeFallbacks({ observation }: Situation, constants: PolicyConstants): Candidate[] {
  const hasLowNeed = observation.needs.some((need) => computeNeedShare(need) < constants.search_below)
  return [
    makeCandidate(makeAction('wander'), constants.wander + (hasLowNeed ? constants.search : 0)),
    makeCandidate(makeAction('wait'), constants.wait),
  ]
}

/** Continues a movement unless another candidate outscores the goal or a need has become critical. */
function continueMovement(
  candidates: readonly Candidate[],
  { state, constants }: PolicyContext,
): Candidate[] {
  const goal = state.last?.goal ?? null
  const before = state.last?.needs ?? {}
  const hasNewCritical = state.critical.some((need) => (before[need] ?? 1) > constants.critical)
  if (goal === null) {
    const uses = candidates.filter((one) => one.goal !== null)
    return [...uses, makeCandidate(makeAction('continue'), constants.wait)]
  }
  const same = candidates.find((one) => one.goal !== null && createGoalKey(one.goal) === createGoalKey(goal))
  if (same?.action.action === 'interact_with' && same.rejected_because === undefined) return [...candidates]
  const isLost = same === undefined || same.rejected_because !== undefined
  const present = isLost ? 0 : same.score
  const factor = hasNewCritical ? 1 : constants.hysteresis
  const continued: Candidate = {
    action: makeAction('continue'),
    target: goal.entity_id,
    score: Math.max(present * factor, isLost ? constants.wait : 0),
    terms: { ...(same?.terms ?? neutralTerms), hysteresis: factor },
    goal,
  }
  return [...candidates.filter((one) => one !== same || hasNewCritical), continued]
}

function chooseInInteraction(context: PolicyContext): PolicyChoice {
  const { situation, state, constants, conversations } = context
  const { current, time } = situation.observation
  const talk = conversations.find(
    (one) =>
      one.interaction_id === current?.interaction_id ||
      (isConversation(current?.name ?? '') && isConversation(one.interaction_name)),
  )
  if (talk !== undefined) return chooseInConversation(context, talk)
  const stay = state.stay
  if (stay === null) return makeChoice(context, [makeStayCandidate(constants)], 'it has just begun')
  const leave = findReasonToLeave(stay, context)
  const isEarly = time - stay.since < constants.minimum_stay_min && leave?.isUrgent !== true
  if (leave === undefined || isEarly)
    return makeChoice(
      context,
      [makeStayCandidate(constants)],
      isEarly ? 'it has just begun' : 'it still helps',
    )
  const candidates = [
    makeCandidate(makeAction('cancel_interaction'), leave.score),
    makeStayCandidate(constants),
  ]
  return makeChoice(context, candidates, leave.because)
}

const makeStayCandidate = ({ stay }: PolicyConstants): Candidate =>
  makeCandidate(makeAction('continue'), stay)

interface LeaveReason {
  readonly score: number
  readonly because: string
  /** Whether the reason overrides the minimum stay. */
  readonly isUrgent: boolean
}

function findReasonToLeave(
  stay: NonNullable<MindState['stay']>,
  { constants, situation }: PolicyContext,
): LeaveReason | undefined {
  const { needs, time } = situation.observation
  const filled = needs.filter(({ name }) => stay.fills.includes(name))
  const others = needs.filter(({ name }) => !stay.fills.includes(name))
  const critical = others.find((need) => computeNeedShare(need) <= constants.critical)
  const leaving = (because: string): LeaveReason => ({ score: constants.leave, because, isUrgent: false })
  if (filled.length === 0) {
    if (critical !== undefined) return leaving(`${critical.name} is critical`)
    const isLong = time - stay.since >= constants.idle_stay_min
    return isLong ? leaving('it has lasted long enough') : undefined
  }
  if (filled.every((need) => computeNeedShare(need) >= constants.satisfied))
    return { score: constants.leave_satisfied, because: 'every need it fills is satisfied', isUrgent: true }
  if (critical === undefined) return undefined
  const primary = filled.reduce((low, need) => (computeNeedShare(need) < computeNeedShare(low) ? need : low))
  const threshold = Math.max(constants.good_enough, constants.critical + constants.critical_margin)
  return computeNeedShare(primary) > threshold ? leaving(`${critical.name} is critical`) : undefined
}

const maxShared = 60

const listReceived = (
  { messages }: KnownConversation,
  newMessages: readonly StoredMessage[],
): readonly string[] => messages.filter((one) => newMessages.includes(one)).map(({ message }) => message)

function chooseInConversation(context: PolicyContext, conversation: KnownConversation): PolicyChoice {
  const { situation, state, constants, newMessages } = context
  const { time } = situation.observation
  const talk = state.talks[conversation.interaction_id] ?? createConversationState(time)
  const turn = takeTurn({ ...context, conversation, talk })
  return {
    ...makeChoice(context, [makeCandidate(turn.action, constants.stay)], turn.because),
    talks: { ...state.talks, [conversation.interaction_id]: turn.talk },
    shared: [
      ...state.shared,
      ...[...listReceived(conversation, newMessages), turn.text].flatMap((text) =>
        hashStatements(text, { conversation, situation }),
      ),
    ].slice(-maxShared),
    quoted: turn.memory_id,
  }
}

function makeChoice(
  { state }: PolicyContext,
  candidates: readonly Candidate[],
  because: string,
): PolicyChoice {
  const usable = candidates.filter((one) => one.rejected_because === undefined).sort(compareCandidates)
  const rejected = candidates.filter((one) => one.rejected_because !== undefined).sort(compareCandidates)
  const best = usable[0] ?? makeCandidate(makeAction('wait'), 0)
  return {
    action: best.action,
    because,
    goal: best.goal,
    talks: state.talks,
    shared: state.shared,
    candidates: [...usable, ...rejected].slice(0, 5).map(explainCandidate),
    quoted: null,
  }
}

function explainCandidate({ action, target, score, terms, rejected_because }: Candidate): ExplainedCandidate {
  const { gain, cost, distance, memory, freshness, hysteresis } = terms
  return {
    action,
    target,
    score: round(score),
    terms: {
      gain: round(gain),
      cost: round(cost),
      distance: round(distance),
      memory: round(memory),
      freshness: round(freshness),
      hysteresis,
    },
    ...(rejected_because === undefined ? {} : { rejected_because }),
  }
}

const round = (value: number): number => Math.round(value * 1e4) / 1e4
