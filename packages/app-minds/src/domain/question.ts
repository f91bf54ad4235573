import { dayMinutes, toGameDay } from './policy/state.ts'
import { listContentWords, searchWords, stem } from './words.ts'

/** A range of game minutes, excluding `to`. */
export interface Period {
  readonly from: number
  readonly to: number
}

export interface Question {
  /** Lower-case names of persons and places that an answer must mention. */
  readonly names: readonly string[]
  /** Number of these persons and places. Adjacent names count as one. */
  readonly entities: number
  readonly words: readonly string[]
  readonly expects: 'amount' | 'name' | 'time' | 'colour' | 'person' | 'place' | 'reason' | undefined
  /** The speaker in a question like "What did Ben say?". */
  readonly speaker: string | null
  readonly period: Period | null
  readonly order: 'first' | 'last' | null
  /** Whether the question asks for the time of an event. */
  readonly asksForTime: boolean
}

const titles = new Set(
  'doctor captain lady lord sir mister mrs miss brother sister father mother farmer king queen old young uncle aunt master mayor the my our god mr dr saint'.split(
    ' ',
  ),
)
const weekdays = 'monday tuesday wednesday thursday friday saturday sunday'
const dayNames = new Set(`${weekdays} ${weekdays.replaceAll('day', 'days')}`.split(' '))

/** Words that a memory does not need to match. */
const questionWords = new Set(
  listContentWords(
    'place spot location person people someone anyone anybody thing something anything kind sort way time hour day date moment ' +
      'exactly ever find happen happened happens ask answer wonder learn heard hear mention talk speak spoke like much many often ' +
      'get got give make made use let one first last latest recent recently earliest time times yesterday today ago ' +
      'notice noticed see seen cant dont wont whether about again other name called big long far old late tall heavy deep high goods tonight morning evening afternoon',
  ),
)

const sayVerb = '(?:say|said|tell|told|mention|mentioned|report|claim|(?:talk|speak) (?:of|about))'

/** Parses a question. `now` and `earliest` are game times: the present and the first memory, `null` if unknown. */
export function parseQuestion(text: string, now: number | null, earliest: number | null = null): Question {
  const lower = text.toLowerCase().replace(/’/g, "'")
  const speaker = findSpeaker(text)
  const names = findNames(text).filter((name) => name !== speaker?.toLowerCase())
  const period = now === null ? null : findPeriod(lower, now, earliest)
  const order = findOrder(lower)
  const named = new Set([...names, ...searchWords(speaker ?? '')].map(stem))
  const usedTitles = new Set(
    searchWords(text).filter((word, n, all) => titles.has(word) && names.includes(all[n + 1] ?? '')),
  )
  const words = [...new Set(searchWords(removePeriod(lower)))].filter(
    (word) => !questionWords.has(stem(word)) && !named.has(stem(word)) && !usedTitles.has(word),
  )
  const asksForTime =
    /\b(?:when|on (?:which|what) day|what day)\b.*\b(?:tell|told|say|mention)/.test(lower) ||
    /\bwhen did (?:you|we|i)\b/.test(lower)
  const expects = asksForTime ? undefined : findExpected(lower)
  return { names, entities: countEntities(text, names), words, expects, speaker, period, order, asksForTime }
}

/** Whether a question restricts the time, so that matching words are not enough. */
export const isTemporal = ({ period, order }: Pick<Question, 'period' | 'order'>): boolean =>
  period !== null || order !== null

/** Returns the lower-case names in a text: capitalized words except the first, titles and weekdays. */
export function findNames(text: string): readonly string[] {
  const words = [...text.matchAll(/[\p{L}][\p{L}'’-]*/gu)]
  const names = words.flatMap(({ 0: word, index }, n) => {
    if (n === 0 || !/^\p{Lu}/u.test(word) || /^I(?:['’]|$)/u.test(word)) return []
    if (/[.!?:]["'”]?\s+$/u.test(text.slice(0, index))) return []
    const [name = ''] = searchWords(word)
    return name === '' || titles.has(name) || dayNames.has(name) ? [] : [name]
  })
  return [...new Set(names)]
}

function countEntities(text: string, names: readonly string[]): number {
  const words = [...text.matchAll(/\p{L}[\p{L}'’-]*/gu)].map(([word]) =>
    names.includes(searchWords(word)[0] ?? ''),
  )
  return words.filter((isName, n) => isName && words[n - 1] !== true).length
}

function findSpeaker(text: string): string | null {
  const name = `(\\p{Lu}[\\p{L}'-]+)`
  const [, said, told] =
    new RegExp(`\\b(?:did|has|had|does|that|thing|what) ${name} (?:ever )?${sayVerb}\\b`, 'u').exec(text) ??
    []
  const [, from] =
    new RegExp(`\\b(?:learn|learned|learnt|hear|heard|know) (?:[\\w ]+ )?from ${name}`, 'u').exec(text) ?? []
  return said ?? told ?? from ?? null
}

/** Phrases that restrict the time. Game days are counted from 0. */
const periodPhrases: readonly (readonly [
  RegExp,
  (match: RegExpExecArray, today: number, firstDay: number) => readonly [number, number],
])[] = [
  [/\bthe day before yesterday\b/, (_, today) => [today - 2, 1]],
  [/\b(?:yesterday|last night)\b/, (_, today) => [today - 1, 1]],
  [/\b(?:today|this (?:morning|afternoon|evening))\b/, (_, today) => [today, 1]],
  [/\b(\d+|two|three|four|five|six|seven) days ago\b/, ([, n = ''], today) => [today - toCount(n), 1]],
  [/\bon the (?:very )?first day\b/, (_, __, first) => [first, 1]],
  [/\bon the (second|third|fourth|fifth) day\b/, ([, n = ''], _, first) => [first + toCount(n) - 1, 1]],
  [/\bday (?:number )?(\d+|one|two|three|four|five|six|seven)\b/, ([, n = '']) => [toCount(n), 1]],
  [/\b(?:last|past|this) week\b/, (_, today) => [today - 7, 8]],
]

const counts = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven']
const ordinals = ['zeroth', 'first', 'second', 'third', 'fourth', 'fifth']

function toCount(word: string): number {
  if (/^\d/.test(word)) return Number(word)
  return Math.max(counts.indexOf(word), ordinals.indexOf(word))
}

function findPeriod(lower: string, now: number, earliest: number | null): Period | null {
  for (const [pattern, getDays] of periodPhrases) {
    const match = pattern.exec(lower)
    if (match === null) continue
    const [day, days] = getDays(match, toGameDay(now), toGameDay(earliest ?? 0))
    return { from: day * dayMinutes, to: (day + days) * dayMinutes }
  }
  return null
}

const removePeriod = (lower: string): string =>
  periodPhrases.reduce((text, [pattern]) => text.replace(pattern, ' '), lower)

function findOrder(lower: string): Question['order'] {
  if (/\b(?:on the first day)\b/.test(lower)) return null
  if (
    /\b(?:the (?:very )?first (?:time|thing)|first (?:tell|told|say|meet|met|see|saw|hear|heard)|earliest)\b/.test(
      lower,
    )
  )
    return 'first'
  return /\b(?:the (?:very )?last (?:time|thing)|last (?:tell|told|say|meet|met|see|saw|hear|heard)|latest|most recent(?:ly)?)\b/.test(
    lower,
  )
    ? 'last'
    : null
}

function findExpected(lower: string): Question['expects'] {
  if (/\bhow (?:many|much|old|tall|heavy|big|long|high|deep|wide)\b/.test(lower)) return 'amount'
  if (/\bhow (?:often|frequently)\b/.test(lower)) return 'time'
  if (/\b(?:name of|called|whose name|what name|names of)\b|\bname\?/.test(lower)) return 'name'
  if (/\bwhat (?:colour|color)\b/.test(lower)) return 'colour'
  if (/^(?:\W*\w+\W+){0,5}?(?:when|(?:at |on )?(?:what|which) (?:time|hour|day|date)|how late)\b/.test(lower))
    return 'time'
  if (/^(?:\W*\w+\W+){0,5}?where\b/.test(lower)) return 'place'
  if (/\b(?:why|reason)\b/.test(lower)) return 'reason'
  return /^\W*(?:who(?:se|m)?|to whom|(?:which|what) (?:person|man|woman|player))\b/.test(lower)
    ? 'person'
    : undefined
}

/** Whether two lower-case words are spellings of one name: equal words, or words that share most letter pairs. */
export function isSimilarName(name: string, word: string): boolean {
  if (name === word) return true
  if (name.length < 4 || word.length < 4 || name[0] !== word[0]) return false
  if (Math.abs(name.length - word.length) > 2) return false
  const pairs = listLetterPairs(name)
  const others = listLetterPairs(word)
  let common = 0
  for (const pair of pairs) if (others.has(pair)) common += 1
  return (2 * common) / (pairs.size + others.size) >= 0.7
}

function listLetterPairs(word: string): ReadonlySet<string> {
  const pairs = new Set<string>()
  for (let n = 0; n < word.length - 1; n++) pairs.add(word.slice(n, n + 2))
  return pairs
}

/** Describes a past time relative to now, for example "yesterday, in the morning". */
export function describeTime(time: number, now: number): string {
  const days = toGameDay(now) - toGameDay(time)
  const minute = ((time % dayMinutes) + dayMinutes) % dayMinutes
  const part = ['at night', 'in the morning', 'in the afternoon', 'in the evening'][Math.floor(minute / 360)]
  if (days === 0) return 'today'
  return days === 1 ? 'yesterday' : `on day ${toGameDay(time)}, ${part}`
}
