// cspell:ignore told -- part of memories
import { findNames, isSimilarName, isTemporal, type Question } from './question.ts'
import type { WordRelations } from './word-relations.ts'
import { searchWords } from './words.ts'

const reportPrefix = /^([^:]{1,80}?) told me: /

/** Splits a report into speaker and claim. For other memories, the speaker is `null`. */
export function splitReport(content: string): { readonly speaker: string | null; readonly claim: string } {
  const [prefix, speaker] = reportPrefix.exec(content) ?? []
  return prefix === undefined
    ? { speaker: null, claim: content }
    : { speaker: speaker ?? null, claim: content.slice(prefix.length) }
}

interface Recollection {
  readonly content: string
  readonly sim_time: number | null
}

/**
 * Returns how well a memory answers a question, 0 to 1. `minSupport` is the minimum `computeSupport` of the words that
 * are not names. If the question contains a name, half of `minSupport` suffices.
 */
export function judgeAnswer(
  question: Question,
  { content, sim_time }: Recollection,
  { minSupport, relations }: { readonly minSupport: number; readonly relations: WordRelations },
): number {
  const { names, words, speaker, period } = question
  if (period !== null && (sim_time === null || sim_time < period.from || sim_time >= period.to)) return 0
  const { speaker: teller, claim } = splitReport(content)
  if (speaker !== null && !isSimilarName(speaker.toLowerCase(), (teller ?? '').toLowerCase())) return 0
  const all = searchWords(claim)
  if (!names.every((name) => all.some((word) => isSimilarName(name, word)))) return 0
  const present = all.filter((word) => !names.some((name) => isSimilarName(name, word)))
  if (!hasExpected(question, claim, relations)) return 0
  const hasName = names.length > 0 || speaker !== null
  if (question.entities > 1) return 0.5 + computeSupport(words, present, relations) / 2
  if (words.length === 0) return hasName || isTemporal(question) ? 0.5 : 0
  const support = computeSupport(words, present, relations)
  return support >= (hasName ? minSupport / 2 : minSupport) ? 0.5 + support / 2 : 0
}

const lightWeight = 0.2

const lightVerbs = new Set(
  'become became call called come came comes coming do done find finds found get gets give gave given gives go goes going gone went have keep keeps kept know known knows knew leave let lie look looks looking make makes making need needs put puts run runs ran set spend spends spent start stay take takes taken took try turn turns use used uses using want wants wish'.split(
    ' ',
  ),
)

/** Returns the weighted mean of the wanted words' best matches, 0 to 1. */
export function computeSupport(
  wanted: readonly string[],
  present: readonly string[],
  relations: WordRelations,
): number {
  if (wanted.length === 0) return 0
  let total = 0
  let supported = 0
  for (const word of wanted) {
    const weight = lightVerbs.has(word) ? lightWeight : (1 + relations.getSpecificity(word)) / 2
    const matches = present.map((other) =>
      word.length > 4 && isSimilarName(word, other) ? 0.9 : relations.match(word, other),
    )
    total += weight
    supported += weight * Math.max(0, ...matches)
  }
  return supported / total
}

const numbers =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half|both|no|none|once|twice|several|few)\b/i
const times =
  /\d|o'clock|\b(?:noon|midnight|midday|dawn|dusk|sunrise|sunset|morning|afternoon|evening|night|today|tomorrow|yesterday|spring|summer|autumn|winter|(?:day|week|month|year|hour|minute)s?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|never|always|daily|january|february|march|april|may|june|july|august|september|october|november|december|when|while|during|since|until|before|after)\b/i
const places =
  /\b(?:in|at|on|under|behind|near|by|from|to|into|beneath|below|above|over|beside|between|inside|outside|through|across|around|along|north|south|east|west|here|there|home|down|up|upstairs|out of|with)\b/i
const reasons = /\b(?:because|since|so|for|to|due|thanks|after|when|with|of)\b/i

function hasExpected({ expects, names }: Question, content: string, relations: WordRelations): boolean {
  if (expects === 'name') return findNames(`x ${content}`).some((name) => !names.includes(name))
  if (expects === 'amount') return numbers.test(content)
  if (expects === 'time') return times.test(content)
  if (expects === 'place') return places.test(content)
  if (expects === 'reason') return reasons.test(content)
  if (expects === 'colour') return searchWords(content).some((word) => relations.match('colour', word) >= 0.7)
  if (expects !== 'person') return true
  const others = findNames(`x ${content}`)
  return (
    others.some((name) => !names.includes(name)) ||
    /\b(?:i|we|he|she|they|my|our)\b/i.test(content) ||
    searchWords(content).some((word) => relations.match('person', word) >= 0.7)
  )
}
