/** Creates the script of a run: facts, corrections, and questions about them, from fixtures/minds/facts.json. */
import { readFileSync } from 'node:fs'
import { createRandomSource, type RandomSource } from './random-source.ts'
import { day } from './town.ts'

interface FactsFile {
  readonly facts: readonly {
    readonly id: string
    readonly say: string
    readonly exact: string
    readonly paraphrase: string
    readonly values: readonly string[]
  }[]
  readonly corrections: { readonly of: readonly string[]; readonly say: readonly string[] }
  readonly unmentioned: readonly string[]
}

/** A fact that a scripted character states. */
export interface Fact {
  readonly id: string
  readonly listener: string
  /** The original statement. */
  readonly original: string
  /** The statement after the correction, or the original one if the fact is not corrected. */
  readonly current: string
  /** A question with the words of the statement. */
  readonly exact: string
  /** A question with other words. */
  readonly paraphrase: string
  readonly isCorrected: boolean
}

/** A scripted utterance. */
export interface ScriptLine {
  readonly kind: 'state' | 'correct' | 'ask' | 'ask-unmentioned'
  /** Id of the fact or of the unmentioned question. */
  readonly id: string
  readonly speaker: string
  readonly listener: string
  readonly text: string
  /** Earliest time, in game minutes. */
  readonly from: number
}

export interface Script {
  readonly facts: readonly Fact[]
  /** Questions about things that no one mentioned. */
  readonly unmentioned: readonly { readonly id: string; readonly listener: string; readonly text: string }[]
  readonly lines: readonly ScriptLine[]
}

/** Number of characters that listen to the facts. Each has several facts to distinguish. */
const listenerCount = 4

/** Creates a script that states facts during the first `factDays` days and asks about them on the next day. */
export function createScript(
  seed: number,
  cast: { readonly characters: readonly string[]; readonly speakers: readonly string[] },
  factDays: number,
): Script {
  const url = new URL('../../fixtures/minds/facts.json', import.meta.url)
  const file = JSON.parse(readFileSync(url, 'utf8')) as FactsFile // a file of this repository
  const { corrections } = file
  const random = createRandomSource(seed ^ 0x5eed)
  const listeners = pickDistinct(cast.characters, listenerCount, random)
  const facts = file.facts.map((fact, n): Fact => {
    const [value, other] = pickTwo(fact.values, random)
    const isCorrected = corrections.of.includes(fact.id)
    const original = fact.say.replace('{value}', value)
    const current = isCorrected ? fact.say.replace('{value}', other) : original
    const listener = listeners[n % listeners.length] ?? ''
    const { id, exact, paraphrase } = fact
    return { id, listener, original, current, exact, paraphrase, isCorrected }
  })
  const unmentioned = file.unmentioned.map((text, n) => ({
    id: `unmentioned_${n}`,
    listener: listeners[n % listeners.length] ?? '',
    text,
  }))
  const selectSpeaker = (n: number): string => cast.speakers[n % cast.speakers.length] ?? ''
  // Facts with a correction come first, which leaves time for the correction.
  const order = [...facts].sort((a, b) => Number(b.isCorrected) - Number(a.isCorrected))
  const interval = (factDays * day * 0.6) / order.length
  const correctedAt = Math.round(factDays * day * 0.6)
  const lines = [
    ...order.map(
      ({ id, listener, original }, n): ScriptLine => ({
        kind: 'state',
        id,
        speaker: selectSpeaker(n),
        listener,
        text: original,
        from: Math.round(60 + n * interval),
      }),
    ),
    ...order
      .flatMap((fact, n) => (fact.isCorrected ? [{ ...fact, n }] : []))
      .map(({ id, listener, current, n }): ScriptLine => {
        const say = corrections.say[n % corrections.say.length] ?? '{fact}'
        const text = say.replace('{fact}', current)
        return { kind: 'correct', id, speaker: selectSpeaker(n), listener, text, from: correctedAt }
      }),
    ...facts.map(
      ({ id, listener, exact, paraphrase }, n): ScriptLine => ({
        kind: 'ask',
        id,
        speaker: selectSpeaker(n + 1),
        listener,
        text: n % 2 === 0 ? exact : paraphrase,
        from: factDays * day,
      }),
    ),
    ...unmentioned.map(
      ({ id, listener, text }, n): ScriptLine => ({
        kind: 'ask-unmentioned',
        id,
        speaker: selectSpeaker(n),
        listener,
        text,
        from: factDays * day,
      }),
    ),
  ]
  return { facts, unmentioned, lines }
}

function pickDistinct(all: readonly string[], count: number, random: RandomSource): readonly string[] {
  const remaining = [...all]
  return Array.from({ length: count }, () => remaining.splice(random.below(remaining.length), 1)[0] ?? '')
}

function pickTwo(values: readonly string[], random: RandomSource): readonly [string, string] {
  const first = random.below(values.length)
  const second = (first + 1 + random.below(values.length - 1)) % values.length
  return [values[first] ?? '', values[second] ?? '']
}
