/** Carrying out an action in the town: what the rules do not allow is illegal, what the world does not grant is refused. */
import { type Body, type Cell, steps } from './body.ts'
import type { Perceived } from './observe.ts'
import { patience, reach, type Town } from './town.ts'

/** An action as it comes over the wire. */
export interface Action {
  readonly action: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Why an action breaks the rules for what was perceived, or undefined. */
export function illegalBecause(
  { action, parameters }: Action,
  { observation }: Perceived,
  bids: ReadonlySet<string>,
): string | undefined {
  const { movement_locked } = observation.status
  const isBusy = movement_locked === true
  switch (action) {
    case 'wait':
      return isBusy ? 'wait leaves the interaction' : undefined
    case 'continue':
      return undefined
    case 'wander':
      return isBusy ? 'movement is locked' : undefined
    case 'move_to':
      if (isBusy) return 'movement is locked'
      return cellOf(parameters.destination) === undefined ? 'there is no destination' : undefined
    case 'interact_with': {
      if (isBusy) return 'an interaction is under way'
      const target = observation.vision.visible_entities.find(
        ({ entity_id }) => entity_id === parameters.entity_id,
      )
      if (target === undefined) return 'it is not in sight'
      const name = parameters.interaction_name
      return typeof name === 'string' && name in target.interactions
        ? undefined
        : 'it does not offer the interaction'
    }
    case 'act_in_interaction':
      if (observation.conversations.length === 0) return 'there is no conversation'
      return typeof parameters.message === 'string' && parameters.message !== ''
        ? undefined
        : 'there is no message'
    case 'cancel_interaction':
      return isBusy ? undefined : 'there is no interaction'
    case 'respond_to_interaction_bid':
      if (!bids.has(String(parameters.bid_id))) return 'there is no such bid'
      if (parameters.accept === true) return undefined
      return typeof parameters.reason === 'string' && parameters.reason !== ''
        ? undefined
        : 'there is no reason'
    case 'batch_reject_interaction_bids':
      return bids.size >= 2 ? undefined : 'there are fewer than two bids'
    default:
      return 'there is no such action'
  }
}

/** Carries out a legal action; the world may have changed since the observation and then refuses, as it does a stranger. */
export function carryOut(town: Town, body: Body, { action, parameters }: Action): void {
  if (action !== 'continue') body.isWaiting = action === 'wait'
  switch (action) {
    case 'wait':
      body.way = undefined
      return
    case 'wander':
      if (body.engaged === undefined) body.way = { to: strollFrom(town, body.position), kind: 'wandering' }
      return
    case 'move_to':
      walk(town, body, cellOf(parameters.destination) ?? body.position)
      return
    case 'interact_with':
      interact(town, body, String(parameters.entity_id))
      return
    case 'act_in_interaction':
      speak(town, body, String(parameters.message))
      return
    case 'cancel_interaction':
      town.leave(body, 'INTERACTION_CANCELED')
      return
    case 'respond_to_interaction_bid':
      answer(town, body, String(parameters.bid_id), parameters.accept === true, String(parameters.reason))
      return
    case 'batch_reject_interaction_bids':
      for (const bid of [...body.bids.values()]) town.dropBid(body, bid, String(parameters.reason))
      return
  }
}

/** Invites another to talk. */
export function invite(town: Town, from: Body, to: Body): void {
  const pending = [...to.bids.values()].find((bid) => bid.from === from.id)
  town.tell(from, 'INTERACTION_BID_PENDING', { entity_id: to.id, interaction_name: 'conversation' })
  if (pending !== undefined) return
  const bid = { id: town.id('bid'), from: from.id, to: to.id, since: town.time }
  to.bids.set(bid.id, bid)
  const payload = {
    bid_id: bid.id,
    bidder_id: from.id,
    bidder_name: from.name,
    interaction_name: 'conversation',
  }
  town.tell(to, 'INTERACTION_BID_RECEIVED', payload, true)
}

/** Says something in the conversation that a body is in; false where it spoke only just before. */
export function speak(town: Town, body: Body, text: string): boolean {
  if (body.engaged?.kind !== 'talk') return false
  const { said } = body.engaged.talk
  const own = said.findLast(({ speaker }) => speaker === body.id)
  if (own !== undefined && town.time - own.time < patience.speech) {
    town.tell(body, 'ERROR', { message: 'you spoke only just before' })
    return false
  }
  said.push({ speaker: body.id, text, time: town.time })
  return true
}

function walk(town: Town, body: Body, to: Cell): void {
  if (body.engaged !== undefined) return
  if (town.isFree(to)) {
    body.way = { to, kind: 'moving' }
    return
  }
  body.way = undefined
  const payload = { status: 'BLOCKED', intended_destination: to, actual_destination: body.position }
  town.tell(body, 'MOVEMENT_COMPLETED', payload)
}

function interact(town: Town, body: Body, targetId: string): void {
  if (body.engaged !== undefined) return
  body.way = undefined
  const thing = town.things.find(({ id }) => id === targetId)
  if (thing === undefined) {
    const other = town.body(targetId)
    if (steps(other.position, body.position) <= reach.talk) invite(town, body, other)
    else refuse(town, body, targetId, 'conversation', 'it is too far away')
    return
  }
  if (steps(thing.position, body.position) > 1) refuse(town, body, targetId, thing.does, 'it is not adjacent')
  else if (!town.isOpen(thing)) refuse(town, body, targetId, thing.does, 'it is closed')
  else if (thing.users.size >= thing.capacity) refuse(town, body, targetId, thing.does, 'it is taken')
  else {
    thing.users.add(body.id)
    body.engaged = { kind: 'use', id: town.id('use'), thing, since: town.time }
    town.tell(body, 'INTERACTION_STARTED', {
      interaction_id: body.engaged.id,
      interaction_name: thing.does,
    })
  }
}

const refuse = (town: Town, body: Body, entity_id: string, interaction_name: string, reason: string): void =>
  town.tell(body, 'INTERACTION_BID_REJECTED', { entity_id, interaction_name, reason })

function answer(town: Town, body: Body, bidId: string, isAccepted: boolean, reason: string): void {
  const bid = body.bids.get(bidId)
  if (bid === undefined) return
  const other = town.body(bid.from)
  if (!isAccepted) town.dropBid(body, bid, reason)
  else if (body.engaged !== undefined || other.engaged !== undefined)
    town.dropBid(body, bid, 'one of you is busy')
  else if (steps(body.position, other.position) > reach.talk) town.dropBid(body, bid, 'you are too far away')
  else begin(town, other, body, bidId)
}

function begin(town: Town, initiator: Body, invited: Body, bidId: string): void {
  invited.bids.delete(bidId)
  const talk = {
    id: town.id('talk'),
    initiator: initiator.id,
    participants: [initiator.id, invited.id] as const,
    since: town.time,
    said: [],
    heard: new Map<string, number>(),
  }
  town.talks.set(talk.id, talk)
  for (const one of [initiator, invited]) {
    one.way = undefined
    one.isWaiting = false
    one.engaged = { kind: 'talk', talk }
    const payload = { interaction_id: talk.id, interaction_name: 'conversation' }
    town.tell(one, 'INTERACTION_STARTED', payload)
  }
}

/** Somewhere free within a stroll. */
function strollFrom(town: Town, [x, y]: Cell): Cell {
  for (;;) {
    const cell: Cell = [x + town.chance.below(25) - 12, y + town.chance.below(25) - 12]
    if (town.isFree(cell)) return cell
  }
}

function cellOf(value: unknown): Cell | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined
  const [x, y] = value as readonly unknown[]
  return Number.isInteger(x) && Number.isInteger(y) ? [Number(x), Number(y)] : undefined
}
