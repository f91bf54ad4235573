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
  /** Whether only one of these two conditions is met, because an interaction begins or ends. */
  readonly isTransitioning: boolean
  readonly isMoving: boolean
  /** Whether movement is locked outside an interaction, because one is ending. */
  readonly isEnding: boolean
  readonly menu: readonly MenuOption[]
}

/** Treats an unknown activity as `interacting` if the game names an interaction. */
export function assessSituation(observation: Observation, bids: readonly PendingBid[]): Situation {
  const isNamed = observation.current !== null
  const activity = observation.activity ?? (isNamed ? 'interacting' : 'idle')
  const isInteracting = isNamed && activity === 'interacting'
  const isTransitioning = !isInteracting && (isNamed || activity === 'interacting')
  const isMoving = activity === 'moving' || activity === 'wandering'
  const isEnding = observation.movement_locked && !isInteracting
  const facts = { observation, bids, isInteracting, isTransitioning, isMoving, isEnding }
  return { ...facts, menu: buildMenu(facts) }
}

type Facts = Omit<Situation, 'menu'>

const stay: MenuOption = { action: 'continue', description: 'continue what you are doing', parameters: {} }
const leave: MenuOption = {
  action: 'cancel_interaction',
  description: 'leave the current interaction',
  parameters: {},
}
const rest: MenuOption = {
  action: 'wait',
  description: 'stand still for a while',
  parameters: { duration: 'optional, game minutes' },
}

function buildMenu(facts: Facts): readonly MenuOption[] {
  const { observation, isInteracting, isTransitioning, isMoving, isEnding } = facts
  if (isEnding) return [rest, stay, leave]
  const replies = listReplyOptions(facts.bids)
  if (isInteracting) return [...replies, ...listSpeakOptions(observation), stay, leave]
  if (isTransitioning) return [...replies, stay, leave]
  return [
    ...replies,
    ...(observation.entities ?? []).flatMap(useOptions),
    ...(isMoving ? [stay] : []),
    { action: 'move_to', description: 'walk to a cell', parameters: { destination: '[x, y]' } },
    { action: 'wander', description: 'walk about without a goal', parameters: {} },
    rest,
  ]
}

function listReplyOptions(bids: readonly PendingBid[]): MenuOption[] {
  const each = bids.map(
    (bid): MenuOption => ({
      action: 'respond_to_interaction_bid',
      description: `${bid.bidder_name} invites you to ${bid.interaction_name}`,
      parameters: { bid_id: bid.bid_id, accept: 'true or false', reason: 'required when rejecting' },
    }),
  )
  if (bids.length < 2) return each
  const all: MenuOption = {
    action: 'batch_reject_interaction_bids',
    description: 'turn down several invitations',
    parameters: { ids: '"*" or a list of bid ids', reason: 'why' },
  }
  return [...each, all]
}

function listSpeakOptions({ current }: Observation): MenuOption[] {
  if (current === null) return []
  const parameters = listSpokenParameters(current.name, current.parameters)
  if (parameters.length === 0) return []
  const described = parameters.map(
    ({ name, type, description }) => [name, description === '' ? type : `${type}: ${description}`] as const,
  )
  return [
    {
      action: 'act_in_interaction',
      description: `act in ${current.name}`,
      parameters: Object.fromEntries(described),
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

const useOptions = (entity: Entity): MenuOption[] =>
  entity.interactions.map(({ name, description }) => ({
    action: 'interact_with',
    description: `${name} at ${entity.display_name}${description === '' ? '' : `: ${description}`}`,
    parameters: { entity_id: entity.entity_id, interaction_name: name },
  }))
