/** What townsfolk tell each other in a run: facts, corrections, and questions afterwards, from fixtures/minds/facts.json. */
import { readFileSync } from 'node:fs'
import { type Chance, chanceOf } from './chance.ts'
import { day } from './town.ts'

interface Facts {
  readonly facts: readonly {
    readonly id: string
    readonly say: string
    readonly exact: string
    readonly paraphrase: string
    readonly values: readonly string[]
  }[]
  readonly corrections: { readonly of: readonly string[]; readonly say: readonly string[] }
  readonly neverTold: readonly string[]
}

/** A fact that somebody is told. */
export interface Told {
  readonly id: string
  readonly hearer: string
  /** As it was told first, and as it is after a correction. */
  readonly first: string
  readonly now: string
  readonly exact: string
  readonly paraphrase: string
  readonly isCorrected: boolean
}

/** Something to be said to somebody from a time on. */
export interface Errand {
  readonly kind: 'tell' | 'correct' | 'ask' | 'ask-never'
  /** Of the fact, or of the question. */
  readonly id: string
  readonly teller: string
  readonly hearer: string
  readonly text: string
  readonly from: number
}

/** All that is told and asked. */
export interface Script {
  readonly told: readonly Told[]
  readonly never: readonly { readonly id: string; readonly hearer: string; readonly text: string }[]
  readonly errands: readonly Errand[]
}

/** How many are told everything: each has several facts to keep apart. */
const confidants = 4

/** Writes the script of a run: facts over the first `tellingDays`, questions on the day after. */
export function scriptOf(
  seed: number,
  who: { readonly hearers: readonly string[]; readonly tellers: readonly string[] },
  tellingDays: number,
): Script {
  const file = new URL('../../fixtures/minds/facts.json', import.meta.url)
  const { facts, corrections, neverTold } = JSON.parse(readFileSync(file, 'utf8')) as Facts // a file of this repository
  const chance = chanceOf(seed ^ 0x5eed)
  const hearers = drawn(who.hearers, confidants, chance)
  const told = facts.map((fact, n): Told => {
    const [value, other] = twoOf(fact.values, chance)
    const isCorrected = corrections.of.includes(fact.id)
    const first = fact.say.replace('{value}', value)
    const now = isCorrected ? fact.say.replace('{value}', other) : first
    const hearer = hearers[n % hearers.length] ?? ''
    return { id: fact.id, hearer, first, now, exact: fact.exact, paraphrase: fact.paraphrase, isCorrected }
  })
  const never = neverTold.map((text, n) => ({
    id: `never_${n}`,
    hearer: hearers[n % hearers.length] ?? '',
    text,
  }))
  const teller = (n: number): string => who.tellers[n % who.tellers.length] ?? ''
  // What is corrected is told early, so that there is time for the correction.
  const order = [...told].sort((a, b) => Number(b.isCorrected) - Number(a.isCorrected))
  const span = (tellingDays * day * 0.6) / order.length
  const correctedAt = Math.round(tellingDays * day * 0.6)
  const errands = [
    ...order.map(
      ({ id, hearer, first }, n): Errand => ({
        kind: 'tell',
        id,
        teller: teller(n),
        hearer,
        text: first,
        from: Math.round(60 + n * span),
      }),
    ),
    ...order
      .flatMap((fact, n) => (fact.isCorrected ? [{ ...fact, n }] : []))
      .map(({ id, hearer, now, n }): Errand => {
        const say = corrections.say[n % corrections.say.length] ?? '{fact}'
        const text = say.replace('{fact}', now)
        return { kind: 'correct', id, teller: teller(n), hearer, text, from: correctedAt }
      }),
    ...told.map(
      ({ id, hearer, exact, paraphrase }, n): Errand => ({
        kind: 'ask',
        id,
        teller: teller(n + 1),
        hearer,
        text: n % 2 === 0 ? exact : paraphrase,
        from: tellingDays * day,
      }),
    ),
    ...never.map(
      ({ id, hearer, text }, n): Errand => ({
        kind: 'ask-never',
        id,
        teller: teller(n),
        hearer,
        text,
        from: tellingDays * day,
      }),
    ),
  ]
  return { told, never, errands }
}

/** So many of all, each once. */
function drawn(all: readonly string[], count: number, chance: Chance): readonly string[] {
  const left = [...all]
  return Array.from({ length: count }, () => left.splice(chance.below(left.length), 1)[0] ?? '')
}

function twoOf(values: readonly string[], chance: Chance): readonly [string, string] {
  const first = chance.below(values.length)
  const second = (first + 1 + chance.below(values.length - 1)) % values.length
  return [values[first] ?? '', values[second] ?? '']
}
