import { z } from 'zod'

export const cellSchema = z.tuple([z.int(), z.int()]).readonly()
export type Cell = z.output<typeof cellSchema>

export const nameSchema = z.string().max(4096)

/** A need, from 0 (depleted) to `max` (satisfied). */
export interface Need {
  readonly name: string
  readonly value: number
  readonly max: number
}

export interface InteractionParameter {
  readonly name: string
  /** Type name from the game, by default `string`. */
  readonly type: string
  readonly description: string
}

export const interactionSchema = z.strictObject({
  name: nameSchema,
  description: z.string(),
  fills: z.array(z.string()).readonly(),
  drains: z.array(z.string()).readonly(),
  /** Change of each need per game minute. */
  rates: z.record(z.string(), z.number()),
  /** Usual duration in game minutes. */
  minutes: z.number().nullable(),
})
export type Interaction = Readonly<z.output<typeof interactionSchema>>

interface Engagement {
  readonly interaction_name: string
  readonly participant_names: readonly string[]
  readonly is_joinable: boolean
}

interface Relationship {
  /** 0 to 1 */
  readonly familiarity: number
  /** -1 to 1 */
  readonly sentiment: number
}

export interface Entity {
  readonly entity_id: string
  readonly display_name: string
  readonly position: Cell | null
  readonly interactions: readonly Interaction[]
  readonly relationship: Relationship | null
  readonly engagement: Engagement | null
}

export const messageSchema = z.strictObject({
  speaker_id: nameSchema,
  speaker_name: nameSchema,
  message: z.string(),
  /** Time in the game's own unit. */
  timestamp: z.number().nullable(),
  is_system: z.boolean(),
})
export type Message = Readonly<z.output<typeof messageSchema>>

/** A conversation with its latest messages. */
export interface Conversation {
  readonly interaction_id: string
  readonly interaction_name: string
  readonly participants: readonly string[]
  readonly initiator_id: string | null
  readonly messages: readonly Message[]
}

export interface CurrentInteraction {
  readonly interaction_id: string | null
  readonly name: string
  readonly entity_id: string | null
  readonly fills: readonly string[]
  readonly rates: Readonly<Record<string, number>>
  readonly parameters: readonly InteractionParameter[]
}

export type Activity = 'idle' | 'waiting' | 'moving' | 'wandering' | 'interacting'

export interface Observation {
  readonly entity_id: string
  /** Game minutes. */
  readonly time: number
  readonly position: Cell | null
  readonly movement_locked: boolean
  readonly current: CurrentInteraction | null
  readonly activity: Activity | null
  readonly needs: readonly Need[]
  /** `null` if the observation does not list entities. */
  readonly entities: readonly Entity[] | null
  readonly conversations: readonly Conversation[]
}

export const eventSchema = z.strictObject({
  /** Game minutes. */
  timestamp: z.number(),
  event_type: z.string(),
  payload: z.record(z.string(), z.unknown()),
})
export type MindEvent = Readonly<z.output<typeof eventSchema>>

export const bidSchema = z.strictObject({
  bid_id: nameSchema,
  bidder_id: nameSchema,
  bidder_name: nameSchema,
  interaction_name: nameSchema,
  /** Game minutes. */
  received_at: z.int(),
})
export type PendingBid = Readonly<z.output<typeof bidSchema>>

/** Returns the distance in steps without diagonals. */
export const computeManhattanDistance = (a: Cell, b: Cell): number =>
  Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])

export const isConversation = (interaction: string): boolean =>
  /convers|talk|chat|speak|gossip|discuss/i.test(interaction)

/** Returns the ratio of a need to its maximum, 0 to 1. */
export const computeNeedShare = ({ value, max }: Need): number => Math.min(1, Math.max(0, value / max))

export function findNearest(entities: readonly Entity[], position: Cell | null, max: number): Entity[] {
  if (entities.length <= max) return [...entities]
  const computeSteps = (entity: Entity): number =>
    position === null || entity.position === null
      ? Number.MAX_SAFE_INTEGER
      : computeManhattanDistance(position, entity.position)
  const nearestEntities = new Set(
    [...entities].sort((a, b) => computeSteps(a) - computeSteps(b)).slice(0, max),
  )
  return entities.filter((entity) => nearestEntities.has(entity))
}
