import { type Action, makeAction } from '../action.ts'
import type { Situation } from '../menu.ts'
import type { PendingBid } from '../observation.ts'
import { computeNeedShare, isConversation } from '../observation.ts'
import { type Candidate, makeCandidate } from './candidate.ts'
import type { PolicyConstants } from './constants.ts'
import { computeUrgency } from './urgency.ts'

/** Accepts the best pending invitation, or rejects all. After acceptance, later decisions reject the others. */
export function answerBids(situation: Situation, constants: PolicyConstants): Candidate | undefined {
  const { observation, bids, isInteracting, isTransitioning } = situation
  if (bids.length === 0 || !situation.menu.some(({ action }) => action === 'respond_to_interaction_bid'))
    return undefined
  const sortedBids = [...bids].sort(
    (a, b) =>
      getSentiment(b, situation) - getSentiment(a, situation) ||
      a.received_at - b.received_at ||
      (a.bid_id < b.bid_id ? -1 : 1),
  )
  const [bestBid, ...otherBids] = sortedBids
  if (bestBid === undefined) return undefined
  const makeAnswer = (action: Action): Candidate => makeCandidate(action, constants.answer_bid)
  const reason =
    isInteracting || isTransitioning
      ? `I am busy with ${observation.current?.name ?? 'something else'}`
      : findRefusalReason(bestBid, situation, constants)
  if (reason === undefined)
    return makeAnswer(makeAction('respond_to_interaction_bid', { bid_id: bestBid.bid_id, accept: true }))
  if (otherBids.length > 0)
    return makeAnswer(makeAction('batch_reject_interaction_bids', { ids: '*', reason }))
  return makeAnswer(
    makeAction('respond_to_interaction_bid', { bid_id: bestBid.bid_id, accept: false, reason }),
  )
}

function findRefusalReason(
  bid: PendingBid,
  situation: Situation,
  constants: PolicyConstants,
): string | undefined {
  const { needs } = situation.observation
  const lowestNeed = needs.reduce<(typeof needs)[number] | undefined>(
    (lowestNeed, need) =>
      lowestNeed === undefined || computeNeedShare(need) < computeNeedShare(lowestNeed) ? need : lowestNeed,
    undefined,
  )
  const socialNeed = needs.find(({ name }) => name === 'social')
  if (lowestNeed !== undefined && computeNeedShare(lowestNeed) <= constants.critical) {
    // A conversation fills the social need, so a critical social need is not a reason to reject it.
    const fillsNeed = lowestNeed === socialNeed && isConversation(bid.interaction_name)
    if (!fillsNeed) return `I need to see to my ${lowestNeed.name} first`
  }
  const acceptsCompany =
    socialNeed === undefined ||
    computeUrgency(computeNeedShare(socialNeed), constants) >= constants.social_urgency
  if (acceptsCompany || getSentiment(bid, situation) >= 0) return undefined
  return 'I do not feel like company now'
}

/** Returns the sentiment towards the inviting entity, -1 to 1; 0 for a stranger. */
function getSentiment({ bidder_id }: PendingBid, { observation }: Situation): number {
  const entity = observation.entities?.find(({ entity_id }) => entity_id === bidder_id)
  return entity?.relationship?.sentiment ?? 0
}
