/** A town in which time passes: things, bodies, their needs, their ways and their conversations. */
import type { Bid, Body, Cell, GameEvent, Talk, Thing } from './body.ts'
import { steps } from './body.ts'
import { type Chance, chanceOf } from './chance.ts'
import type { Preset } from './preset.ts'

/** Minutes of a day. */
export const day = 1440

/** How far bodies see and hear, cells, and how far they walk in a minute. */
export const reach = { sight: 8, talk: 5, walk: 2 } as const

/** Minutes after which an invitation lapses, and that pass between two utterances of one speaker. */
export const patience = { bid: 6, speech: 3 } as const

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

/** The names of those who follow a script. */
export const scriptedNames = ['Odo', 'Wilma'] as const

/** The town; whoever plays it moves bodies by `act` and lets a minute pass by `pass`. */
export class Town {
  readonly preset: Preset
  readonly chance: Chance
  readonly things: readonly Thing[]
  readonly bodies: readonly Body[]
  readonly talks = new Map<string, Talk>()
  /** Told of every conversation that ends, and by whom it was ended. */
  onEnd: (talk: Talk, by: string) => void = () => undefined
  /** Game minutes since the beginning of day 1. */
  time = 0
  #made = 0

  constructor(preset: Preset, seed: number) {
    this.preset = preset
    this.chance = chanceOf(seed)
    this.things = this.#place()
    this.bodies = [
      ...names.map((name) => this.#body(name, false)),
      ...scriptedNames.map((name) => this.#body(name, true)),
    ]
  }

  /** The bodies that a mind decides for. */
  get folk(): readonly Body[] {
    return this.bodies.filter(({ isScripted }) => !isScripted)
  }

  body(id: string): Body {
    const body = this.bodies.find((one) => one.id === id)
    if (body === undefined) throw new Error(`nobody is called ${id}`)
    return body
  }

  /** Ids of conversations, uses and invitations. */
  id(kind: string): string {
    this.#made += 1
    return `${kind}_${this.#made}`
  }

  tell(body: Body, event_type: string, payload: GameEvent['payload'], isAlways = false): void {
    if (body.isScripted || !(isAlways || this.preset.tellsEvents)) return
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

  /** One minute: needs fall and are filled, bodies walk, invitations lapse. */
  pass(): void {
    this.time += 1
    for (const body of this.bodies) {
      for (const [need, loss] of Object.entries(body.losses)) this.#change(body, need, -loss)
      if (body.engaged?.kind === 'use') this.#use(body, body.engaged)
      else if (body.engaged?.kind === 'talk') this.#change(body, this.preset.talkFills, this.preset.talkRate)
      if (body.way !== undefined) this.#walk(body, body.way)
      for (const bid of [...body.bids.values()])
        if (this.time - bid.since >= patience.bid) this.dropBid(body, bid, 'no answer came')
    }
  }

  /** Takes an invitation back from who was invited, and says so to who invited. */
  dropBid(invited: Body, bid: Bid, reason: string): void {
    invited.bids.delete(bid.id)
    this.tell(invited, 'INTERACTION_BID_CANCELED', { bid_id: bid.id }, true)
    this.tell(this.body(bid.from), 'INTERACTION_BID_REJECTED', {
      entity_id: bid.to,
      interaction_name: 'conversation',
      reason,
    })
  }

  /** Ends what a body is busy with. */
  leave(body: Body, event = 'INTERACTION_FINISHED'): void {
    const { engaged } = body
    if (engaged === undefined) return
    if (engaged.kind === 'use') {
      engaged.thing.users.delete(body.id)
      body.engaged = undefined
      this.tell(body, event, { interaction_id: engaged.id, interaction_name: engaged.thing.does })
      return
    }
    const { talk } = engaged
    this.talks.delete(talk.id)
    for (const id of talk.participants) {
      const one = this.body(id)
      one.engaged = undefined
      const payload = { interaction_id: talk.id, interaction_name: 'conversation' }
      this.tell(one, 'INTERACTION_FINISHED', payload, true)
    }
    this.onEnd(talk, body.id)
  }

  #change(body: Body, need: string, by: number): void {
    const value = body.needs[need]
    if (value !== undefined) body.needs[need] = Math.min(this.preset.max, Math.max(0, value + by))
  }

  #use(body: Body, { thing, since }: Extract<Body['engaged'], { kind: 'use' }>): void {
    this.#change(body, thing.fills, thing.rate)
    const isFull = body.needs[thing.fills] === this.preset.max
    if (isFull || this.time - since >= thing.minutes || !this.isOpen(thing)) this.leave(body)
  }

  #walk(body: Body, { to }: NonNullable<Body['way']>): void {
    for (let left = reach.walk; left > 0 && steps(body.position, to) > 0; left--) {
      const [x, y] = body.position
      body.position = x === to[0] ? [x, y + Math.sign(to[1] - y)] : [x + Math.sign(to[0] - x), y]
    }
    if (steps(body.position, to) > 0) return
    body.way = undefined
    this.tell(body, 'MOVEMENT_COMPLETED', { status: 'ARRIVED', actual_destination: to })
  }

  /** Things stand off the edge and not beside one another, so that each has a side to stand at. */
  #place(): Thing[] {
    const things: Thing[] = []
    for (const kind of this.preset.things)
      for (let n = 1; n <= kind.count; n++) {
        const position = this.#spot((cell) => things.every((one) => steps(one.position, cell) > 2))
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

  #spot(isGood: (cell: Cell) => boolean): Cell {
    const { width, height } = this.preset
    for (;;) {
      const cell: Cell = [1 + this.chance.below(width - 2), 1 + this.chance.below(height - 2)]
      if (isGood(cell)) return cell
    }
  }

  #body(name: string, isScripted: boolean): Body {
    const own = isScripted ? [] : Object.entries(this.preset.needs)
    return {
      id: name.toLowerCase(),
      name,
      isScripted,
      losses: Object.fromEntries(own.map(([need, loss]) => [need, loss * (0.8 + 0.4 * this.chance.next())])),
      needs: Object.fromEntries(
        own.map(([need]) => [need, this.preset.max * (0.6 + 0.4 * this.chance.next())]),
      ),
      position: this.#spot((cell) => this.isFree(cell)),
      way: undefined,
      isWaiting: false,
      engaged: undefined,
      events: [],
      bids: new Map(),
    }
  }
}
