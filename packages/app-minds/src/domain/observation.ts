/** What a character perceives in one cycle, as the game sends it, after spellings are unified and values are checked. */

/** A cell of the game's grid, integers. */
export type Cell = readonly [x: number, y: number]

/** A value on any JSON place. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A need: `value` of `max`; full is satisfied, 0 is depleted. */
export interface Need {
  readonly name: string
  readonly value: number
  readonly max: number
}

/** A parameter that an interaction takes while it runs. */
export interface InteractionParameter {
  readonly name: string
  /** As the game writes it, `string` where it says nothing. */
  readonly type: string
  readonly description: string
}

/** Something that an entity offers to do. */
export interface Interaction {
  readonly name: string
  readonly description: string
  readonly fills: readonly string[]
  readonly drains: readonly string[]
  /** Change of a need per game minute, where the game tells it. */
  readonly rates: Readonly<Record<string, number>>
  /** How long it usually takes, game minutes, where the game tells it. */
  readonly minutes: number | null
}

/** What another entity is doing. */
export interface Engagement {
  readonly interaction_name: string
  readonly participant_names: readonly string[]
  /** False where the game says that nobody else may join. */
  readonly is_joinable: boolean
}

/** How well the character knows another one; absent for a stranger. */
export interface Relationship {
  /** 0 to 1 */
  readonly familiarity: number
  /** -1 to 1 */
  readonly sentiment: number
}

/** Something in sight. */
export interface Entity {
  readonly entity_id: string
  readonly display_name: string
  readonly position: Cell | null
  readonly interactions: readonly Interaction[]
  readonly relationship: Relationship | null
  readonly engagement: Engagement | null
}

/** One utterance. */
export interface Message {
  readonly speaker_id: string
  readonly speaker_name: string
  readonly message: string
  /** On whatever clock the game uses; null where it sends none. */
  readonly timestamp: number | null
  readonly is_system: boolean
}

/** The last messages of a conversation that the character takes part in. */
export interface Conversation {
  readonly interaction_id: string
  readonly interaction_name: string
  readonly participants: readonly string[]
  readonly initiator_id: string | null
  readonly messages: readonly Message[]
}

/** The interaction that the character itself is in. */
export interface CurrentInteraction {
  readonly interaction_id: string | null
  readonly name: string
  readonly entity_id: string | null
  readonly fills: readonly string[]
  readonly rates: Readonly<Record<string, number>>
  readonly parameters: readonly InteractionParameter[]
}

/** What the body is doing, by the game's own word. */
export type Activity = 'idle' | 'waiting' | 'moving' | 'wandering' | 'interacting'

/** Everything perceived in one cycle. */
export interface Observation {
  readonly entity_id: string
  /** Game minutes. */
  readonly time: number
  readonly position: Cell | null
  readonly movement_locked: boolean
  readonly current: CurrentInteraction | null
  /** null where the game does not tell it. */
  readonly activity: Activity | null
  readonly needs: readonly Need[]
  /** null where the character cannot see at all. */
  readonly entities: readonly Entity[] | null
  readonly conversations: readonly Conversation[]
}

/** Something that happened since the last cycle, as the game tells it. */
export interface MindEvent {
  /** Game minutes. */
  readonly timestamp: number
  readonly event_type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** An invitation that waits for an answer. */
export interface PendingBid {
  readonly bid_id: string
  readonly bidder_id: string
  readonly bidder_name: string
  readonly interaction_name: string
  /** Game minutes. */
  readonly received_at: number
}

/** Steps between two cells without diagonals. */
export const manhattan = (a: Cell, b: Cell): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])

/** True for an interaction that is talk: it needs no adjacency, and its parameter is what is said. */
export const isTalk = (interaction: string): boolean =>
  /convers|talk|chat|speak|gossip|discuss/i.test(interaction)

/** Share of a need that is filled, 0 to 1. */
export const shareOf = ({ value, max }: Need): number => Math.min(1, Math.max(0, value / max))

/** The nearest entities, in the order in which they were sent. */
export function nearest(entities: readonly Entity[], position: Cell | null, most: number): Entity[] {
  if (entities.length <= most) return [...entities]
  const steps = (entity: Entity): number =>
    position === null || entity.position === null
      ? Number.MAX_SAFE_INTEGER
      : manhattan(position, entity.position)
  const kept = new Set([...entities].sort((a, b) => steps(a) - steps(b)).slice(0, most))
  return entities.filter((entity) => kept.has(entity))
}
