/**
 * The gate: whether an action is legal in this cycle. It judges what any selector chose, repairs spellings that leave no
 * doubt, and says in words what is wrong with the rest, for the model that has to correct itself.
 */
import { asObject } from '@causeway/protocol'
import { type Action, type ActionName, act, actionNames } from './action.ts'
import { readCell } from './cell.ts'
import { type Situation, spokenParameters } from './menu.ts'
import type { Entity } from './observation.ts'

/** What the gate says. */
export type Verdict =
  | { readonly action: Action }
  /** Each a sentence that a model can act on. */
  | { readonly problems: readonly string[] }

/** An action as somebody proposes it. */
export interface Proposal {
  readonly action: unknown
  readonly parameters?: unknown
}

/** Judges an action by the observation of this cycle. */
export function gate(proposal: Proposal, situation: Situation): Verdict {
  const name = actionNames.find((known) => known === wordOf(proposal.action).trim().toLowerCase())
  if (name === undefined)
    return wrong(`there is no action ${quote(proposal.action)}; choose one of ${offered(situation)}`)
  const closed = closedBecause(name, situation)
  if (closed !== undefined) return wrong(`${name}: ${closed}; choose one of ${offered(situation)}`)
  return judges[name](asObject(proposal.parameters), situation)
}

/** What is always possible: to wait, or to go on with what is under way. */
export function safeAction(situation: Situation): Action {
  for (const name of ['wait', 'continue', 'cancel_interaction'] as const) {
    const judged = gate({ action: name }, situation)
    if ('action' in judged) return judged.action
  }
  return act('wait')
}

type Parameters = Readonly<Record<string, unknown>>
type Judge = (parameters: Parameters, situation: Situation) => Verdict

const judges: Readonly<Record<ActionName, Judge>> = {
  move_to: judgeMove,
  move_direction: ({ direction }) =>
    typeof direction === 'string' && direction.trim() !== ''
      ? { action: act('move_direction', { direction: direction.trim() }) }
      : wrong('move_direction needs direction'),
  interact_with: judgeUse,
  wander: () => ({ action: act('wander') }),
  wait: ({ duration }) => {
    const minutes = Number(wordOf(duration) || Number.NaN)
    const isGiven = Number.isFinite(minutes) && minutes > 0
    return { action: act('wait', isGiven ? { duration: minutes } : {}) }
  },
  continue: () => ({ action: act('continue') }),
  act_in_interaction: judgeSpeech,
  cancel_interaction: () => ({ action: act('cancel_interaction') }),
  respond_to_interaction_bid: judgeReply,
  batch_reject_interaction_bids: judgeBatch,
  mark_zone: judgeZone,
}

/** Why an action cannot be taken at all now, or undefined. */
function closedBecause(name: ActionName, situation: Situation): string | undefined {
  const { observation, isInteracting, isBetween, isTornDown, menu } = situation
  if (name === 'move_direction' || name === 'mark_zone') {
    if (name === 'mark_zone') return observation.entities === null ? 'nothing is in sight' : undefined
    return observation.movement_locked || isInteracting || isBetween ? 'movement is locked' : undefined
  }
  if (menu.some(({ action }) => action === name)) return undefined
  if (isTornDown) return 'movement is locked while an interaction ends'
  if (name === 'interact_with' && !isInteracting && !isBetween)
    return 'nothing in sight offers an interaction'
  if (name === 'continue') return 'there is nothing under way'
  if (name === 'cancel_interaction') return 'there is no interaction'
  if (name === 'act_in_interaction')
    return isInteracting ? 'this interaction takes nothing' : 'no interaction is confirmed'
  if (name === 'respond_to_interaction_bid') return 'no bid is pending'
  if (name === 'batch_reject_interaction_bids') return 'fewer than two bids are pending'
  return 'an interaction is under way; cancel it first'
}

function judgeMove(parameters: Parameters): Verdict {
  const { destination, zone_id, x, y } = parameters
  const cell = readCell(destination ?? (x === undefined && y === undefined ? null : [x, y]))
  const zone = typeof zone_id === 'string' && zone_id !== '' ? zone_id : null
  if (cell !== null && zone !== null) return wrong('move_to takes destination or zone_id, not both')
  if (cell !== null) return { action: act('move_to', { destination: cell }) }
  if (zone !== null) return { action: act('move_to', { zone_id: zone }) }
  return wrong('move_to needs destination: [x, y]')
}

function judgeUse(parameters: Parameters, { observation }: Situation): Verdict {
  const entities = observation.entities ?? []
  const named = parameters.entity_id ?? parameters.entity_name
  const entity = findEntity(entities, named)
  if (entity === undefined) {
    const known = entities.filter(({ interactions }) => interactions.length > 0)
    return wrong(
      `no entity ${quote(named)} is in sight; in sight are ${listed(known.map((one) => one.entity_id))}`,
    )
  }
  const names = entity.interactions.map(({ name }) => name)
  const asked = parameters.interaction_name
  const found =
    names.find((name) => name === asked) ??
    names.find((name) => name.toLowerCase() === wordOf(asked).toLowerCase()) ??
    (asked === undefined && names.length === 1 ? names[0] : undefined)
  if (found === undefined)
    return wrong(`${entity.entity_id} does not offer ${quote(asked)}; it offers ${listed(names)}`)
  return { action: act('interact_with', { entity_id: entity.entity_id, interaction_name: found }) }
}

/** By id, else by the one display name that fits. */
function findEntity(entities: readonly Entity[], named: unknown): Entity | undefined {
  const byId = entities.find(({ entity_id }) => entity_id === named)
  if (byId !== undefined) return byId
  const word = wordOf(named).toLowerCase()
  const alike = entities.filter(
    (entity) => entity.display_name.toLowerCase() === word || entity.entity_id.toLowerCase() === word,
  )
  return alike.length === 1 ? alike[0] : undefined
}

function judgeSpeech(parameters: Parameters, { observation }: Situation): Verdict {
  const { current } = observation
  if (current === null) return wrong('act_in_interaction: no interaction is confirmed')
  const known = spokenParameters(current.name, current.parameters).map(({ name }) => name)
  const given = Object.entries(parameters).filter(
    ([name, value]) =>
      (known.includes(name) || name === 'is_farewell') && value !== undefined && value !== null,
  )
  const says = given.filter(([name, value]) => known.includes(name) && value !== '')
  if (says.length === 0) return wrong(`act_in_interaction needs one of ${listed(known)}`)
  return { action: act('act_in_interaction', Object.fromEntries(given)) }
}

function judgeReply({ bid_id, accept, reason }: Parameters, { bids }: Situation): Verdict {
  const bid = bids.find((one) => one.bid_id === bid_id)
  if (bid === undefined)
    return wrong(`no bid ${quote(bid_id)} is pending; pending are ${listed(bids.map((one) => one.bid_id))}`)
  const accepts = accept === true || accept === 'true'
  if (!accepts && accept !== false && accept !== 'false') return wrong('accept must be true or false')
  if (accepts) return { action: act('respond_to_interaction_bid', { bid_id: bid.bid_id, accept: true }) }
  if (typeof reason !== 'string' || reason.trim() === '') return wrong('a rejection needs a reason')
  return {
    action: act('respond_to_interaction_bid', { bid_id: bid.bid_id, accept: false, reason: reason.trim() }),
  }
}

function judgeBatch({ ids, reason }: Parameters, { bids }: Situation): Verdict {
  if (typeof reason !== 'string' || reason.trim() === '') return wrong('a rejection needs a reason')
  if (ids === '*') return { action: act('batch_reject_interaction_bids', { ids, reason }) }
  if (!Array.isArray(ids) || ids.length === 0) return wrong('ids is "*" or a list of bid ids')
  const unknown = ids.filter((id) => !bids.some((bid) => bid.bid_id === id || bid.bidder_id === id))
  if (unknown.length > 0) return wrong(`not pending: ${listed(unknown)}`)
  return { action: act('batch_reject_interaction_bids', { ids, reason }) }
}

function judgeZone(parameters: Parameters): Verdict {
  const { cells, radius, name, kind } = parameters
  if ((cells === undefined) === (radius === undefined)) return wrong('mark_zone takes cells or radius')
  if (typeof name !== 'string' || typeof kind !== 'string') return wrong('mark_zone needs name and kind')
  return { action: act('mark_zone', { ...(cells === undefined ? { radius } : { cells }), name, kind }) }
}

/** A word as a model spells it; anything else is none. */
const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
const wrong = (problem: string): Verdict => ({ problems: [problem] })
const quote = (value: unknown): string => JSON.stringify(value ?? null).slice(0, 80)
const listed = (names: readonly unknown[]): string =>
  names.length === 0 ? 'none' : names.slice(0, 20).join(', ')
const offered = ({ menu }: Situation): string => listed([...new Set(menu.map(({ action }) => action))])
