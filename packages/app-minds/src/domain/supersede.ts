// cspell:ignore told -- part of stored memories
import { listStems } from './words.ts'

export interface Fact {
  readonly content: string
  readonly sim_time: number | null
  /** Order of facts with the same `sim_time`. A fact without an order counts as the oldest. */
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
  const claimsByBeginning = new Map<string, typeof claims>()
  for (const claim of claims) {
    const key = getBeginning(claim.words)
    claimsByBeginning.set(key, [...(claimsByBeginning.get(key) ?? []), claim])
  }
  return (older) => {
    const olderClaim = parseClaim(older.content)
    const matches = claimsByBeginning.get(getBeginning(olderClaim.words)) ?? []
    return matches.some((claim) => isLater(claim.fact, older) && hasDifferentValue(claim, olderClaim))
  }
}

function isLater(newer: Fact, older: Fact): boolean {
  const elapsedMinutes = (newer.sim_time ?? 0) - (older.sim_time ?? 0)
  return elapsedMinutes === 0
    ? older.order === undefined || (newer.order ?? 0) > older.order
    : elapsedMinutes > 0
}

const subjectWordCount = 2
const getBeginning = (words: readonly string[]): string => words.slice(0, subjectWordCount).join(' ')

function hasDifferentValue(newer: Claim, older: Claim): boolean {
  const difference = findDifference(newer.words, older.words)
  if (difference === undefined) return false
  const { commonWords, values, isLast } = difference
  if (values.every((value) => measureStems.has(value) || /\d/.test(value))) return true
  return isLast && (newer.isCorrection || commonWords.some((word) => exclusiveVerbs.has(word)))
}

interface Difference {
  readonly commonWords: readonly string[]
  /** The differing words of both sentences. */
  readonly values: readonly string[]
  readonly isLast: boolean
}

/** Minimum ratio of equal leading and trailing words to the words of the shorter sentence. */
const minCommonShare = 0.6

function findDifference(newer: readonly string[], older: readonly string[]): Difference | undefined {
  const minLength = Math.min(newer.length, older.length)
  let prefixLength = 0
  while (prefixLength < minLength && newer[prefixLength] === older[prefixLength]) prefixLength++
  let suffixLength = 0
  while (
    suffixLength < minLength - prefixLength &&
    newer.at(-1 - suffixLength) === older.at(-1 - suffixLength)
  )
    suffixLength++
  const [newerValues, olderValues] = [
    newer.slice(prefixLength, newer.length - suffixLength),
    older.slice(prefixLength, older.length - suffixLength),
  ]
  if (prefixLength < subjectWordCount || newerValues.length === 0 || olderValues.length === 0)
    return undefined
  if ((prefixLength + suffixLength) / minLength < minCommonShare) return undefined
  const commonWords = [...newer.slice(0, prefixLength), ...newer.slice(newer.length - suffixLength)]
  return { commonWords, values: [...newerValues, ...olderValues], isLast: suffixLength === 0 }
}

const measureStems = new Set(
  listStems(
    'one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred dozen half quarter past ' +
      "o'clock noon midnight dawn dusk sunrise sunset morning afternoon evening night today tomorrow " +
      'monday tuesday wednesday thursday friday saturday sunday',
  ),
)

/** Verbs that allow only one true object at a time. */
const exclusiveVerbs = new Set(
  listStems('lives resides stays moved belongs married held costs weighs opens closes starts leaves arrives'),
)

const announcementPattern =
  /\b(i (was|am) (wrong|mistaken)|that was (wrong|a mistake)|actually|correction|sorry|no longer|anymore|instead|but|well)\b|^\s*no,/gi

interface Claim {
  readonly words: readonly string[]
  readonly isCorrection: boolean
}

function parseClaim(content: string): Claim {
  const statement = content.replace(/^[^:]{1,80} told me: /, '')
  const bareStatement = statement.replace(announcementPattern, ' ')
  return { words: listStems(bareStatement), isCorrection: bareStatement !== statement }
}
