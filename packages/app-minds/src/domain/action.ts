/** The actions that a character can take, and what each needs. */

/** Every action by name, in the order that breaks ties between equal scores. */
export const actionNames = [
  'respond_to_interaction_bid',
  'batch_reject_interaction_bids',
  'act_in_interaction',
  'cancel_interaction',
  'interact_with',
  'move_to',
  'continue',
  'wander',
  'wait',
  'move_direction',
  'mark_zone',
] as const

/** The name of an action. */
export type ActionName = (typeof actionNames)[number]

/** What a character does next. */
export interface Action {
  readonly action: ActionName
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Makes an action. */
export const act = (action: ActionName, parameters: Readonly<Record<string, unknown>> = {}): Action => ({
  action,
  parameters,
})
