/** Whether a newer fact replaces an older one: both say the same sentence about the same thing, with another value in it. */
import { contentWords } from './words.ts'

/** A fact as far as it is compared. */
export interface Fact {
  readonly content: string
  readonly sim_time: number | null
  /** Which of two facts of one time was told later; a fact without it was told before the others. */
  readonly order?: number
}

/**
 * True where `newer` gives another value than `older` for the same. Words in common are not enough: the two must differ in
 * one place alone, after what they are about. There a number or a time replaces another; anything else does only at the
 * end of the sentence, where the speaker corrects something or where one thing can be true at a time.
 */
export const supersedes = (newer: Fact, older: Fact): boolean => replacedBy([newer])(older)

/** The same for several newer facts: true where any of them replaces the one that is asked about. */
export function replacedBy(newer: readonly Fact[]): (older: Fact) => boolean {
  const claims = newer.map((fact) => ({ ...claimOf(fact.content), fact }))
  const byBeginning = new Map<string, typeof claims>()
  for (const claim of claims) {
    const key = beginning(claim.words)
    byBeginning.set(key, [...(byBeginning.get(key) ?? []), claim])
  }
  return (older) => {
    const before = claimOf(older.content)
    const alike = byBeginning.get(beginning(before.words)) ?? []
    return alike.some((now) => isLater(now.fact, older) && gives(now, before))
  }
}

function isLater(newer: Fact, older: Fact): boolean {
  const minutes = (newer.sim_time ?? 0) - (older.sim_time ?? 0)
  return minutes === 0 ? older.order === undefined || (newer.order ?? 0) > older.order : minutes > 0
}

/** Words that two facts must begin with: what they are about. */
const subjectWords = 2
const beginning = (words: readonly string[]): string => words.slice(0, subjectWords).join(' ')

/** True where `now` gives another value. */
function gives(now: Claim, before: Claim): boolean {
  const difference = differenceOf(now.words, before.words)
  if (difference === undefined) return false
  const { frame, values, isLast } = difference
  if (values.every((value) => measures.has(value) || /\d/.test(value))) return true
  return isLast && (now.isCorrection || frame.some((word) => singular.has(word)))
}

/** Where two sentences differ: in one place, which lies after what both are about. */
interface Difference {
  /** Words of both, in order. */
  readonly frame: readonly string[]
  /** What stands in the place, in either. */
  readonly values: readonly string[]
  /** Nothing follows. */
  readonly isLast: boolean
}

/** Share of the shorter sentence that both must have. */
const leastFrame = 0.6

function differenceOf(now: readonly string[], before: readonly string[]): Difference | undefined {
  const shorter = Math.min(now.length, before.length)
  let head = 0
  while (head < shorter && now[head] === before[head]) head++
  let tail = 0
  while (tail < shorter - head && now.at(-1 - tail) === before.at(-1 - tail)) tail++
  const [own, other] = [now.slice(head, now.length - tail), before.slice(head, before.length - tail)]
  if (head < subjectWords || own.length === 0 || other.length === 0) return undefined
  if ((head + tail) / shorter < leastFrame) return undefined
  const frame = [...now.slice(0, head), ...now.slice(now.length - tail)]
  return { frame, values: [...own, ...other], isLast: tail === 0 }
}

/** Words of amounts and times. */
const measures = new Set(
  contentWords(
    'one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred dozen half quarter past ' +
      "o'clock noon midnight dawn dusk sunrise sunset morning afternoon evening night today tomorrow " +
      'monday tuesday wednesday thursday friday saturday sunday',
  ),
)

/** What can be true in one way at a time: somebody lives in one place, a thing has one price. */
const singular = new Set(
  contentWords(
    'lives resides stays moved belongs married held costs weighs opens closes starts leaves arrives',
  ),
)

/** What announces a correction and is no part of the claim. */
const announcement =
  /\b(i (was|am) (wrong|mistaken)|that was (wrong|a mistake)|actually|correction|sorry|no longer|anymore|instead|but|well)\b|^\s*no,/gi

/** What was said. */
interface Claim {
  /** Meaning words, in order, without who said it and without what announces a correction. */
  readonly words: readonly string[]
  readonly isCorrection: boolean
}

function claimOf(content: string): Claim {
  const said = content.replace(/^[^:]{1,80} told me: /, '')
  const plain = said.replace(announcement, ' ')
  return { words: contentWords(plain), isCorrection: plain !== said }
}
