/** A run of a town: bodies by the game's rules, minds by whoever is asked. The same seed gives the same run. */
import { createHash } from 'node:crypto'
import { type Action, carryOut, illegalBecause } from './act.ts'
import type { Body } from './body.ts'
import type { Call } from './client.ts'
import { type Perceived, perceive } from './observe.ts'
import { type PresetName, presetOf } from './preset.ts'
import { type RecallScore, recallScore } from './recall.ts'
import { type Script, scriptOf } from './script.ts'
import { Tally } from './tally.ts'
import { type Done, Teller } from './teller.ts'
import { day, Town } from './town.ts'

/**
 * Minutes between two decisions of one character: the game's three seconds, at a minute a second. Who uses a thing or
 * waits is asked less often, unless something is to be told.
 */
const rhythm = { usual: 3, resting: 12 } as const

/** What is run. */
export interface RunOptions {
  readonly preset: PresetName
  readonly seed: number
  /** Game days; facts are told on the first three at most and asked for on the day after, in two thirds of a single one. */
  readonly days: number
  /** Minutes after which minds sleep; absent: at midnight. */
  readonly night?: number
  /** Constants of the policy that the minds of this run have for themselves. */
  readonly policy?: Readonly<Record<string, number>>
}

/** What a run came to. */
export interface Run {
  readonly tally: Tally
  /** SHA-256 of every action in order. */
  readonly hash: string
  readonly script: Script
  readonly done: readonly Done[]
  /** All that was said, and the name of everything that stands or walks there. */
  readonly known: readonly string[]
  /** Errands that could not be run. */
  readonly left: number
  /** Undefined where the run ends before memories were asked for. */
  readonly recall: RecallScore | undefined
}

/** Decides for one body: over MCP, or in the process where a baseline is wanted. */
export interface Deciders {
  begin(bodies: readonly Body[]): Promise<void>
  decide(body: Body, perceived: Perceived, time: number): Promise<Action>
  sleep(bodies: readonly Body[], time: number): Promise<void>
  /** Asks memories; absent where there are none. */
  readonly call?: Call
}

/** Minds of a server. */
export const mindsOf = (
  call: Call,
  { seed, policy = {} }: Pick<RunOptions, 'seed' | 'policy'>,
): Deciders => ({
  call,
  async begin(bodies) {
    for (const [n, { id }] of bodies.entries()) {
      const config = { entity_id: id, traits: traitsOf(n), seed: seed * 100 + n, selector: 'policy', policy }
      must(await call('create_mind', { mind_id: id, config, request_id: `create-${id}` }), 'created')
    }
  },
  async decide({ id }, perceived, time) {
    const answer = await call('decide_action', { mind_id: id, request_id: `${id}-${time}`, ...perceived })
    must(answer, 'success')
    return answer.action as Action // an answer of the server, judged by the rules of the town
  },
  async sleep(bodies, time) {
    for (const { id } of bodies)
      must(await call('consolidate_memories', { mind_id: id, request_id: `sleep-${id}-${time}` }), 'success')
  },
})

/** Runs. */
export async function runTown(options: RunOptions, minds: Deciders): Promise<Run> {
  const { seed, days, night = day } = options
  const town = new Town(presetOf(options.preset), seed)
  const folk = town.folk
  const tellingDays = days > 1 ? Math.min(3, days - 1) : (days * 2) / 3
  const tellers = town.bodies.filter(({ isScripted }) => isScripted)
  const who = { hearers: folk.map(({ id }) => id), tellers: tellers.map(({ id }) => id) }
  const script = scriptOf(seed, who, tellingDays)
  const acting = tellers.map((body) => new Teller(town, body, script.errands))
  const tally = new Tally()
  town.onEnd = (talk, by) => tally.ended(town, talk, by)
  const hash = createHash('sha256')
  let recall: RecallScore | undefined
  await minds.begin(folk)
  while (town.time < days * day) {
    town.pass()
    for (const teller of acting) {
      teller.step()
      tally.spoken(town, teller.body)
    }
    const awake = folk.filter((body, n) => isDue(body, town.time + n))
    const seen = awake.map((body) => {
      const bids = new Set(body.bids.keys())
      return { body, bids, perceived: perceive(town, body) }
    })
    const actions = await Promise.all(
      seen.map(({ body, perceived }) => minds.decide(body, perceived, town.time)),
    )
    for (const [n, { body, bids, perceived }] of seen.entries()) {
      const action = actions[n] ?? { action: 'wait', parameters: {} }
      hash.update(`${town.time} ${body.id} ${JSON.stringify(action)}\n`)
      const because = illegalBecause(action, perceived, bids)
      if (because !== undefined)
        tally.illegal.push(`${town.time} ${body.id} ${JSON.stringify(action)}: ${because}`)
      tally.decided(town, body, action)
      if (because === undefined) carryOut(town, body, action)
      tally.spoken(town, body)
    }
    tally.minute(town)
    const isTold = town.time === Math.round(tellingDays * day)
    if (town.time % night === 0 || isTold) await minds.sleep(folk, town.time)
    if (isTold && minds.call !== undefined)
      recall = await recallScore(
        minds.call,
        script,
        acting.flatMap(({ done }) => done),
      )
  }
  return {
    tally,
    hash: hash.digest('hex'),
    script,
    done: acting.flatMap(({ done }) => done),
    known: [...tally.said, ...town.things.map(({ name }) => name), ...town.bodies.map(({ name }) => name)],
    left: acting.reduce((sum, { left }) => sum + left.length, 0),
    recall,
  }
}

/** Whether a body decides in this minute; `minute` is counted from a beginning of its own, so that not all decide at once. */
function isDue({ engaged, isWaiting, events }: Body, minute: number): boolean {
  if (minute % rhythm.usual !== 0) return false
  const isResting = engaged?.kind === 'use' || isWaiting
  return !isResting || events.length > 0 || minute % rhythm.resting === 0
}

const characters = ['curious', 'gregarious', 'lazy', 'shy', 'neat', 'playful', 'serious', 'brave']

const traitsOf = (n: number): readonly string[] => [characters[n % characters.length] ?? 'curious']

function must(answer: Readonly<Record<string, unknown>>, status: string): void {
  if (answer.status !== status) throw new Error(`expected ${status}: ${JSON.stringify(answer).slice(0, 500)}`)
}
