/** What a character can do in this cycle: the menu that a model chooses from, and the facts that the gate judges by. */
import type { ActionName } from './action.ts'
import type { Entity, InteractionParameter, Observation, PendingBid } from './observation.ts'
import { isTalk } from './observation.ts'

/** One entry of the menu. */
export interface MenuOption {
  readonly action: ActionName
  readonly description: string
  /** parameter -> what to write there */
  readonly parameters: Readonly<Record<string, string>>
}

/** The facts of a cycle on which it depends what can be done. */
export interface Situation {
  readonly observation: Observation
  readonly bids: readonly PendingBid[]
  /** Both signals say so: the game names an interaction, and the body is interacting. */
  readonly isInteracting: boolean
  /** One signal alone: an interaction that begins or ends. */
  readonly isBetween: boolean
  readonly isMoving: boolean
  /** Locked without an interaction: one is being torn down. */
  readonly isTornDown: boolean
  readonly menu: readonly MenuOption[]
}

/** Reads off what can be done. Where the game does not tell the body's state, a named interaction counts as both signals. */
export function situationOf(observation: Observation, bids: readonly PendingBid[]): Situation {
  const isNamed = observation.current !== null
  const activity = observation.activity ?? (isNamed ? 'interacting' : 'idle')
  const isInteracting = isNamed && activity === 'interacting'
  const isBetween = !isInteracting && (isNamed || activity === 'interacting')
  const isMoving = activity === 'moving' || activity === 'wandering'
  const isTornDown = observation.movement_locked && !isInteracting
  const facts = { observation, bids, isInteracting, isBetween, isMoving, isTornDown }
  return { ...facts, menu: menuOf(facts) }
}

type Facts = Omit<Situation, 'menu'>

const stay: MenuOption = { action: 'continue', description: 'go on with what you are doing', parameters: {} }
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

function menuOf(facts: Facts): readonly MenuOption[] {
  const { observation, isInteracting, isBetween, isMoving, isTornDown } = facts
  if (isTornDown) return [rest, stay, leave]
  const replies = replyOptions(facts.bids)
  if (isInteracting) return [...replies, ...speakOptions(observation), stay, leave]
  if (isBetween) return [...replies, stay, leave]
  return [
    ...replies,
    ...(observation.entities ?? []).flatMap(useOptions),
    ...(isMoving ? [stay] : []),
    { action: 'move_to', description: 'walk to a cell', parameters: { destination: '[x, y]' } },
    { action: 'wander', description: 'walk about without a goal', parameters: {} },
    rest,
  ]
}

function replyOptions(bids: readonly PendingBid[]): MenuOption[] {
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

function speakOptions({ current }: Observation): MenuOption[] {
  if (current === null) return []
  const parameters = spokenParameters(current.name, current.parameters)
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

/** What can be said or done inside an interaction: what the game advertises, and `message` in a conversation. */
export function spokenParameters(
  interaction: string,
  advertised: readonly InteractionParameter[],
): readonly InteractionParameter[] {
  if (advertised.length > 0 || !isTalk(interaction)) return advertised
  return [{ name: 'message', type: 'string', description: 'what you say' }]
}

const useOptions = (entity: Entity): MenuOption[] =>
  entity.interactions.map(({ name, description }) => ({
    action: 'interact_with',
    description: `${name} at ${entity.display_name}${description === '' ? '' : `: ${description}`}`,
    parameters: { entity_id: entity.entity_id, interaction_name: name },
  }))
