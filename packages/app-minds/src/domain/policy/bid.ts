/** Answering invitations. */
import { type Action, act } from '../action.ts'
import type { Situation } from '../menu.ts'
import type { PendingBid } from '../observation.ts'
import { isTalk, shareOf } from '../observation.ts'
import { type Candidate, plain } from './candidate.ts'
import type { PolicyConstants } from './constants.ts'
import { urgency } from './urgency.ts'

/** What a mind does about its invitations: the best is accepted, the rest are turned down one decision later. */
export function answerBids(situation: Situation, constants: PolicyConstants): Candidate | undefined {
  const { observation, bids, isInteracting, isBetween } = situation
  if (bids.length === 0 || !situation.menu.some(({ action }) => action === 'respond_to_interaction_bid'))
    return undefined
  const ranked = [...bids].sort(
    (a, b) =>
      sentimentOf(b, situation) - sentimentOf(a, situation) ||
      a.received_at - b.received_at ||
      (a.bid_id < b.bid_id ? -1 : 1),
  )
  const [best, ...rest] = ranked
  if (best === undefined) return undefined
  const answer = (action: Action): Candidate => plain(action, constants.answer_bid)
  const reason =
    isInteracting || isBetween
      ? `I am busy with ${observation.current?.name ?? 'something else'}`
      : refusalReason(best, situation, constants)
  if (reason === undefined)
    return answer(act('respond_to_interaction_bid', { bid_id: best.bid_id, accept: true }))
  if (rest.length > 0) return answer(act('batch_reject_interaction_bids', { ids: '*', reason }))
  return answer(act('respond_to_interaction_bid', { bid_id: best.bid_id, accept: false, reason }))
}

function refusalReason(
  bid: PendingBid,
  situation: Situation,
  constants: PolicyConstants,
): string | undefined {
  const { needs } = situation.observation
  const lowest = needs.reduce<(typeof needs)[number] | undefined>(
    (low, need) => (low === undefined || shareOf(need) < shareOf(low) ? need : low),
    undefined,
  )
  const social = needs.find(({ name }) => name === 'social')
  if (lowest !== undefined && shareOf(lowest) <= constants.critical) {
    // Company cures loneliness: that need alone is no reason to stay away from it.
    const isCure = lowest === social && isTalk(bid.interaction_name)
    if (!isCure) return `I need to see to my ${lowest.name} first`
  }
  const wantsCompany = social === undefined || urgency(shareOf(social), constants) >= constants.social_urgency
  if (wantsCompany || sentimentOf(bid, situation) >= 0) return undefined
  return 'I do not feel like company now'
}

/** How the character feels about who invites, -1 to 1; 0 for a stranger. */
function sentimentOf({ bidder_id }: PendingBid, { observation }: Situation): number {
  const entity = observation.entities?.find(({ entity_id }) => entity_id === bidder_id)
  return entity?.relationship?.sentiment ?? 0
}
