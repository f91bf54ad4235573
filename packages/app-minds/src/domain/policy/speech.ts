import { judgeAnswer, splitReport } from '../judge-answer.ts'
import type { Need } from '../observation.ts'
import { computeNeedShare } from '../observation.ts'
import { describeTime, isTemporal, parseQuestion } from '../question.ts'
import { pick, type Random } from '../random.ts'
import type { RecalledMemory } from '../retrieval.ts'
import type { WordRelations } from '../word-relations.ts'
import { createWordsKey } from '../words.ts'
import type { PolicyConstants } from './constants.ts'

export interface Utterance {
  readonly text: string
  readonly memory_id: string | null
}

interface AnswerOptions {
  readonly relations: WordRelations
  readonly random: Random
  readonly constants: PolicyConstants
  /** Game minutes. */
  readonly now: number
  readonly asker?: string
}

const unquotedTags: ReadonlySet<string> = new Set([
  'question',
  'smalltalk',
  'reflection',
  'refusal',
  'critical',
  'relieved',
  'error',
])

/** Matches "Where can I eat?" */
export const placeQuestionPattern = /\bwhere\b.*\b(?:can|could|may|should|do|to)\b/i

export function answerQuestion(
  text: string,
  recollections: readonly RecalledMemory[],
  { relations, random, constants, now, asker = '' }: AnswerOptions,
): Utterance {
  const usableMemories = recollections.filter(
    ({ tags, relevance }) =>
      relevance >= constants.answer_relevance && !tags.some((tag) => unquotedTags.has(tag)),
  )
  const times = usableMemories.flatMap(({ sim_time }) => sim_time ?? [])
  const question = parseQuestion(text, now, times.length === 0 ? null : Math.min(...times))
  const answers = usableMemories
    .map((source) => ({
      source,
      answerScore: judgeAnswer(question, source, { minSupport: constants.answer_coverage, relations }),
    }))
    .filter(({ answerScore }) => answerScore > 0)
  const direction = question.order === 'first' ? 1 : question.order === 'last' ? -1 : 0
  const bestMemory = answers.sort(
    (a, b) =>
      direction * ((a.source.sim_time ?? 0) - (b.source.sim_time ?? 0)) ||
      b.answerScore + b.source.score - (a.answerScore + a.source.score) ||
      (a.source.id < b.source.id ? -1 : 1),
  )[0]?.source
  if (bestMemory === undefined) {
    const unknownReplies = ["I don't know.", 'I do not know that, I am afraid.'] as const
    // "I don't remember" does not fit a question that asks for a place.
    const replies = placeQuestionPattern.test(text)
      ? unknownReplies
      : ([...unknownReplies, "I don't remember anything about that."] as const)
    return { text: pick(random, replies), memory_id: null }
  }
  const hasTime = bestMemory.sim_time !== null && (question.asksForTime || isTemporal(question))
  const timeText = hasTime ? describeTime(bestMemory.sim_time ?? 0, now) : ''
  const { speaker, claim } = splitReport(bestMemory.content)
  const quote =
    speaker === null
      ? quoteOwnMemory(bestMemory.content, timeText, random)
      : quoteReport(speaker, claim, { timeText, asker })
  return { text: truncate(quote, constants.utterance_chars), memory_id: bestMemory.id }
}

function quoteReport(
  speaker: string,
  claim: string,
  { timeText, asker }: { readonly timeText: string; readonly asker: string },
): string {
  const speakerName = speaker === asker ? 'You' : speaker
  return `${speakerName} told me${timeText === '' ? '' : ` ${timeText}`}: ${removeAnnouncement(claim)}`
}

export function removeAnnouncement(claim: string): string {
  const bareClaim = claim.replace(
    /^(?:(?:actually|by the way|correction|no|sorry|but|well|(?:sorry, )?i was (?:wrong|mistaken))[,:.] )+/i,
    '',
  )
  return bareClaim.slice(0, 1).toUpperCase() + bareClaim.slice(1)
}

/** Returns the same key for statements with the same stems, even from different speakers. */
export const createClaimKey = (text: string): string =>
  createWordsKey(removeAnnouncement(splitReport(text).claim))

function quoteOwnMemory(content: string, timeText: string, random: Random): string {
  const opening = pick(random, ['As I remember it: ', 'What I recall: ', 'I remember this: '])
  return `${opening}${content}${timeText === '' ? '' : ` That was ${timeText}.`}`
}

/** Sentences of small talk, by purpose. `{name}` stands for a comma and the name of the partner. */
const smallTalkSentences = {
  greeting: ['Hello{name}.', 'Good to see you{name}.', 'Good day{name}.'],
  nudge: ['Are you still there{name}?', 'What do you think{name}?'],
  farewell: [
    'Goodbye{name}.',
    'I have to go now. Goodbye{name}.',
    'It was good to talk to you. Goodbye{name}.',
    'I will be on my way. Goodbye{name}.',
  ],
  farewellAfterExcuse: ['Goodbye{name}.'],
  farewellReply: ['Goodbye{name}.', 'See you{name}.', 'Take care{name}.'],
  understanding: ['I will not keep you long.', 'I hope that it is free.', 'Then I will not keep you.'],
  news: ['I did not know that.', 'That is news to me.', 'Good to know.', 'I will remember that.'],
  badNews: ['I am sorry to hear that.', 'That is bad news.'],
  known: ['I have heard that, too.'],
  thanks: ['You are welcome{name}.', 'Not at all{name}.'],
  acknowledgement: ['Yes.', 'Indeed.', 'Well.'],
  goodCondition: ['I am glad to hear that.', 'That is good to hear.'],
  badCondition: ['I am sorry to hear that.', 'I hope that you feel better soon.'],
  presence: ['Yes, I am here{name}.'],
  proposal: ['Perhaps another time{name}.', 'Not now{name}, but perhaps another time.'],
  noNews: ['Nothing new.', 'Nothing much.'],
  wellbeing: ['How are you?'],
  wellbeingBack: ['And how are you?', 'How are you{name}?'],
  askNews: ['What have you seen today?', 'What have you heard lately?', 'What is new?'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>

export type SmallTalk = keyof typeof smallTalkSentences

export function composeSmallTalk(
  kind: SmallTalk,
  { random, name }: { readonly random: Random; readonly name: string },
): string {
  return pick<string>(random, smallTalkSentences[kind]).replace('{name}', name === '' ? '' : `, ${name}`)
}

interface NeedWords {
  readonly feeling: string
  readonly remedy: string
  readonly uses?: readonly string[]
}

const [eatWords, sleepWords] = [
  ['cook', 'dine'],
  ['sleep', 'rest', 'nap'],
] as const
const funWords = ['play', 'watch', 'dance', 'read'] as const

const needWords: Readonly<Record<string, NeedWords>> = {
  hunger: { feeling: 'hungry', remedy: 'eat', uses: eatWords },
  food: { feeling: 'hungry', remedy: 'eat', uses: eatWords },
  thirst: { feeling: 'thirsty', remedy: 'drink' },
  energy: { feeling: 'tired', remedy: 'rest', uses: sleepWords },
  sleep: { feeling: 'tired', remedy: 'sleep', uses: sleepWords },
  rest: { feeling: 'tired', remedy: 'rest', uses: sleepWords },
  fun: { feeling: 'bored', remedy: 'have some fun', uses: funWords },
  entertainment: { feeling: 'bored', remedy: 'have some fun', uses: funWords },
  social: { feeling: 'lonely', remedy: 'meet people' },
  company: { feeling: 'lonely', remedy: 'meet people' },
  hygiene: { feeling: 'in need of a wash', remedy: 'wash', uses: ['bathe', 'shower'] },
  warmth: { feeling: 'cold', remedy: 'get warm' },
}

export const describeNeed = (name: string): NeedWords =>
  needWords[name.toLowerCase()] ?? { feeling: `low on ${name}`, remedy: `get more ${name}` }

export const findNeeds = (text: string, names: readonly string[]): readonly string[] =>
  names.filter((name) => {
    const { feeling, remedy } = describeNeed(name)
    return [name, feeling, remedy].some((word) => new RegExp(`\\b${escapePattern(word)}\\b`, 'i').test(text))
  })

/** Whether a text such as "You can sleep at Bed 2." names a place that fills the need. */
export const mentionsPlaceFor = (need: string, text: string): boolean => {
  const { remedy, uses = [] } = describeNeed(need)
  const [activityText] = /(?<=\byou can )[\w ]+?(?= at )/i.exec(text) ?? ['']
  return [need, remedy, ...uses].some((word) =>
    new RegExp(`\\b${escapePattern(word)}\\b`, 'i').test(activityText),
  )
}

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const defaultMoods = new Set(['', 'calm', 'content', 'worried', 'desperate', 'relieved'])

export function describeCondition(
  needs: readonly Need[],
  mood: string,
  { critical, search_below, content_from }: PolicyConstants,
): string {
  const [lowestNeed, secondNeed] = [...needs].sort((a, b) => computeNeedShare(a) - computeNeedShare(b))
  const hasCustomMood = !defaultMoods.has(mood.toLowerCase()) && mood.length <= 40
  const feeling = hasCustomMood ? ` I feel ${mood.toLowerCase().replace(/[.!]+$/, '')}.` : ''
  if (lowestNeed === undefined) return hasCustomMood ? feeling.trim() : 'I am well.'
  const share = computeNeedShare(lowestNeed)
  const feelingText = describeNeed(lowestNeed.name).feeling
  if (share <= critical) {
    const secondFeeling =
      secondNeed !== undefined && computeNeedShare(secondNeed) <= critical
        ? ` and ${describeNeed(secondNeed.name).feeling}`
        : ''
    return (
      `Not so well. I am very ${feelingText}${secondFeeling}.`.replace(/very (in|low)\b/, 'badly $1') +
      feeling
    )
  }
  if (share < search_below)
    return `I am a little ${feelingText}, but otherwise well.`.replace('little in', 'bit in') + feeling
  if (hasCustomMood) return feeling.trim()
  return share >= content_from ? 'I am very well.' : 'I am well.'
}

export function describeFeeling(need: Need, { critical, search_below }: PolicyConstants): string {
  const { feeling } = describeNeed(need.name)
  const share = computeNeedShare(need)
  if (share <= critical) return `Yes, I am very ${feeling}.`.replace(/very (in|low)\b/, 'badly $1')
  return share < search_below
    ? `Yes, I am a little ${feeling}.`.replace('little in', 'bit in')
    : `No, I am not ${feeling}.`
}

export const truncate = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`
