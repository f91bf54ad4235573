import { asObject } from '@causeway/protocol'
import { type Action, type ActionName, actionNames, makeAction } from './action.ts'
import { readCell } from './cell.ts'
import { listSpokenParameters, type Situation } from './menu.ts'
import type { Entity } from './observation.ts'

export type ValidationResult = { readonly action: Action } | { readonly problems: readonly string[] }

export interface Proposal {
  readonly action: unknown
  readonly parameters?: unknown
}

export function validateAction(proposal: Proposal, situation: Situation): ValidationResult {
  const name = actionNames.find((actionName) => actionName === toWord(proposal.action).trim().toLowerCase())
  if (name === undefined)
    return reject(`unknown action ${quote(proposal.action)}; choose one of ${listActions(situation)}`)
  const obstacle = findObstacle(name, situation)
  if (obstacle !== undefined) return reject(`${name}: ${obstacle}; choose one of ${listActions(situation)}`)
  return validators[name](asObject(proposal.parameters), situation)
}

/** Returns the first legal action of `wait`, `continue` and `cancel_interaction`, or else `wait`. */
export function createSafeAction(situation: Situation): Action {
  for (const name of ['wait', 'continue', 'cancel_interaction'] as const) {
    const result = validateAction({ action: name }, situation)
    if ('action' in result) return result.action
  }
  return makeAction('wait')
}

type Parameters = Readonly<Record<string, unknown>>
type Validator = (parameters: Parameters, situation: Situation) => ValidationResult

const validators: Readonly<Record<ActionName, Validator>> = {
  move_to: validateMove,
  move_direction: ({ direction }) =>
    typeof direction === 'string' && direction.trim() !== ''
      ? { action: makeAction('move_direction', { direction: direction.trim() }) }
      : reject('move_direction needs direction'),
  interact_with: validateUse,
  wander: () => ({ action: makeAction('wander') }),
  wait: ({ duration }) => {
    const minutes = Number(toWord(duration) || Number.NaN)
    const isValid = Number.isFinite(minutes) && minutes > 0
    return { action: makeAction('wait', isValid ? { duration: minutes } : {}) }
  },
  continue: () => ({ action: makeAction('continue') }),
  act_in_interaction: validateSpeech,
  cancel_interaction: () => ({ action: makeAction('cancel_interaction') }),
  respond_to_interaction_bid: validateReply,
  batch_reject_interaction_bids: validateBatch,
  mark_zone: validateZone,
}

function findObstacle(name: ActionName, situation: Situation): string | undefined {
  const { observation, isInteracting, isTransitioning, isEnding, menu } = situation
  if (name === 'move_direction' || name === 'mark_zone') {
    if (name === 'mark_zone') return observation.entities === null ? 'no entity is in sight' : undefined
    return observation.movement_locked || isInteracting || isTransitioning ? 'movement is locked' : undefined
  }
  if (menu.some(({ action }) => action === name)) return undefined
  if (isEnding) return 'movement is locked while an interaction ends'
  if (name === 'interact_with' && !isInteracting && !isTransitioning)
    return 'no entity in sight offers an interaction'
  if (name === 'continue') return 'no activity is in progress'
  if (name === 'cancel_interaction') return 'no interaction is in progress'
  if (name === 'act_in_interaction')
    return isInteracting ? 'this interaction accepts no input' : 'no interaction is confirmed'
  if (name === 'respond_to_interaction_bid') return 'no bid is pending'
  if (name === 'batch_reject_interaction_bids') return 'fewer than two bids are pending'
  return 'an interaction is in progress; cancel it first'
}

function validateMove(parameters: Parameters): ValidationResult {
  const { destination, zone_id, x, y } = parameters
  const cell = readCell(destination ?? (x === undefined && y === undefined ? null : [x, y]))
  const zone = typeof zone_id === 'string' && zone_id !== '' ? zone_id : null
  if (cell !== null && zone !== null) return reject('move_to takes destination or zone_id, not both')
  if (cell !== null) return { action: makeAction('move_to', { destination: cell }) }
  if (zone !== null) return { action: makeAction('move_to', { zone_id: zone }) }
  return reject('move_to needs destination: [x, y]')
}

function validateUse(parameters: Parameters, { observation }: Situation): ValidationResult {
  const entities = observation.entities ?? []
  const requestedEntity = parameters.entity_id ?? parameters.entity_name
  const entity = findEntity(entities, requestedEntity)
  if (entity === undefined) {
    const usableEntities = entities.filter(({ interactions }) => interactions.length > 0)
    return reject(
      `no entity ${quote(requestedEntity)} is in sight; in sight are ${listNames(usableEntities.map((entity) => entity.entity_id))}`,
    )
  }
  const names = entity.interactions.map(({ name }) => name)
  const requestedName = parameters.interaction_name
  const interactionName =
    names.find((name) => name === requestedName) ??
    names.find((name) => name.toLowerCase() === toWord(requestedName).toLowerCase()) ??
    (requestedName === undefined && names.length === 1 ? names[0] : undefined)
  if (interactionName === undefined)
    return reject(`${entity.entity_id} does not offer ${quote(requestedName)}; it offers ${listNames(names)}`)
  return {
    action: makeAction('interact_with', { entity_id: entity.entity_id, interaction_name: interactionName }),
  }
}

function findEntity(entities: readonly Entity[], requestedEntity: unknown): Entity | undefined {
  const byId = entities.find(({ entity_id }) => entity_id === requestedEntity)
  if (byId !== undefined) return byId
  const normalizedName = toWord(requestedEntity).toLowerCase()
  const matches = entities.filter(
    (entity) =>
      entity.display_name.toLowerCase() === normalizedName ||
      entity.entity_id.toLowerCase() === normalizedName,
  )
  return matches.length === 1 ? matches[0] : undefined
}

function validateSpeech(parameters: Parameters, { observation }: Situation): ValidationResult {
  const { current } = observation
  if (current === null) return reject('act_in_interaction: no interaction is confirmed')
  const knownNames = listSpokenParameters(current.name, current.parameters).map(({ name }) => name)
  const suppliedEntries = Object.entries(parameters).filter(
    ([name, value]) =>
      (knownNames.includes(name) || name === 'is_farewell') && value !== undefined && value !== null,
  )
  const textEntries = suppliedEntries.filter(([name, value]) => knownNames.includes(name) && value !== '')
  if (textEntries.length === 0) return reject(`act_in_interaction needs one of ${listNames(knownNames)}`)
  return { action: makeAction('act_in_interaction', Object.fromEntries(suppliedEntries)) }
}

function validateReply({ bid_id, accept, reason }: Parameters, { bids }: Situation): ValidationResult {
  const bid = bids.find((pendingBid) => pendingBid.bid_id === bid_id)
  if (bid === undefined)
    return reject(
      `no bid ${quote(bid_id)} is pending; pending are ${listNames(bids.map((pendingBid) => pendingBid.bid_id))}`,
    )
  const isAccepted = accept === true || accept === 'true'
  if (!isAccepted && accept !== false && accept !== 'false') return reject('accept must be true or false')
  if (isAccepted)
    return { action: makeAction('respond_to_interaction_bid', { bid_id: bid.bid_id, accept: true }) }
  if (typeof reason !== 'string' || reason.trim() === '') return reject('a rejection needs a reason')
  return {
    action: makeAction('respond_to_interaction_bid', {
      bid_id: bid.bid_id,
      accept: false,
      reason: reason.trim(),
    }),
  }
}

function validateBatch({ ids, reason }: Parameters, { bids }: Situation): ValidationResult {
  if (typeof reason !== 'string' || reason.trim() === '') return reject('a rejection needs a reason')
  if (ids === '*') return { action: makeAction('batch_reject_interaction_bids', { ids, reason }) }
  if (!Array.isArray(ids) || ids.length === 0) return reject('ids is "*" or a list of bid ids')
  const unknownIds = ids.filter((id) => !bids.some((bid) => bid.bid_id === id || bid.bidder_id === id))
  if (unknownIds.length > 0) return reject(`not pending: ${listNames(unknownIds)}`)
  return { action: makeAction('batch_reject_interaction_bids', { ids, reason }) }
}

function validateZone(parameters: Parameters): ValidationResult {
  const { cells, radius, name, kind } = parameters
  if ((cells === undefined) === (radius === undefined)) return reject('mark_zone takes cells or radius')
  if (typeof name !== 'string' || typeof kind !== 'string') return reject('mark_zone needs name and kind')
  return {
    action: makeAction('mark_zone', { ...(cells === undefined ? { radius } : { cells }), name, kind }),
  }
}

const toWord = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
const reject = (problem: string): ValidationResult => ({ problems: [problem] })
const quote = (value: unknown): string => JSON.stringify(value ?? null).slice(0, 80)
const listNames = (names: readonly unknown[]): string =>
  names.length === 0 ? 'none' : names.slice(0, 20).join(', ')
const listActions = ({ menu }: Situation): string => listNames([...new Set(menu.map(({ action }) => action))])
