import { minutesPerDay, toGameDay } from './policy/state.ts'
import { listContentWords, listStems, stem } from './words.ts'

/** A range of game minutes, excluding `to`. */
export interface Period {
  readonly from: number
  readonly to: number
}

export interface Question {
  /** Lower-case names of persons and places that an answer must mention. */
  readonly names: readonly string[]
  /** Number of named persons and places. Adjacent names count as one. */
  readonly entityCount: number
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

/** Stems that a memory does not need to match. */
const questionWords = new Set(
  listStems(
    'place spot location person people someone anyone anybody thing something anything kind sort way time hour day date moment ' +
      'exactly ever find happen happened happens ask answer wonder learn heard hear mention talk speak spoke like much many often ' +
      'get got give make made use let one first last latest recent recently earliest time times yesterday today ago ' +
      'notice noticed see seen cant dont wont whether about again other name called big long far old late tall heavy deep high goods tonight morning evening afternoon',
  ),
)

const sayVerb = '(?:say|said|tell|told|mention|mentioned|report|claim|(?:talk|speak) (?:of|about))'

/** `now` and `earliestTime` are the game times of the present and of the first memory, `null` if unknown. */
export function parseQuestion(
  text: string,
  now: number | null,
  earliestTime: number | null = null,
): Question {
  const lowerText = text.toLowerCase().replace(/’/g, "'")
  const speaker = findSpeaker(text)
  const names = findNames(text).filter((name) => name !== speaker?.toLowerCase())
  const period = now === null ? null : findPeriod(lowerText, now, earliestTime)
  const order = findOrder(lowerText)
  const nameStems = new Set([...names, ...listContentWords(speaker ?? '')].map(stem))
  const usedTitles = new Set(
    listContentWords(text).filter(
      (word, n, allWords) => titles.has(word) && names.includes(allWords[n + 1] ?? ''),
    ),
  )
  const words = [...new Set(listContentWords(removePeriod(lowerText)))].filter(
    (word) => !questionWords.has(stem(word)) && !nameStems.has(stem(word)) && !usedTitles.has(word),
  )
  const asksForTime =
    /\b(?:when|on (?:which|what) day|what day)\b.*\b(?:tell|told|say|mention)/.test(lowerText) ||
    /\bwhen did (?:you|we|i)\b/.test(lowerText)
  const expects = asksForTime ? undefined : findExpectedAnswer(lowerText)
  return {
    names,
    entityCount: countEntities(text, names),
    words,
    expects,
    speaker,
    period,
    order,
    asksForTime,
  }
}

/** Whether a question restricts the time, so that matching words are not enough. */
export const isTemporal = ({ period, order }: Pick<Question, 'period' | 'order'>): boolean =>
  period !== null || order !== null

/** Returns names in lower case: capitalized words except titles, weekdays and the first word of a sentence. */
export function findNames(text: string): readonly string[] {
  const words = [...text.matchAll(/[\p{L}][\p{L}'’-]*/gu)]
  const names = words.flatMap(({ 0: word, index }, n) => {
    if (n === 0 || !/^\p{Lu}/u.test(word) || /^I(?:['’]|$)/u.test(word)) return []
    if (/[.!?:]["'”]?\s+$/u.test(text.slice(0, index))) return []
    const [name = ''] = listContentWords(word)
    return name === '' || titles.has(name) || dayNames.has(name) ? [] : [name]
  })
  return [...new Set(names)]
}

function countEntities(text: string, names: readonly string[]): number {
  const nameFlags = [...text.matchAll(/\p{L}[\p{L}'’-]*/gu)].map(([word]) =>
    names.includes(listContentWords(word)[0] ?? ''),
  )
  return nameFlags.filter((isName, n) => isName && nameFlags[n - 1] !== true).length
}

function findSpeaker(text: string): string | null {
  const name = `(\\p{Lu}[\\p{L}'-]+)`
  const [, quotedName] =
    new RegExp(`\\b(?:did|has|had|does|that|thing|what) ${name} (?:ever )?${sayVerb}\\b`, 'u').exec(text) ??
    []
  const [, sourceName] =
    new RegExp(`\\b(?:learn|learned|learnt|hear|heard|know) (?:[\\w ]+ )?from ${name}`, 'u').exec(text) ?? []
  return quotedName ?? sourceName ?? null
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

const countWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven']
const ordinalWords = ['zeroth', 'first', 'second', 'third', 'fourth', 'fifth']

function toCount(word: string): number {
  if (/^\d/.test(word)) return Number(word)
  return Math.max(countWords.indexOf(word), ordinalWords.indexOf(word))
}

function findPeriod(lowerText: string, now: number, earliestTime: number | null): Period | null {
  for (const [pattern, getDayRange] of periodPhrases) {
    const match = pattern.exec(lowerText)
    if (match === null) continue
    const [day, days] = getDayRange(match, toGameDay(now), toGameDay(earliestTime ?? 0))
    return { from: day * minutesPerDay, to: (day + days) * minutesPerDay }
  }
  return null
}

const removePeriod = (lowerText: string): string =>
  periodPhrases.reduce((text, [pattern]) => text.replace(pattern, ' '), lowerText)

function findOrder(lowerText: string): Question['order'] {
  if (/\b(?:on the first day)\b/.test(lowerText)) return null
  if (
    /\b(?:the (?:very )?first (?:time|thing)|first (?:tell|told|say|meet|met|see|saw|hear|heard)|earliest)\b/.test(
      lowerText,
    )
  )
    return 'first'
  return /\b(?:the (?:very )?last (?:time|thing)|last (?:tell|told|say|meet|met|see|saw|hear|heard)|latest|most recent(?:ly)?)\b/.test(
    lowerText,
  )
    ? 'last'
    : null
}

function findExpectedAnswer(lowerText: string): Question['expects'] {
  if (/\bhow (?:many|much|old|tall|heavy|big|long|high|deep|wide)\b/.test(lowerText)) return 'amount'
  if (/\bhow (?:often|frequently)\b/.test(lowerText)) return 'time'
  if (/\b(?:name of|called|whose name|what name|names of)\b|\bname\?/.test(lowerText)) return 'name'
  if (/\bwhat (?:colour|color)\b/.test(lowerText)) return 'colour'
  if (
    /^(?:\W*\w+\W+){0,5}?(?:when|(?:at |on )?(?:what|which) (?:time|hour|day|date)|how late)\b/.test(
      lowerText,
    )
  )
    return 'time'
  if (/^(?:\W*\w+\W+){0,5}?where\b/.test(lowerText)) return 'place'
  if (/\b(?:why|reason)\b/.test(lowerText)) return 'reason'
  return /^\W*(?:who(?:se|m)?|to whom|(?:which|what) (?:person|man|woman|player))\b/.test(lowerText)
    ? 'person'
    : undefined
}

/** Whether two lower-case words are equal, or have the same initial and at least 70 % of letter pairs in common. */
export function isSimilarName(name: string, word: string): boolean {
  if (name === word) return true
  if (name.length < 4 || word.length < 4 || name[0] !== word[0]) return false
  if (Math.abs(name.length - word.length) > 2) return false
  const pairs = listLetterPairs(name)
  const wordPairs = listLetterPairs(word)
  let commonCount = 0
  for (const pair of pairs) if (wordPairs.has(pair)) commonCount += 1
  return (2 * commonCount) / (pairs.size + wordPairs.size) >= 0.7
}

function listLetterPairs(word: string): ReadonlySet<string> {
  const pairs = new Set<string>()
  for (let n = 0; n < word.length - 1; n++) pairs.add(word.slice(n, n + 2))
  return pairs
}

/** Returns a description such as "yesterday" or "on day 3, in the morning". */
export function describeTime(time: number, now: number): string {
  const days = toGameDay(now) - toGameDay(time)
  const minute = ((time % minutesPerDay) + minutesPerDay) % minutesPerDay
  const timeOfDay = ['at night', 'in the morning', 'in the afternoon', 'in the evening'][
    Math.floor(minute / 360)
  ]
  if (days === 0) return 'today'
  return days === 1 ? 'yesterday' : `on day ${toGameDay(time)}, ${timeOfDay}`
}
