/** What stands and walks in a town. */
import type { ThingKind } from './preset.ts'

/** A cell of the grid. */
export type Cell = readonly [x: number, y: number]

/** Steps between two cells without diagonals. */
export const steps = (a: Cell, b: Cell): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])

/** A thing that a need is filled at. */
export interface Thing extends ThingKind {
  readonly id: string
  readonly position: Cell
  readonly users: Set<string>
}

/** Something that a body is told with its next observation. */
export interface GameEvent {
  readonly timestamp: number
  readonly event_type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** An invitation to talk. */
export interface Bid {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly since: number
}

/** One utterance. */
export interface Said {
  readonly speaker: string
  readonly text: string
  readonly time: number
}

/** A conversation of two. */
export interface Talk {
  readonly id: string
  readonly initiator: string
  readonly participants: readonly [string, string]
  readonly since: number
  readonly said: Said[]
  /** How many utterances each has been told of. */
  readonly heard: Map<string, number>
}

/** What a body is busy with. */
export type Engagement =
  | { readonly kind: 'use'; readonly id: string; readonly thing: Thing; readonly since: number }
  | { readonly kind: 'talk'; readonly talk: Talk }

/** A body; whoever decides for it does so from what it is told. */
export interface Body {
  readonly id: string
  readonly name: string
  /** True for one that follows a script: it has no needs, and nobody invites it. */
  readonly isScripted: boolean
  /** need -> loss per minute, own to it */
  readonly losses: Readonly<Record<string, number>>
  readonly needs: Record<string, number>
  position: Cell
  way: { readonly to: Cell; readonly kind: 'moving' | 'wandering' } | undefined
  isWaiting: boolean
  engaged: Engagement | undefined
  events: GameEvent[]
  /** Invitations that it was told of and has not answered. */
  readonly bids: Map<string, Bid>
}
