// cspell:ignore told -- part of memories
import { findNames, isSimilarName, isTemporal, type Question } from './question.ts'
import type { WordRelations } from './word-relations.ts'
import { listContentWords } from './words.ts'

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
 * Returns how well a memory answers a question, 0 to 1. `minSupport` is the minimum result of `computeSupport` for the
 * words that are not names. If the question contains a name, half of `minSupport` suffices.
 */
export function judgeAnswer(
  question: Question,
  { content, sim_time }: Recollection,
  { minSupport, relations }: { readonly minSupport: number; readonly relations: WordRelations },
): number {
  const { names, words, speaker, period } = question
  if (period !== null && (sim_time === null || sim_time < period.from || sim_time >= period.to)) return 0
  const { speaker: reporter, claim } = splitReport(content)
  if (speaker !== null && !isSimilarName(speaker.toLowerCase(), (reporter ?? '').toLowerCase())) return 0
  const claimWords = listContentWords(claim)
  if (!names.every((name) => claimWords.some((word) => isSimilarName(name, word)))) return 0
  const presentWords = claimWords.filter((word) => !names.some((name) => isSimilarName(name, word)))
  if (!containsExpected(question, claim, relations)) return 0
  const hasName = names.length > 0 || speaker !== null
  if (question.entityCount > 1) return 0.5 + computeSupport(words, presentWords, relations) / 2
  if (words.length === 0) return hasName || isTemporal(question) ? 0.5 : 0
  const support = computeSupport(words, presentWords, relations)
  return support >= (hasName ? minSupport / 2 : minSupport) ? 0.5 + support / 2 : 0
}

const lightVerbWeight = 0.2

const lightVerbs = new Set(
  'become became call called come came comes coming do done find finds found get gets give gave given gives go goes going gone went have keep keeps kept know known knows knew leave let lie look looks looking make makes making need needs put puts run runs ran set spend spends spent start stay take takes taken took try turn turns use used uses using want wants wish'.split(
    ' ',
  ),
)

/** Returns the weighted mean of the query words' best matches, 0 to 1. */
export function computeSupport(
  queryWords: readonly string[],
  memoryWords: readonly string[],
  relations: WordRelations,
): number {
  if (queryWords.length === 0) return 0
  let totalWeight = 0
  let supportedWeight = 0
  for (const word of queryWords) {
    const weight = lightVerbs.has(word) ? lightVerbWeight : (1 + relations.getSpecificity(word)) / 2
    const matches = memoryWords.map((memoryWord) =>
      word.length > 4 && isSimilarName(word, memoryWord) ? 0.9 : relations.match(word, memoryWord),
    )
    totalWeight += weight
    supportedWeight += weight * Math.max(0, ...matches)
  }
  return supportedWeight / totalWeight
}

const numberPattern =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half|both|no|none|once|twice|several|few)\b/i
const timePattern =
  /\d|o'clock|\b(?:noon|midnight|midday|dawn|dusk|sunrise|sunset|morning|afternoon|evening|night|today|tomorrow|yesterday|spring|summer|autumn|winter|(?:day|week|month|year|hour|minute)s?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|never|always|daily|january|february|march|april|may|june|july|august|september|october|november|december|when|while|during|since|until|before|after)\b/i
const placePattern =
  /\b(?:in|at|on|under|behind|near|by|from|to|into|beneath|below|above|over|beside|between|inside|outside|through|across|around|along|north|south|east|west|here|there|home|down|up|upstairs|out of|with)\b/i
const reasonPattern = /\b(?:because|since|so|for|to|due|thanks|after|when|with|of)\b/i

function containsExpected({ expects, names }: Question, content: string, relations: WordRelations): boolean {
  if (expects === 'name') return findNames(`x ${content}`).some((name) => !names.includes(name))
  if (expects === 'amount') return numberPattern.test(content)
  if (expects === 'time') return timePattern.test(content)
  if (expects === 'place') return placePattern.test(content)
  if (expects === 'reason') return reasonPattern.test(content)
  if (expects === 'colour')
    return listContentWords(content).some((word) => relations.match('colour', word) >= 0.7)
  if (expects !== 'person') return true
  const otherNames = findNames(`x ${content}`)
  return (
    otherNames.some((name) => !names.includes(name)) ||
    /\b(?:i|we|he|she|they|my|our)\b/i.test(content) ||
    listContentWords(content).some((word) => relations.match('person', word) >= 0.7)
  )
}
