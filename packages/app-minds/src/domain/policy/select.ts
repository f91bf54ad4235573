import { type Action, makeAction } from '../action.ts'
import type { KnownConversation, StoredMessage } from '../conversation.ts'
import type { Situation } from '../menu.ts'
import { computeNeedShare, isConversation } from '../observation.ts'
import { answerBids } from './bid.ts'
import {
  type Candidate,
  compareCandidates,
  listUseCandidates,
  makeCandidate,
  neutralTerms,
} from './candidate.ts'
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
  readonly quotedMemoryId: string | null
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
  const useCandidates = listUseCandidates(context)
  const candidates = [...useCandidates, ...makeFallbacks(situation, constants)]
  if (!situation.isMoving) return makeChoice(context, candidates, 'the best available action')
  return makeChoice(context, continueMovement(candidates, context), 'on the way')
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
  const previousNeeds = state.last?.needs ?? {}
  const hasNewCritical = state.critical.some((need) => (previousNeeds[need] ?? 1) > constants.critical)
  if (goal === null) {
    const useCandidates = candidates.filter((candidate) => candidate.goal !== null)
    return [...useCandidates, makeCandidate(makeAction('continue'), constants.wait)]
  }
  const goalCandidate = candidates.find(
    (candidate) => candidate.goal !== null && createGoalKey(candidate.goal) === createGoalKey(goal),
  )
  if (goalCandidate?.action.action === 'interact_with' && goalCandidate.rejected_because === undefined)
    return [...candidates]
  const isGoalLost = goalCandidate === undefined || goalCandidate.rejected_because !== undefined
  const goalScore = isGoalLost ? 0 : goalCandidate.score
  const factor = hasNewCritical ? 1 : constants.hysteresis
  const continueCandidate: Candidate = {
    action: makeAction('continue'),
    target: goal.entity_id,
    score: Math.max(goalScore * factor, isGoalLost ? constants.wait : 0),
    terms: { ...(goalCandidate?.terms ?? neutralTerms), hysteresis: factor },
    goal,
  }
  return [
    ...candidates.filter((candidate) => candidate !== goalCandidate || hasNewCritical),
    continueCandidate,
  ]
}

function chooseInInteraction(context: PolicyContext): PolicyChoice {
  const { situation, state, constants, conversations } = context
  const { current, time } = situation.observation
  const conversation = conversations.find(
    (candidate) =>
      candidate.interaction_id === current?.interaction_id ||
      (isConversation(current?.name ?? '') && isConversation(candidate.interaction_name)),
  )
  if (conversation !== undefined) return chooseInConversation(context, conversation)
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
  const filledNeeds = needs.filter(({ name }) => stay.fills.includes(name))
  const otherNeeds = needs.filter(({ name }) => !stay.fills.includes(name))
  const criticalNeed = otherNeeds.find((need) => computeNeedShare(need) <= constants.critical)
  const makeLeaveReason = (because: string): LeaveReason => ({
    score: constants.leave,
    because,
    isUrgent: false,
  })
  if (filledNeeds.length === 0) {
    if (criticalNeed !== undefined) return makeLeaveReason(`${criticalNeed.name} is critical`)
    const isLong = time - stay.since >= constants.idle_stay_min
    return isLong ? makeLeaveReason('it has lasted long enough') : undefined
  }
  if (filledNeeds.every((need) => computeNeedShare(need) >= constants.satisfied))
    return { score: constants.leave_satisfied, because: 'every need it fills is satisfied', isUrgent: true }
  if (criticalNeed === undefined) return undefined
  const lowestNeed = filledNeeds.reduce((lowestNeed, need) =>
    computeNeedShare(need) < computeNeedShare(lowestNeed) ? need : lowestNeed,
  )
  const threshold = Math.max(constants.good_enough, constants.critical + constants.critical_margin)
  return computeNeedShare(lowestNeed) > threshold
    ? makeLeaveReason(`${criticalNeed.name} is critical`)
    : undefined
}

const maxShared = 60

const listReceived = (
  { messages }: KnownConversation,
  newMessages: readonly StoredMessage[],
): readonly string[] =>
  messages.filter((message) => newMessages.includes(message)).map(({ message }) => message)

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
    quotedMemoryId: turn.memory_id,
  }
}

function makeChoice(
  { state }: PolicyContext,
  candidates: readonly Candidate[],
  because: string,
): PolicyChoice {
  const usableCandidates = candidates
    .filter((candidate) => candidate.rejected_because === undefined)
    .sort(compareCandidates)
  const rejectedCandidates = candidates
    .filter((candidate) => candidate.rejected_because !== undefined)
    .sort(compareCandidates)
  const bestCandidate = usableCandidates[0] ?? makeCandidate(makeAction('wait'), 0)
  return {
    action: bestCandidate.action,
    because,
    goal: bestCandidate.goal,
    talks: state.talks,
    shared: state.shared,
    candidates: [...usableCandidates, ...rejectedCandidates].slice(0, 5).map(explainCandidate),
    quotedMemoryId: null,
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
