/** Types for the objects, bodies and conversations of a town. */
import type { ThingKind } from './preset.ts'

/** A cell of the grid. */
export type Cell = readonly [x: number, y: number]

/** Returns the Manhattan distance between two cells. */
export const distance = (a: Cell, b: Cell): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])

/** An object that satisfies a need. */
export interface Thing extends ThingKind {
  readonly id: string
  readonly position: Cell
  /** Ids of the bodies that use it. */
  readonly users: Set<string>
}

/** An event that is sent with a body's next observation. */
export interface GameEvent {
  readonly timestamp: number
  readonly event_type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** An invitation to a conversation. */
export interface Bid {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly since: number
}

export interface Utterance {
  readonly speaker: string
  readonly text: string
  readonly time: number
}

/** A conversation between two bodies. */
export interface Talk {
  readonly id: string
  readonly initiator: string
  readonly participants: readonly [string, string]
  readonly since: number
  readonly utterances: Utterance[]
  /** Maps each participant to the number of utterances that its observations have covered. */
  readonly observed: Map<string, number>
}

/** The interaction that a body takes part in. */
export type Engagement =
  | { readonly kind: 'use'; readonly id: string; readonly thing: Thing; readonly since: number }
  | { readonly kind: 'talk'; readonly talk: Talk }

/** The state of a body. Its decisions depend only on its observations. */
export interface Body {
  readonly id: string
  readonly name: string
  /** Whether the body follows a script. Scripted bodies have no needs and cannot be invited. */
  readonly isScripted: boolean
  /** Maps each need to its loss per minute. */
  readonly losses: Readonly<Record<string, number>>
  readonly needs: Record<string, number>
  position: Cell
  movement: { readonly to: Cell; readonly kind: 'moving' | 'wandering' } | undefined
  isWaiting: boolean
  engagement: Engagement | undefined
  events: GameEvent[]
  /** Received invitations without a response, by id. */
  readonly bids: Map<string, Bid>
}
