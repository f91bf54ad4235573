import type { ActionName } from './action.ts'
import type { Entity, InteractionParameter, Observation, PendingBid } from './observation.ts'
import { isConversation } from './observation.ts'

export interface MenuOption {
  readonly action: ActionName
  readonly description: string
  readonly parameters: Readonly<Record<string, string>>
}

export interface Situation {
  readonly observation: Observation
  readonly bids: readonly PendingBid[]
  /** Whether the game names an interaction and the activity is `interacting`. */
  readonly isInteracting: boolean
  /** Whether exactly one of both conditions of `isInteracting` is met, because an interaction begins or ends. */
  readonly isTransitioning: boolean
  readonly isMoving: boolean
  /** Whether movement is locked outside an interaction, because one is ending. */
  readonly isEnding: boolean
  readonly menu: readonly MenuOption[]
}

/** Treats a missing activity as `interacting` if the game names an interaction, and as `idle` otherwise. */
export function assessSituation(observation: Observation, bids: readonly PendingBid[]): Situation {
  const hasInteraction = observation.current !== null
  const activity = observation.activity ?? (hasInteraction ? 'interacting' : 'idle')
  const isInteracting = hasInteraction && activity === 'interacting'
  const isTransitioning = !isInteracting && (hasInteraction || activity === 'interacting')
  const isMoving = activity === 'moving' || activity === 'wandering'
  const isEnding = observation.movement_locked && !isInteracting
  const facts = { observation, bids, isInteracting, isTransitioning, isMoving, isEnding }
  return { ...facts, menu: buildMenu(facts) }
}

type SituationFacts = Omit<Situation, 'menu'>

const stayOption: MenuOption = {
  action: 'continue',
  description: 'continue what you are doing',
  parameters: {},
}
const leaveOption: MenuOption = {
  action: 'cancel_interaction',
  description: 'leave the current interaction',
  parameters: {},
}
const waitOption: MenuOption = {
  action: 'wait',
  description: 'stand still for a while',
  parameters: { duration: 'optional, game minutes' },
}

function buildMenu(facts: SituationFacts): readonly MenuOption[] {
  const { observation, isInteracting, isTransitioning, isMoving, isEnding } = facts
  if (isEnding) return [waitOption, stayOption, leaveOption]
  const replies = listReplyOptions(facts.bids)
  if (isInteracting) return [...replies, ...listSpeakOptions(observation), stayOption, leaveOption]
  if (isTransitioning) return [...replies, stayOption, leaveOption]
  return [
    ...replies,
    ...(observation.entities ?? []).flatMap(listUseOptions),
    ...(isMoving ? [stayOption] : []),
    { action: 'move_to', description: 'walk to a cell', parameters: { destination: '[x, y]' } },
    { action: 'wander', description: 'walk about without a goal', parameters: {} },
    waitOption,
  ]
}

function listReplyOptions(bids: readonly PendingBid[]): MenuOption[] {
  const responseOptions = bids.map(
    (bid): MenuOption => ({
      action: 'respond_to_interaction_bid',
      description: `${bid.bidder_name} invites you to ${bid.interaction_name}`,
      parameters: { bid_id: bid.bid_id, accept: 'true or false', reason: 'required when rejecting' },
    }),
  )
  if (bids.length < 2) return responseOptions
  const rejectAllOption: MenuOption = {
    action: 'batch_reject_interaction_bids',
    description: 'turn down several invitations',
    parameters: { ids: '"*" or a list of bid ids', reason: 'why' },
  }
  return [...responseOptions, rejectAllOption]
}

function listSpeakOptions({ current }: Observation): MenuOption[] {
  if (current === null) return []
  const parameters = listSpokenParameters(current.name, current.parameters)
  if (parameters.length === 0) return []
  const parameterDescriptions = parameters.map(
    ({ name, type, description }) => [name, description === '' ? type : `${type}: ${description}`] as const,
  )
  return [
    {
      action: 'act_in_interaction',
      description: `act in ${current.name}`,
      parameters: Object.fromEntries(parameterDescriptions),
    },
  ]
}

/**
 * Returns the advertised parameters of an interaction, or `message` for a conversation that advertises no parameters.
 */
export function listSpokenParameters(
  interaction: string,
  advertised: readonly InteractionParameter[],
): readonly InteractionParameter[] {
  if (advertised.length > 0 || !isConversation(interaction)) return advertised
  return [{ name: 'message', type: 'string', description: 'what you say' }]
}

const listUseOptions = (entity: Entity): MenuOption[] =>
  entity.interactions.map(({ name, description }) => ({
    action: 'interact_with',
    description: `${name} at ${entity.display_name}${description === '' ? '' : `: ${description}`}`,
    parameters: { entity_id: entity.entity_id, interaction_name: name },
  }))
