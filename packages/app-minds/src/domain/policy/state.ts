/** What a mind carries from decision to decision beside its memories: plain JSON, replaced as a whole. */
import type { Action } from '../action.ts'
import type { Cell } from '../observation.ts'

/** Mean gain of a need by an interaction, share of its maximum, and over how many times. */
export type Gains = Readonly<Record<string, { readonly mean: number; readonly samples: number }>>

/** What an action was for. */
export interface Goal {
  readonly entity_id: string
  readonly interaction_name: string
  readonly need: string | null
  readonly score: number
}

/** The last action, and the world in which it was chosen. */
export interface LastAct {
  readonly action: Action
  readonly time: number
  readonly position: Cell | null
  /** need -> share */
  readonly needs: Readonly<Record<string, number>>
  readonly goal: Goal | null
}

/** The interaction that the character is in. */
export interface Stay {
  readonly name: string
  readonly entity_id: string | null
  readonly fills: readonly string[]
  readonly since: number
  /** need -> share when it began */
  readonly needs: Readonly<Record<string, number>>
}

/** The character's part in one conversation. */
export interface Talk {
  readonly own_turns: number
  /** Game time at which something was last said, by anyone. */
  readonly heard_at: number
  readonly has_nudged: boolean
  readonly has_parted: boolean
}

/** Everything that is carried on. */
export interface CarriedState {
  /** Decisions so far. */
  readonly counter: number
  readonly last: LastAct | null
  readonly stay: Stay | null
  readonly gains: Gains
  /** interaction_id -> part in it; only of conversations that are open */
  readonly talks: Readonly<Record<string, Talk>>
  /** Needs that were critical at the last decision. */
  readonly critical: readonly string[]
  /** Memories already formed this game day, by kind and subject. */
  readonly formed: { readonly day: number; readonly keys: readonly string[] }
  /** Steps towards the goal that were blocked, by `entity_id|interaction`. */
  readonly blocked: string | null
  /** What was noticed when a model last decided, and when. */
  readonly gate: { readonly digest: string; readonly at: number } | null
  /** Unknown members that were reported already. */
  readonly warned: readonly string[]
}

/** The state of a mind that has decided nothing yet. */
export const newState: CarriedState = Object.freeze({
  counter: 0,
  last: null,
  stay: null,
  gains: {},
  talks: {},
  critical: [],
  formed: { day: -1, keys: [] },
  blocked: null,
  gate: null,
  warned: [],
})

/** Minutes of a game day. */
export const dayMinutes = 1440

/** The game day of a time. */
export const dayOf = (time: number): number => Math.floor(time / dayMinutes)
