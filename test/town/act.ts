/** Validates and executes actions. An action that breaks the rules is illegal. The town can refuse a legal action. */
import { type Body, type Cell, distance } from './body.ts'
import type { Perceived } from './observe.ts'
import { ranges, speechInterval, type Town } from './town.ts'

/** An action in its wire format. */
export interface Action {
  readonly action: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Returns why an action is illegal after an observation with the pending `bids`, or `undefined` if it is legal. */
export function findViolation(
  { action, parameters }: Action,
  { observation }: Perceived,
  bids: ReadonlySet<string>,
): string | undefined {
  const { movement_locked } = observation.status
  const isBusy = movement_locked === true
  switch (action) {
    case 'wait':
      return isBusy ? 'wait is not allowed during an interaction' : undefined
    case 'continue':
      return undefined
    case 'wander':
      return isBusy ? 'movement is locked' : undefined
    case 'move_to':
      if (isBusy) return 'movement is locked'
      return parseCell(parameters.destination) === undefined ? 'the destination is not a cell' : undefined
    case 'interact_with': {
      if (isBusy) return 'an interaction is in progress'
      const target = observation.vision.visible_entities.find(
        ({ entity_id }) => entity_id === parameters.entity_id,
      )
      if (target === undefined) return 'the entity is not in sight'
      const name = parameters.interaction_name
      return typeof name === 'string' && name in target.interactions
        ? undefined
        : 'the entity does not offer the interaction'
    }
    case 'act_in_interaction':
      if (observation.conversations.length === 0) return 'the body is not in a conversation'
      return typeof parameters.message === 'string' && parameters.message !== ''
        ? undefined
        : 'the message is missing'
    case 'cancel_interaction':
      return isBusy ? undefined : 'the body is not in an interaction'
    case 'respond_to_interaction_bid':
      if (!bids.has(String(parameters.bid_id))) return 'the bid does not exist'
      if (parameters.accept === true) return undefined
      return typeof parameters.reason === 'string' && parameters.reason !== ''
        ? undefined
        : 'the reason is missing'
    case 'batch_reject_interaction_bids':
      return bids.size >= 2 ? undefined : 'there are fewer than two bids'
    default:
      return 'the action does not exist'
  }
}

/** Executes a legal action. The town refuses it if the situation changed since the observation. */
export function execute(town: Town, body: Body, { action, parameters }: Action): void {
  if (action !== 'continue') body.isWaiting = action === 'wait'
  switch (action) {
    case 'wait':
      body.movement = undefined
      return
    case 'wander':
      if (body.engagement === undefined)
        body.movement = { to: pickDestination(town, body.position), kind: 'wandering' }
      return
    case 'move_to':
      walk(town, body, parseCell(parameters.destination) ?? body.position)
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
      respond(town, body, String(parameters.bid_id), parameters.accept === true, String(parameters.reason))
      return
    case 'batch_reject_interaction_bids':
      for (const bid of [...body.bids.values()]) town.dropBid(body, bid, String(parameters.reason))
      return
  }
}

/** Sends an invitation to a conversation unless one from the same body is pending. */
export function invite(town: Town, from: Body, to: Body): void {
  const pending = [...to.bids.values()].find((bid) => bid.from === from.id)
  town.notify(from, 'INTERACTION_BID_PENDING', { entity_id: to.id, interaction_name: 'conversation' })
  if (pending !== undefined) return
  const bid = { id: town.nextId('bid'), from: from.id, to: to.id, since: town.time }
  to.bids.set(bid.id, bid)
  const payload = {
    bid_id: bid.id,
    bidder_id: from.id,
    bidder_name: from.name,
    interaction_name: 'conversation',
  }
  town.notify(to, 'INTERACTION_BID_RECEIVED', payload, true)
}

/** Adds an utterance to the body's conversation. Returns `false` if the body is not in one or has spoken too recently. */
export function speak(town: Town, body: Body, text: string): boolean {
  if (body.engagement?.kind !== 'talk') return false
  const { utterances } = body.engagement.talk
  const own = utterances.findLast(({ speaker }) => speaker === body.id)
  if (own !== undefined && town.time - own.time < speechInterval) {
    town.notify(body, 'ERROR', { message: 'you spoke only just before' })
    return false
  }
  utterances.push({ speaker: body.id, text, time: town.time })
  return true
}

function walk(town: Town, body: Body, to: Cell): void {
  if (body.engagement !== undefined) return
  if (town.isFree(to)) {
    body.movement = { to, kind: 'moving' }
    return
  }
  body.movement = undefined
  const payload = { status: 'BLOCKED', intended_destination: to, actual_destination: body.position }
  town.notify(body, 'MOVEMENT_COMPLETED', payload)
}

function interact(town: Town, body: Body, targetId: string): void {
  if (body.engagement !== undefined) return
  body.movement = undefined
  const thing = town.things.find(({ id }) => id === targetId)
  if (thing === undefined) {
    const other = town.body(targetId)
    if (distance(other.position, body.position) <= ranges.talk) invite(town, body, other)
    else refuse(town, body, targetId, 'conversation', 'it is too far away')
    return
  }
  if (distance(thing.position, body.position) > 1)
    refuse(town, body, targetId, thing.does, 'it is not adjacent')
  else if (!town.isOpen(thing)) refuse(town, body, targetId, thing.does, 'it is closed')
  else if (thing.users.size >= thing.capacity) refuse(town, body, targetId, thing.does, 'it is taken')
  else {
    thing.users.add(body.id)
    body.engagement = { kind: 'use', id: town.nextId('use'), thing, since: town.time }
    town.notify(body, 'INTERACTION_STARTED', {
      interaction_id: body.engagement.id,
      interaction_name: thing.does,
    })
  }
}

const refuse = (town: Town, body: Body, entity_id: string, interaction_name: string, reason: string): void =>
  town.notify(body, 'INTERACTION_BID_REJECTED', { entity_id, interaction_name, reason })

function respond(town: Town, body: Body, bidId: string, isAccepted: boolean, reason: string): void {
  const bid = body.bids.get(bidId)
  if (bid === undefined) return
  const other = town.body(bid.from)
  if (!isAccepted) town.dropBid(body, bid, reason)
  else if (body.engagement !== undefined || other.engagement !== undefined)
    town.dropBid(body, bid, 'one of you is busy')
  else if (distance(body.position, other.position) > ranges.talk)
    town.dropBid(body, bid, 'you are too far away')
  else startTalk(town, other, body, bidId)
}

function startTalk(town: Town, initiator: Body, invited: Body, bidId: string): void {
  invited.bids.delete(bidId)
  const talk = {
    id: town.nextId('talk'),
    initiator: initiator.id,
    participants: [initiator.id, invited.id] as const,
    since: town.time,
    utterances: [],
    observed: new Map<string, number>(),
  }
  town.talks.set(talk.id, talk)
  for (const participant of [initiator, invited]) {
    participant.movement = undefined
    participant.isWaiting = false
    participant.engagement = { kind: 'talk', talk }
    const payload = { interaction_id: talk.id, interaction_name: 'conversation' }
    town.notify(participant, 'INTERACTION_STARTED', payload)
  }
}

/** Picks a free cell at most 12 cells away on each axis. */
function pickDestination(town: Town, [x, y]: Cell): Cell {
  for (;;) {
    const cell: Cell = [x + town.random.below(25) - 12, y + town.random.below(25) - 12]
    if (town.isFree(cell)) return cell
  }
}

function parseCell(value: unknown): Cell | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined
  const [x, y] = value as readonly unknown[]
  return Number.isInteger(x) && Number.isInteger(y) ? [Number(x), Number(y)] : undefined
}
