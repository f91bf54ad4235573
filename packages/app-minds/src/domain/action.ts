/** In order of preference for equal scores. */
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

export type ActionName = (typeof actionNames)[number]

export interface Action {
  readonly action: ActionName
  readonly parameters: Readonly<Record<string, unknown>>
}

export const makeAction = (
  action: ActionName,
  parameters: Readonly<Record<string, unknown>> = {},
): Action => ({
  action,
  parameters,
})
