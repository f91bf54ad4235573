// cspell:ignore told -- part of stored memories
import { listContentWords } from './words.ts'

export interface Fact {
  readonly content: string
  readonly sim_time: number | null
  /** Order of facts with the same time. A fact without an order counts as older. */
  readonly order?: number
}

/**
 * Whether `newer` gives another value than `older` for the same subject. The sentences must differ at only one
 * position, after the subject. A number or time can differ at any position. Other words can differ only at the end of
 * the sentence, if the speaker corrects something or only one value can be true at a time.
 */
export const supersedes = (newer: Fact, older: Fact): boolean => makeReplacementTest([newer])(older)

export function makeReplacementTest(newer: readonly Fact[]): (older: Fact) => boolean {
  const claims = newer.map((fact) => ({ ...parseClaim(fact.content), fact }))
  const byBeginning = new Map<string, typeof claims>()
  for (const claim of claims) {
    const key = getBeginning(claim.words)
    byBeginning.set(key, [...(byBeginning.get(key) ?? []), claim])
  }
  return (older) => {
    const previous = parseClaim(older.content)
    const matches = byBeginning.get(getBeginning(previous.words)) ?? []
    return matches.some((now) => isLater(now.fact, older) && givesOtherValue(now, previous))
  }
}

function isLater(newer: Fact, older: Fact): boolean {
  const minutes = (newer.sim_time ?? 0) - (older.sim_time ?? 0)
  return minutes === 0 ? older.order === undefined || (newer.order ?? 0) > older.order : minutes > 0
}

const subjectWords = 2
const getBeginning = (words: readonly string[]): string => words.slice(0, subjectWords).join(' ')

function givesOtherValue(newer: Claim, older: Claim): boolean {
  const difference = findDifference(newer.words, older.words)
  if (difference === undefined) return false
  const { frame, values, isLast } = difference
  if (values.every((value) => measures.has(value) || /\d/.test(value))) return true
  return isLast && (newer.isCorrection || frame.some((word) => singular.has(word)))
}

interface Difference {
  readonly frame: readonly string[]
  /** The differing words of both sentences. */
  readonly values: readonly string[]
  readonly isLast: boolean
}

/** Minimum share of the shorter sentence's words that the longer sentence contains. */
const minCommonShare = 0.6

function findDifference(newer: readonly string[], older: readonly string[]): Difference | undefined {
  const shorter = Math.min(newer.length, older.length)
  let head = 0
  while (head < shorter && newer[head] === older[head]) head++
  let tail = 0
  while (tail < shorter - head && newer.at(-1 - tail) === older.at(-1 - tail)) tail++
  const [own, other] = [newer.slice(head, newer.length - tail), older.slice(head, older.length - tail)]
  if (head < subjectWords || own.length === 0 || other.length === 0) return undefined
  if ((head + tail) / shorter < minCommonShare) return undefined
  const frame = [...newer.slice(0, head), ...newer.slice(newer.length - tail)]
  return { frame, values: [...own, ...other], isLast: tail === 0 }
}

const measures = new Set(
  listContentWords(
    'one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred dozen half quarter past ' +
      "o'clock noon midnight dawn dusk sunrise sunset morning afternoon evening night today tomorrow " +
      'monday tuesday wednesday thursday friday saturday sunday',
  ),
)

/** Verbs that allow only one true object at a time. */
const singular = new Set(
  listContentWords(
    'lives resides stays moved belongs married held costs weighs opens closes starts leaves arrives',
  ),
)

const announcement =
  /\b(i (was|am) (wrong|mistaken)|that was (wrong|a mistake)|actually|correction|sorry|no longer|anymore|instead|but|well)\b|^\s*no,/gi

interface Claim {
  readonly words: readonly string[]
  readonly isCorrection: boolean
}

function parseClaim(content: string): Claim {
  const said = content.replace(/^[^:]{1,80} told me: /, '')
  const plain = said.replace(announcement, ' ')
  return { words: listContentWords(plain), isCorrection: plain !== said }
}
