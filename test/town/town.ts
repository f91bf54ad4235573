/** The simulated state of a town: objects, bodies, needs, movement and conversations. */
import type { Bid, Body, Cell, GameEvent, Talk, Thing } from './body.ts'
import { distance } from './body.ts'
import type { Preset } from './preset.ts'
import { createRandomSource, type RandomSource } from './random-source.ts'

/** Minutes per day. */
export const day = 1440

/** Ranges of sight and of conversations in cells, and the walking speed in cells per minute. */
export const ranges = { sight: 8, talk: 5, walk: 2 } as const

/** Minutes after which an invitation expires. */
const bidTimeout = 6

/** Minimum number of minutes between two utterances of a speaker. */
export const speechInterval = 3

const names = [
  'Anna',
  'Bela',
  'Cora',
  'Dirk',
  'Elsa',
  'Finn',
  'Gerd',
  'Hanna',
  'Ivo',
  'Jutta',
  'Karl',
  'Lena',
]

const scriptedNames = ['Odo', 'Wilma'] as const

/** A town. `advance` simulates one minute; the functions of act.ts change what bodies do. */
export class Town {
  readonly preset: Preset
  readonly random: RandomSource
  readonly things: readonly Thing[]
  readonly bodies: readonly Body[]
  readonly talks = new Map<string, Talk>()
  /** Called when a conversation ends, with the id of the body that ended it. */
  onEnd: (talk: Talk, endedBy: string) => void = () => undefined
  /** Game minutes since the start of day 1. */
  time = 0
  #idCount = 0

  constructor(preset: Preset, seed: number) {
    this.preset = preset
    this.random = createRandomSource(seed)
    this.things = this.#placeThings()
    this.bodies = [
      ...names.map((name) => this.#createBody(name, false)),
      ...scriptedNames.map((name) => this.#createBody(name, true)),
    ]
  }

  /** The bodies that minds control. */
  get characters(): readonly Body[] {
    return this.bodies.filter(({ isScripted }) => !isScripted)
  }

  body(id: string): Body {
    const body = this.bodies.find((candidate) => candidate.id === id)
    if (body === undefined) throw new Error(`unknown body: ${id}`)
    return body
  }

  /** Returns a unique id for a conversation, use or invitation. */
  nextId(kind: string): string {
    this.#idCount += 1
    return `${kind}_${this.#idCount}`
  }

  /** Queues an event for a body. A game without events skips it, unless `always` is true; scripted bodies get none. */
  notify(body: Body, event_type: string, payload: GameEvent['payload'], always = false): void {
    if (body.isScripted || !(always || this.preset.hasEvents)) return
    body.events.push({ timestamp: this.time, event_type, payload })
  }

  isOpen({ opens = 0, closes = day }: Thing): boolean {
    const minute = this.time % day
    return minute >= opens && minute < closes
  }

  isFree([x, y]: Cell): boolean {
    const isInside = x >= 0 && y >= 0 && x < this.preset.width && y < this.preset.height
    return isInside && !this.things.some(({ position }) => position[0] === x && position[1] === y)
  }

  /** Simulates one minute: needs fall and are satisfied, bodies walk, invitations expire. */
  advance(): void {
    this.time += 1
    for (const body of this.bodies) {
      for (const [need, loss] of Object.entries(body.losses)) this.#change(body, need, -loss)
      if (body.engagement?.kind === 'use') this.#use(body, body.engagement)
      else if (body.engagement?.kind === 'talk')
        this.#change(body, this.preset.talkFills, this.preset.talkRate)
      if (body.movement !== undefined) this.#walk(body, body.movement)
      for (const bid of [...body.bids.values()])
        if (this.time - bid.since >= bidTimeout) this.dropBid(body, bid, 'no answer came')
    }
  }

  /** Removes an invitation and notifies both bodies. */
  dropBid(invited: Body, bid: Bid, reason: string): void {
    invited.bids.delete(bid.id)
    this.notify(invited, 'INTERACTION_BID_CANCELED', { bid_id: bid.id }, true)
    this.notify(this.body(bid.from), 'INTERACTION_BID_REJECTED', {
      entity_id: bid.to,
      interaction_name: 'conversation',
      reason,
    })
  }

  /** Ends a body's interaction. `event` is the event type for the end of a use. */
  leave(body: Body, event = 'INTERACTION_FINISHED'): void {
    const { engagement } = body
    if (engagement === undefined) return
    if (engagement.kind === 'use') {
      engagement.thing.users.delete(body.id)
      body.engagement = undefined
      this.notify(body, event, { interaction_id: engagement.id, interaction_name: engagement.thing.does })
      return
    }
    const { talk } = engagement
    this.talks.delete(talk.id)
    for (const id of talk.participants) {
      const participant = this.body(id)
      participant.engagement = undefined
      const payload = { interaction_id: talk.id, interaction_name: 'conversation' }
      this.notify(participant, 'INTERACTION_FINISHED', payload, true)
    }
    this.onEnd(talk, body.id)
  }

  #change(body: Body, need: string, amount: number): void {
    const value = body.needs[need]
    if (value !== undefined) body.needs[need] = Math.min(this.preset.max, Math.max(0, value + amount))
  }

  #use(body: Body, { thing, since }: Extract<Body['engagement'], { kind: 'use' }>): void {
    this.#change(body, thing.fills, thing.rate)
    const isFull = body.needs[thing.fills] === this.preset.max
    if (isFull || this.time - since >= thing.minutes || !this.isOpen(thing)) this.leave(body)
  }

  #walk(body: Body, { to }: NonNullable<Body['movement']>): void {
    for (let remaining = ranges.walk; remaining > 0 && distance(body.position, to) > 0; remaining--) {
      const [x, y] = body.position
      body.position = x === to[0] ? [x, y + Math.sign(to[1] - y)] : [x + Math.sign(to[0] - x), y]
    }
    if (distance(body.position, to) > 0) return
    body.movement = undefined
    this.notify(body, 'MOVEMENT_COMPLETED', { status: 'ARRIVED', actual_destination: to })
  }

  /** Places the objects away from the edge and from each other, so that each has free adjacent cells. */
  #placeThings(): Thing[] {
    const things: Thing[] = []
    for (const kind of this.preset.things)
      for (let n = 1; n <= kind.count; n++) {
        const position = this.#pickCell((cell) => things.every((thing) => distance(thing.position, cell) > 2))
        things.push({
          ...kind,
          id: `${kind.name.toLowerCase()}_${n}`,
          name: `${kind.name} ${n}`,
          position,
          users: new Set(),
        })
      }
    return things
  }

  #pickCell(isSuitable: (cell: Cell) => boolean): Cell {
    const { width, height } = this.preset
    for (;;) {
      const cell: Cell = [1 + this.random.below(width - 2), 1 + this.random.below(height - 2)]
      if (isSuitable(cell)) return cell
    }
  }

  #createBody(name: string, isScripted: boolean): Body {
    const needs = isScripted ? [] : Object.entries(this.preset.needs)
    return {
      id: name.toLowerCase(),
      name,
      isScripted,
      losses: Object.fromEntries(
        needs.map(([need, loss]) => [need, loss * (0.8 + 0.4 * this.random.next())]),
      ),
      needs: Object.fromEntries(
        needs.map(([need]) => [need, this.preset.max * (0.6 + 0.4 * this.random.next())]),
      ),
      position: this.#pickCell((cell) => this.isFree(cell)),
      movement: undefined,
      isWaiting: false,
      engagement: undefined,
      events: [],
      bids: new Map(),
    }
  }
}
