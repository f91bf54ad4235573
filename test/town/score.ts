// cspell:ignore told -- part of what characters say
/** Compares the results of runs with their targets. */
import type { Share } from './recall.ts'
import type { Run } from './run.ts'

/** A measured result with its target. */
export interface Outcome {
  readonly name: string
  readonly target: string
  readonly measured: string
  /** `undefined` if the outcome has no target. */
  readonly isMet: boolean | undefined
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const declined = /\bI (don't|do not) (know|remember)/
const quoting = /(?:As I remember it: |What I recall: |I remember this: | told me(?: [^:]*)?: )/

/** Returns the fraction of need-minutes in which the need was critical. */
export const criticalShare = ({ tally: { needs } }: Run): number =>
  needs.minutes === 0 ? 0 : needs.critical / needs.minutes

/** Evaluates runs of one preset with different seeds. */
export function evaluateRuns(runs: readonly Run[]): readonly Outcome[] {
  const critical = runs.map(criticalShare)
  const mean = sum(critical) / Math.max(1, critical.length)
  const worst = Math.max(0, ...critical)
  const answered = sum(runs.map(({ tally }) => tally.questions.answered))
  const missed = sum(runs.map(({ tally }) => tally.questions.missed.length))
  // Questions that are still open at the end of a run are not counted.
  const asked = answered + missed
  const illegal = sum(runs.map(({ tally }) => tally.illegal.length))
  const deadlocks = sum(runs.map(({ tally }) => tally.deadlocks.length))
  const talks = sum(runs.map(({ tally }) => tally.talks.count))
  return [
    {
      name: 'need-minutes below 25 %, from day 2',
      target: 'mean ≤ 7 %, worst ≤ 14 %',
      measured: `mean ${percent(mean)}, worst ${percent(worst)} (${critical.map(percent).join(', ')})`,
      isMet: mean <= 0.07 && worst <= 0.14,
    },
    {
      name: 'illegal actions',
      target: '0',
      measured: `${illegal} of ${sum(runs.map(({ tally }) => tally.decisions))}`,
      isMet: illegal === 0,
    },
    {
      name: 'questions answered or declined within 3 decisions',
      target: '≥ 99 %',
      measured: `${percent(answered / Math.max(1, asked))} of ${asked}`,
      isMet: answered >= 0.99 * asked,
    },
    {
      name: 'conversations silent for more than 10 minutes',
      target: '0',
      measured: `${deadlocks} of ${talks}`,
      isMet: deadlocks === 0,
    },
    toOutcome('recall@5 of stated facts, same words', '≥ 95 %', 0.95, addRecall(runs, 'exact')),
    toOutcome('recall@5 of stated facts, other words', '≥ 80 %', 0.8, addRecall(runs, 'paraphrase')),
    toOutcome('corrected facts: correction ranks above original', '≥ 90 %', 0.9, addRecall(runs, 'newest')),
    toOutcome('unmentioned things: declined in conversation', '≥ 80 %', 0.8, measureDeclined(runs)),
    toOutcome('answers that quote only utterances and visible names', '100 %', 1, measureQuotes(runs)),
    toOutcome(
      'unmentioned things: recall_memories returns nothing',
      '–',
      undefined,
      addRecall(runs, 'empty'),
    ),
    toOutcome('stated facts: correct answer in conversation', '–', undefined, measureCorrect(runs)),
  ]
}

/** Measures how many questions about unmentioned things were declined in conversation. */
const measureDeclined = (runs: readonly Run[]): Share =>
  judgeAnswers(runs, 'ask-unmentioned', (answer) => declined.test(answer) && !quoting.test(answer))

/** Measures how many questions about stated facts were answered with the current statement. */
const measureCorrect = (runs: readonly Run[]): Share =>
  judgeAnswers(runs, 'ask', (answer, run, id) =>
    answer.includes(run.script.facts.find((fact) => fact.id === id)?.current ?? '\n'),
  )

/** Measures how many quotations in answers to scripted questions contain a known text of their run. */
function measureQuotes(runs: readonly Run[]): Share {
  const quotes = runs.flatMap((run) =>
    run.spoken.flatMap(({ line, answer }) => {
      const quote = line.kind.startsWith('ask') ? answer?.split(quoting)[1] : undefined
      return quote === undefined ? [] : [{ quote, run }]
    }),
  )
  const missed = quotes
    .filter(({ quote, run }) => !run.knownTexts.some((text) => quote.includes(withoutAnnouncement(text))))
    .map(({ quote }) => quote)
  return { hits: quotes.length - missed.length, total: quotes.length, missed }
}

/** Characters leave out the words that announce a correction. */
const withoutAnnouncement = (text: string): string =>
  text.replace(/^(?:Actually, |Correction: |Sorry, I was wrong\. |No, )/, '')

function judgeAnswers(
  runs: readonly Run[],
  kind: 'ask' | 'ask-unmentioned',
  isCorrect: (answer: string, run: Run, id: string) => boolean,
): Share {
  const asked = runs.flatMap((run) =>
    run.spoken
      .filter(({ line }) => line.kind === kind && (kind === 'ask-unmentioned' || wasStated(run, line.id)))
      .map((spoken) => ({ spoken, run })),
  )
  const missed = asked
    .filter(({ spoken: { line, answer }, run }) => answer === undefined || !isCorrect(answer, run, line.id))
    .map(({ spoken: { line, answer } }) => `${line.text}: ${answer ?? 'no answer'}`)
  return { hits: asked.length - missed.length, total: asked.length, missed }
}

const wasStated = ({ spoken }: Run, id: string): boolean =>
  spoken.some(({ line }) => line.kind === 'state' && line.id === id)

function addRecall(runs: readonly Run[], name: 'exact' | 'paraphrase' | 'newest' | 'empty'): Share {
  const shares = runs.flatMap(({ recall }) => (recall === undefined ? [] : [recall[name]]))
  return {
    hits: sum(shares.map(({ hits }) => hits)),
    total: sum(shares.map(({ total }) => total)),
    missed: shares.flatMap(({ missed }) => missed),
  }
}

const toOutcome = (
  name: string,
  target: string,
  minShare: number | undefined,
  { hits, total }: Share,
): Outcome => ({
  name,
  target,
  measured: total === 0 ? 'not asked' : `${percent(hits / total)} of ${total}`,
  isMet: minShare === undefined ? undefined : total > 0 && hits >= minShare * total,
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0)
