/** What kind of utterance a sentence is, and the template sentences that answer it. */
import { pick, type Random } from '../random.ts'
import { coverage } from '../words.ts'
import type { PolicyConstants } from './constants.ts'

/** The dialogue act of an utterance. */
export type DialogueAct = 'greeting' | 'question' | 'farewell' | 'statement'

/** Judges an utterance by its words. */
export function dialogueAct(text: string): DialogueAct {
  const words = text.trim().toLowerCase()
  if (/\b(goodbye|good bye|bye|farewell|see you|good night|i must go|i have to go)\b/.test(words))
    return 'farewell'
  if (
    words.endsWith('?') ||
    /^(who|what|where|when|which|why|how|do you|did you|can you|is there)\b/.test(words)
  )
    return 'question'
  if (/^(hello|hi|hey|good (morning|day|evening|afternoon)|greetings|welcome)\b/.test(words))
    return 'greeting'
  return 'statement'
}

/** A memory that might answer a question. */
export interface AnswerSource {
  readonly id: string
  readonly content: string
  /** Relevance to the question, 0 to 1. */
  readonly relevance: number
  readonly score: number
  readonly tags: readonly string[]
}

/** What is said, and the memory that it quotes. */
export interface Utterance {
  readonly text: string
  readonly memory_id: string | null
}

/** Tags of memories that answer nothing: what was asked, what was said for politeness, and what was only concluded. */
const unspoken: ReadonlySet<string> = new Set(['question', 'smalltalk', 'reflection'])

/** Answers a question from the best memory that bears on it, or says that nothing is remembered. Invents nothing. */
export function answerQuestion(
  question: string,
  recollections: readonly AnswerSource[],
  { random, constants }: { readonly random: Random; readonly constants: PolicyConstants },
): Utterance {
  const best = recollections
    .filter(({ tags }) => !tags.some((tag) => unspoken.has(tag)))
    .filter(({ relevance }) => relevance >= constants.answer_relevance)
    .filter(({ content }) => coverage(question, content) >= constants.answer_coverage)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))[0]
  if (best === undefined) {
    const text = pick(random, [
      "I don't know.",
      "I don't remember anything about that.",
      'I do not know that.',
    ])
    return { text, memory_id: null }
  }
  const opening = pick(random, ['As I remember it: ', 'What I recall: ', 'I remember this: '])
  return { text: cut(`${opening}${best.content}`, constants.utterance_chars), memory_id: best.id }
}

/** Something to say that is no answer. */
export function smallTalk(
  kind: 'opening' | 'reply' | 'greeting' | 'nudge' | 'farewell',
  { random, name }: { readonly random: Random; readonly name: string },
): Utterance {
  const friend = name === '' ? 'friend' : name
  const sentences = {
    opening: [`Hello ${friend}, how are you?`, `Good day, ${friend}. How are things?`],
    greeting: [`Hello ${friend}.`, `Good to see you, ${friend}.`],
    reply: ['I see. Thank you for telling me.', 'Good to know.', 'I will remember that.'],
    nudge: [`Are you still there, ${friend}?`, `What do you think, ${friend}?`],
    farewell: [`Goodbye, ${friend}.`, `I have to go now. Goodbye, ${friend}.`],
  } as const
  return { text: pick(random, sentences[kind] as readonly [string, ...string[]]), memory_id: null }
}

/** A text cut to a length, with a mark. */
export const cut = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
