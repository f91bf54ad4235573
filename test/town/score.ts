/** The table of a town: outcomes of runs beside their targets. */
import { createHash } from 'node:crypto'
import type { Share } from './recall.ts'
import type { Run } from './run.ts'

/** A line of the table. */
export interface Outcome {
  readonly name: string
  readonly target: string
  readonly measured: string
  /** undefined where there is no target. */
  readonly isMet: boolean | undefined
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const declined = /\bI (don't|do not) (know|remember)/
const quoting = /(?:As I remember it: |What I recall: |I remember this: )/

/** Share of the minutes of needs that were critical. */
export const criticalShare = ({ tally: { needs } }: Run): number =>
  needs.minutes === 0 ? 0 : needs.critical / needs.minutes

/** Judges runs of one preset with different seeds. */
export function outcomesOf(runs: readonly Run[]): readonly Outcome[] {
  const critical = runs.map(criticalShare)
  const mean = sum(critical) / Math.max(1, critical.length)
  const worst = Math.max(0, ...critical)
  const answered = sum(runs.map(({ tally }) => tally.questions.answered))
  const missed = sum(runs.map(({ tally }) => tally.questions.missed.length))
  // What is asked in the last minutes of a run may still wait for its answer.
  const asked = answered + missed
  const illegal = sum(runs.map(({ tally }) => tally.illegal.length))
  const deadlocks = sum(runs.map(({ tally }) => tally.deadlocks.length))
  const talks = sum(runs.map(({ tally }) => tally.talks.begun))
  return [
    {
      name: 'need-minutes below 25 %, day 2 on',
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
    shared('recall@5 of told facts, their words', '≥ 95 %', 0.95, shares(runs, 'exact')),
    shared('recall@5 of told facts, other words', '≥ 80 %', 0.8, shares(runs, 'paraphrase')),
    shared('corrected facts: newest above first', '≥ 90 %', 0.9, shares(runs, 'newest')),
    shared('never told: declined in conversation', '≥ 80 %', 0.8, abstained(runs)),
    shared('answers that quote only what was said or seen', '100 %', 1, quoted(runs)),
    shared('never told: recall_memories brings up nothing', '–', undefined, shares(runs, 'empty')),
    shared('told facts: answered rightly in conversation', '–', undefined, answeredRightly(runs)),
  ]
}

/** What was asked in conversation about things never said, and declined. */
export const abstained = (runs: readonly Run[]): Share =>
  judged(runs, 'ask-never', (answer) => declined.test(answer) && !quoting.test(answer))

/** What was asked about facts that were told, and answered by the fact as it is now. */
export const answeredRightly = (runs: readonly Run[]): Share =>
  judged(runs, 'ask', (answer, run, id) =>
    answer.includes(run.script.told.find((fact) => fact.id === id)?.now ?? '\n'),
  )

/** Quotations in answers to the script's questions that consist of something that was said in this run. */
export function quoted(runs: readonly Run[]): Share {
  const quotes = runs.flatMap((run) =>
    run.done.flatMap(({ errand, answer }) => {
      const quote = errand.kind.startsWith('ask') ? quoteIn(answer) : undefined
      return quote === undefined ? [] : [{ quote, run }]
    }),
  )
  const missed = quotes
    .filter(({ quote, run }) => !run.known.some((text) => quote.includes(text)))
    .map(({ quote }) => quote)
  return { hits: quotes.length - missed.length, of: quotes.length, missed }
}

/** A hash of several runs. */
export const hashOf = (runs: readonly Run[]): string =>
  createHash('sha256')
    .update(runs.map(({ hash }) => hash).join())
    .digest('hex')

function quoteIn(answer: string | undefined): string | undefined {
  return answer?.split(quoting)[1]
}

function judged(
  runs: readonly Run[],
  kind: 'ask' | 'ask-never',
  isGood: (answer: string, run: Run, id: string) => boolean,
): Share {
  const asked = runs.flatMap((run) =>
    run.done
      .filter(({ errand }) => errand.kind === kind && (kind === 'ask-never' || wasTold(run, errand.id)))
      .map((one) => ({ one, run })),
  )
  const missed = asked
    .filter(({ one, run }) => one.answer === undefined || !isGood(one.answer, run, one.errand.id))
    .map(({ one }) => `${one.errand.text}: ${one.answer ?? 'no answer'}`)
  return { hits: asked.length - missed.length, of: asked.length, missed }
}

const wasTold = ({ done }: Run, id: string): boolean =>
  done.some(({ errand }) => errand.kind === 'tell' && errand.id === id)

function shares(runs: readonly Run[], name: 'exact' | 'paraphrase' | 'newest' | 'empty'): Share {
  const all = runs.flatMap(({ recall }) => (recall === undefined ? [] : [recall[name]]))
  return {
    hits: sum(all.map(({ hits }) => hits)),
    of: sum(all.map(({ of }) => of)),
    missed: all.flatMap(({ missed }) => missed),
  }
}

const shared = (name: string, target: string, least: number | undefined, { hits, of }: Share): Outcome => ({
  name,
  target,
  measured: of === 0 ? 'not asked' : `${percent(hits / of)} of ${of}`,
  isMet: least === undefined ? undefined : of > 0 && hits >= least * of,
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
