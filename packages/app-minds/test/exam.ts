/** An exam of a mind: statements of others over four days, and questions about them. */
import { readFileSync } from 'node:fs'
import { type Data, decide, type OpenMinds } from './minds-kit.ts'

interface Statement {
  readonly day: number
  readonly hour: number
  readonly by: string
  readonly say: string
}

/**
 * A question. `answer` lists accepted parts of the answer, separated by `|`. It is absent if the statements do not
 * contain the answer.
 */
export interface ExamQuestion {
  readonly kind: 'paraphrase' | 'exact' | 'temporal' | 'unknown'
  readonly ask: string
  readonly answer?: string
}

interface Exam {
  readonly statements: readonly Statement[]
  readonly asked_on: { readonly day: number; readonly hour: number }
  readonly questions: readonly ExamQuestion[]
}

export interface ExamResult extends ExamQuestion {
  readonly spoken: string
  /** Whether the expected memory is the first result of `recall_memories`. */
  readonly ranksFirst: boolean
  readonly isCorrect: boolean
}

const declinePattern = /\bI (?:don't|do not) (?:know|remember)/

export const readExam = (name: string): Exam => {
  const file = new URL(`../../../fixtures/minds/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as Exam // a file of this repository
}

const toMinutes = ({ day, hour }: { readonly day: number; readonly hour: number }): number =>
  day * 1440 + hour * 60

/** Returns an observation of a conversation in which another character says one thing. */
const observeStatement = (id: string, speaker: string, message: string, time: number): Data => ({
  entities: [],
  needs: { hunger: 80, energy: 80, fun: 80, hygiene: 80, social: 30 },
  status: {
    current_interaction: { interaction_id: id, interaction_name: 'conversation', needs_filled: ['social'] },
    controller_state: { state_name: 'interacting' },
  },
  conversations: [
    {
      interaction_id: id,
      interaction_name: 'conversation',
      participants: [speaker.toLowerCase(), 'mara'],
      conversation_history: [
        { speaker_id: speaker.toLowerCase(), speaker_name: speaker, message, timestamp: time },
      ],
    },
  ],
})

/** States all facts of an exam to a mind, which consolidates each night. */
export async function makeStatements(minds: OpenMinds, { statements }: Exam): Promise<void> {
  let day = statements[0]?.day ?? 0
  for (const [n, statement] of statements.entries()) {
    if (statement.day !== day)
      await minds.call('consolidate_memories', { mind_id: 'mara', request_id: `night-${day}` })
    day = statement.day
    const time = toMinutes(statement)
    await decide(minds, 'mara', time, observeStatement(`stated-${n}`, statement.by, statement.say, time))
  }
}

/** Asks all questions once, each in a new conversation. `round` distinguishes the conversations. */
export async function askQuestions(
  minds: OpenMinds,
  exam: Exam,
  round: number,
): Promise<readonly ExamResult[]> {
  const results: ExamResult[] = []
  for (const [n, question] of exam.questions.entries()) {
    const time = toMinutes(exam.asked_on) + 200 * round + n
    const { memories } = await minds.call('recall_memories', {
      mind_id: 'mara',
      query: question.ask,
      k: 1,
    })
    const { action } = await decide(
      minds,
      'mara',
      time,
      observeStatement(`asked-${round}-${n}`, 'Hal', question.ask, time),
    )
    const spoken = String(action.parameters.message ?? '')
    const expected = question.answer === undefined ? [] : question.answer.split('|')
    const contains = (text: string): boolean => expected.some((part) => text.includes(part))
    results.push({
      ...question,
      spoken,
      ranksFirst: memories.length > 0 && contains(memories[0].content),
      isCorrect: question.answer === undefined ? declinePattern.test(spoken) : contains(spoken),
    })
  }
  return results
}

/** Returns the fraction of correct answers among the questions that a filter selects. */
export function measureCorrect(
  results: readonly ExamResult[],
  isSelected: (result: ExamResult) => boolean,
): { readonly correct: number; readonly of: number; readonly share: number } {
  const selectedResults = results.filter(isSelected)
  const correct = selectedResults.filter(({ isCorrect }) => isCorrect).length
  return { correct, of: selectedResults.length, share: correct / Math.max(1, selectedResults.length) }
}
