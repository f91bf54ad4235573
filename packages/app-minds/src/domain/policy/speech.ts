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

/** Tags of memories that are not quoted as answers. */
const unspoken: ReadonlySet<string> = new Set([
  'question',
  'smalltalk',
  'reflection',
  'refusal',
  'critical',
  'relieved',
  'error',
])

/** Matches "Where can I eat?" */
export const placeQuestion = /\bwhere\b.*\b(?:can|could|may|should|do|to)\b/i

export function answerQuestion(
  text: string,
  recollections: readonly RecalledMemory[],
  { relations, random, constants, now, asker = '' }: AnswerOptions,
): Utterance {
  const usable = recollections.filter(
    ({ tags, relevance }) =>
      relevance >= constants.answer_relevance && !tags.some((tag) => unspoken.has(tag)),
  )
  const times = usable.flatMap(({ sim_time }) => sim_time ?? [])
  const question = parseQuestion(text, now, times.length === 0 ? null : Math.min(...times))
  const found = usable
    .map((source) => ({
      source,
      fit: judgeAnswer(question, source, { minSupport: constants.answer_coverage, relations }),
    }))
    .filter(({ fit }) => fit > 0)
  const direction = question.order === 'first' ? 1 : question.order === 'last' ? -1 : 0
  const best = found.sort(
    (a, b) =>
      direction * ((a.source.sim_time ?? 0) - (b.source.sim_time ?? 0)) ||
      b.fit + b.source.score - (a.fit + a.source.score) ||
      (a.source.id < b.source.id ? -1 : 1),
  )[0]?.source
  if (best === undefined) {
    const sorry = ["I don't know.", 'I do not know that, I am afraid.'] as const
    // A question that asks for a place requires advice, not a memory.
    const fitting = placeQuestion.test(text)
      ? sorry
      : ([...sorry, "I don't remember anything about that."] as const)
    return { text: pick(random, fitting), memory_id: null }
  }
  const hasTime = best.sim_time !== null && (question.asksForTime || isTemporal(question))
  const when = hasTime ? describeTime(best.sim_time ?? 0, now) : ''
  const { speaker, claim } = splitReport(best.content)
  const quote =
    speaker === null ? quoteOwn(best.content, when, random) : quoteReport(speaker, claim, { when, asker })
  return { text: truncate(quote, constants.utterance_chars), memory_id: best.id }
}

function quoteReport(
  speaker: string,
  claim: string,
  { when, asker }: { readonly when: string; readonly asker: string },
): string {
  const who = speaker === asker ? 'You' : speaker
  return `${who} told me${when === '' ? '' : ` ${when}`}: ${removeAnnouncement(claim)}`
}

export function removeAnnouncement(claim: string): string {
  const plain = claim.replace(
    /^(?:(?:actually|by the way|correction|no|sorry|but|well|(?:sorry, )?i was (?:wrong|mistaken))[,:.] )+/i,
    '',
  )
  return plain.slice(0, 1).toUpperCase() + plain.slice(1)
}

/** Returns the same key for statements with the same content words, even from different speakers. */
export const createClaimKey = (text: string): string =>
  createWordsKey(removeAnnouncement(splitReport(text).claim))

function quoteOwn(content: string, when: string, random: Random): string {
  const opening = pick(random, ['As I remember it: ', 'What I recall: ', 'I remember this: '])
  return `${opening}${content}${when === '' ? '' : ` That was ${when}.`}`
}

/** Sentences of small talk, by purpose. `{name}` stands for a comma and the name of the partner. */
const sentences = {
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
  letGo: ['I will not keep you long.', 'I hope that it is free.', 'Then I will not keep you.'],
  news: ['I did not know that.', 'That is news to me.', 'Good to know.', 'I will remember that.'],
  badNews: ['I am sorry to hear that.', 'That is bad news.'],
  known: ['I have heard that, too.'],
  thanks: ['You are welcome{name}.', 'Not at all{name}.'],
  acknowledgement: ['Yes.', 'Indeed.', 'Well.'],
  goodCondition: ['I am glad to hear that.', 'That is good to hear.'],
  badCondition: ['I am sorry to hear that.', 'I hope that you feel better soon.'],
  presence: ['Yes, I am here{name}.'],
  proposal: ['Perhaps another time{name}.', 'Not now{name}, but perhaps another time.'],
  quiet: ['Nothing new.', 'Nothing much.'],
  wellbeing: ['How are you?'],
  wellbeingBack: ['And how are you?', 'How are you{name}?'],
  askNews: ['What have you seen today?', 'What have you heard lately?', 'What is new?'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>

export type SmallTalk = keyof typeof sentences

export function smallTalk(
  kind: SmallTalk,
  { random, name }: { readonly random: Random; readonly name: string },
): string {
  return pick<string>(random, sentences[kind]).replace('{name}', name === '' ? '' : `, ${name}`)
}

interface NeedWords {
  readonly feeling: string
  readonly remedy: string
  readonly uses?: readonly string[]
}

const [eat, sleep] = [
  ['cook', 'dine'],
  ['sleep', 'rest', 'nap'],
] as const
const fun = ['play', 'watch', 'dance', 'read'] as const

const needWords: Readonly<Record<string, NeedWords>> = {
  hunger: { feeling: 'hungry', remedy: 'eat', uses: eat },
  food: { feeling: 'hungry', remedy: 'eat', uses: eat },
  thirst: { feeling: 'thirsty', remedy: 'drink' },
  energy: { feeling: 'tired', remedy: 'rest', uses: sleep },
  sleep: { feeling: 'tired', remedy: 'sleep', uses: sleep },
  rest: { feeling: 'tired', remedy: 'rest', uses: sleep },
  fun: { feeling: 'bored', remedy: 'have some fun', uses: fun },
  entertainment: { feeling: 'bored', remedy: 'have some fun', uses: fun },
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

/** Whether a text names a place that fills a need, like "You can sleep at Bed 2." */
export const namesPlaceFor = (need: string, text: string): boolean => {
  const { remedy, uses = [] } = describeNeed(need)
  const [activities] = /(?<=\byou can )[\w ]+?(?= at )/i.exec(text) ?? ['']
  return [need, remedy, ...uses].some((word) =>
    new RegExp(`\\b${escapePattern(word)}\\b`, 'i').test(activities),
  )
}

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const plainMoods = new Set(['', 'calm', 'content', 'worried', 'desperate', 'relieved'])

export function describeCondition(
  needs: readonly Need[],
  mood: string,
  { critical, search_below, content_from }: PolicyConstants,
): string {
  const [lowest, second] = [...needs].sort((a, b) => computeNeedShare(a) - computeNeedShare(b))
  const hasOwnMood = !plainMoods.has(mood.toLowerCase()) && mood.length <= 40
  const feeling = hasOwnMood ? ` I feel ${mood.toLowerCase().replace(/[.!]+$/, '')}.` : ''
  if (lowest === undefined) return hasOwnMood ? feeling.trim() : 'I am well.'
  const share = computeNeedShare(lowest)
  const words = describeNeed(lowest.name).feeling
  if (share <= critical) {
    const also =
      second !== undefined && computeNeedShare(second) <= critical
        ? ` and ${describeNeed(second.name).feeling}`
        : ''
    return `Not so well. I am very ${words}${also}.`.replace(/very (in|low)\b/, 'badly $1') + feeling
  }
  if (share < search_below)
    return `I am a little ${words}, but otherwise well.`.replace('little in', 'bit in') + feeling
  if (hasOwnMood) return feeling.trim()
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

export const truncate = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
