/** State of a mind between decisions, in addition to its memories: plain JSON, stored as a whole. */
// cspell:ignore heard -- a stored field
import type { Action } from '../action.ts'
import type { Cell } from '../observation.ts'

/** Mean gain as a share of the maximum, and number of samples, by interaction and need (`gainKey`). */
export type Gains = Readonly<Record<string, { readonly mean: number; readonly samples: number }>>

export interface Goal {
  readonly entity_id: string
  readonly interaction_name: string
  readonly need: string | null
  readonly score: number
}

export interface LastAction {
  readonly action: Action
  readonly time: number
  readonly position: Cell | null
  /** Satisfied share by need. */
  readonly needs: Readonly<Record<string, number>>
  readonly goal: Goal | null
}

export interface OngoingInteraction {
  readonly name: string
  readonly entity_id: string | null
  readonly fills: readonly string[]
  readonly since: number
  /** At the start. */
  readonly needs: Readonly<Record<string, number>>
}

export interface News {
  readonly speaker_id: string
  readonly speaker_name: string
  readonly text: string
  /** Game time. */
  readonly time: number
}

export interface ConversationState {
  readonly own_turns: number
  /** Game time of any participant's last message. */
  readonly heard_at: number
  readonly has_nudged: boolean
  readonly has_parted: boolean
}

export interface MindState {
  readonly counter: number
  readonly last: LastAction | null
  readonly stay: OngoingInteraction | null
  readonly gains: Gains
  /** Open conversations by `interaction_id`. */
  readonly talks: Readonly<Record<string, ConversationState>>
  /** The latest statements of others, oldest first: conversation topics. */
  readonly news: readonly News[]
  /** Hashes of the statements to each partner (`hashStatements`), oldest first. */
  readonly shared: readonly number[]
  readonly critical: readonly string[]
  /** Keys of the memories formed on this game day. */
  readonly formed: { readonly day: number; readonly keys: readonly string[] }
  /** The unreachable goal, `entity_id|interaction`. */
  readonly blocked: string | null
  /** Digest and time of the model's last decision (`llm_gate`). */
  readonly gate: { readonly digest: string; readonly at: number } | null
  /** Unknown fields already reported. */
  readonly warned: readonly string[]
}

export const initialState: MindState = Object.freeze({
  counter: 0,
  last: null,
  stay: null,
  gains: {},
  talks: {},
  news: [],
  shared: [],
  critical: [],
  formed: { day: -1, keys: [] },
  blocked: null,
  gate: null,
  warned: [],
})

export const dayMinutes = 1440

export const toGameDay = (time: number): number => Math.floor(time / dayMinutes)
