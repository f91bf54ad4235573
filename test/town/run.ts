/** Simulates a town: the rules of the game move the bodies, deciders choose the actions. The same seed yields the same run. */
import { createHash } from 'node:crypto'
import { type Action, execute, findViolation } from './act.ts'
import type { Body, Utterance } from './body.ts'
import type { Call } from './client.ts'
import { type Perceived, perceive } from './observe.ts'
import { loadPreset, type PresetName } from './preset.ts'
import { measureRecall, type RecallScore } from './recall.ts'
import { createScript, type Script } from './script.ts'
import { ScriptedSpeaker, type SpokenLine } from './scripted-speaker.ts'
import { Tally } from './tally.ts'
import { day, Town } from './town.ts'

/**
 * Minutes between two decisions of a character: three seconds of the game, with one minute per second. A character that uses an
 * object or waits decides less often, unless it has events.
 */
const decisionIntervals = { usual: 3, resting: 12 } as const

/** Options for a run. */
export interface RunOptions {
  readonly preset: PresetName
  readonly seed: number
  /**
   * Game days. Facts are stated on the first three days at most and asked about on the next day; in a run of one day or less, they are
   * stated during the first two thirds.
   */
  readonly days: number
  /** Minutes between two consolidations of memories; by default one day. */
  readonly sleepInterval?: number
  /** Constants of the policy, for the minds of this run. */
  readonly policy?: Readonly<Record<string, number>>
}

/** The results of a run. */
export interface Run {
  readonly tally: Tally
  /** SHA-256 of all actions in order. */
  readonly hash: string
  readonly script: Script
  readonly spoken: readonly SpokenLine[]
  /** The utterances of each conversation that ended. */
  readonly transcripts: readonly (readonly Utterance[])[]
  /** The texts of all utterances and the names of all objects and bodies. */
  readonly knownTexts: readonly string[]
  /** Number of scripted lines that were not spoken. */
  readonly remaining: number
  /** `undefined` if the run ended before recall was measured. */
  readonly recall: RecallScore | undefined
}

/** Chooses the actions of all characters. */
export interface Deciders {
  begin(bodies: readonly Body[]): Promise<void>
  decide(body: Body, perceived: Perceived, time: number): Promise<Action>
  sleep(bodies: readonly Body[], time: number): Promise<void>
  /** Calls the tools that measure recall. Absent if the deciders have no memories. */
  readonly call?: Call
}

/** Creates deciders that use the minds of a server. */
export const createMindDeciders = (
  call: Call,
  { seed, policy = {} }: Pick<RunOptions, 'seed' | 'policy'>,
): Deciders => ({
  call,
  async begin(bodies) {
    for (const [n, { id }] of bodies.entries()) {
      const config = {
        entity_id: id,
        traits: selectTraits(n),
        seed: seed * 100 + n,
        selector: 'policy',
        policy,
      }
      assertStatus(await call('create_mind', { mind_id: id, config, request_id: `create-${id}` }), 'created')
    }
  },
  async decide({ id }, perceived, time) {
    const answer = await call('decide_action', { mind_id: id, request_id: `${id}-${time}`, ...perceived })
    assertStatus(answer, 'success')
    return answer.action as Action // the rules of the town validate it
  },
  async sleep(bodies, time) {
    for (const { id } of bodies)
      assertStatus(
        await call('consolidate_memories', { mind_id: id, request_id: `sleep-${id}-${time}` }),
        'success',
      )
  },
})

/** Simulates a town with the given options. */
export async function runTown(options: RunOptions, deciders: Deciders): Promise<Run> {
  const { seed, days, sleepInterval = day } = options
  const town = new Town(loadPreset(options.preset), seed)
  const { characters } = town
  const factDays = days > 1 ? Math.min(3, days - 1) : (days * 2) / 3
  const scripted = town.bodies.filter(({ isScripted }) => isScripted)
  const cast = { characters: characters.map(({ id }) => id), speakers: scripted.map(({ id }) => id) }
  const script = createScript(seed, cast, factDays)
  const speakers = scripted.map((body) => new ScriptedSpeaker(town, body, script.lines))
  const tally = new Tally()
  const transcripts: (readonly Utterance[])[] = []
  town.onEnd = (talk, endedBy) => {
    transcripts.push(talk.utterances)
    tally.recordEnd(town, talk, endedBy)
  }
  const hash = createHash('sha256')
  let recall: RecallScore | undefined
  await deciders.begin(characters)
  while (town.time < days * day) {
    town.advance()
    for (const speaker of speakers) {
      speaker.step()
      tally.recordUtterance(town, speaker.body)
    }
    const turns = characters
      .filter((body, n) => isDue(body, town.time + n))
      .map((body) => {
        const bids = new Set(body.bids.keys())
        return { body, bids, perceived: perceive(town, body) }
      })
    const actions = await Promise.all(
      turns.map(({ body, perceived }) => deciders.decide(body, perceived, town.time)),
    )
    for (const [n, { body, bids, perceived }] of turns.entries()) {
      const action = actions[n] ?? { action: 'wait', parameters: {} }
      hash.update(`${town.time} ${body.id} ${JSON.stringify(action)}\n`)
      const violation = findViolation(action, perceived, bids)
      if (violation !== undefined)
        tally.illegal.push(`${town.time} ${body.id} ${JSON.stringify(action)}: ${violation}`)
      tally.recordDecision(town, body, action)
      if (violation === undefined) execute(town, body, action)
      tally.recordUtterance(town, body)
    }
    tally.recordMinute(town)
    const factsEnd = town.time === Math.round(factDays * day)
    if (town.time % sleepInterval === 0 || factsEnd) await deciders.sleep(characters, town.time)
    if (factsEnd && deciders.call !== undefined)
      recall = await measureRecall(
        deciders.call,
        script,
        speakers.flatMap(({ spoken }) => spoken),
      )
  }
  return {
    tally,
    hash: hash.digest('hex'),
    script,
    spoken: speakers.flatMap(({ spoken }) => spoken),
    transcripts,
    knownTexts: [
      ...tally.texts,
      ...town.things.map(({ name }) => name),
      ...town.bodies.map(({ name }) => name),
    ],
    remaining: speakers.reduce((sum, { remaining }) => sum + remaining.length, 0),
    recall,
  }
}

/** Whether a body decides in this minute. `minute` has a different offset for each body, which distributes the decisions. */
function isDue({ engagement, isWaiting, events }: Body, minute: number): boolean {
  if (minute % decisionIntervals.usual !== 0) return false
  const isResting = engagement?.kind === 'use' || isWaiting
  return !isResting || events.length > 0 || minute % decisionIntervals.resting === 0
}

const traits = ['curious', 'gregarious', 'lazy', 'shy', 'neat', 'playful', 'serious', 'brave']

const selectTraits = (n: number): readonly string[] => [traits[n % traits.length] ?? 'curious']

function assertStatus(answer: Readonly<Record<string, unknown>>, status: string): void {
  if (answer.status !== status)
    throw new Error(`expected status ${status}: ${JSON.stringify(answer).slice(0, 500)}`)
}
