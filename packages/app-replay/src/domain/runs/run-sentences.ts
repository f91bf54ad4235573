import type { RunSummary } from '@causeway/recording'
import { formatCount, formatNumber } from '../sentence.ts'
import type { CommitRow } from './commits.ts'
import { type ChangePoint, type Regression, significance } from './regression.ts'
import type { SimilarRun } from './similarity.ts'

interface RunCounts {
  readonly total: number
  readonly bad: number
  /** Number of diagnosed runs whose checks did not find errors. */
  readonly without_error: number
  readonly not_diagnosed: number
}

export function countRuns(runs: readonly RunSummary[], waiting: number): RunCounts {
  const verdicts = runs.flatMap(({ verdict }) => verdict ?? [])
  const bad = verdicts.filter(({ errors }) => errors > 0).length
  return {
    total: runs.length + waiting,
    bad,
    without_error: verdicts.length - bad,
    not_diagnosed: runs.length - verdicts.length + waiting,
  }
}

const describeNotDiagnosed = ({ total, not_diagnosed }: RunCounts): string =>
  not_diagnosed === 0 ? '' : ` Not diagnosed: ${not_diagnosed} of ${formatCount(total, 'run')}.`

export const summarizeRuns = (counts: RunCounts): string =>
  `${formatCount(counts.total, 'run')}: ${counts.bad} with errors, ${counts.without_error} without an error in what was checked.${describeNotDiagnosed(counts)}`

export function summarizeCommits(rows: readonly CommitRow[], counts: RunCounts): string {
  const worst = rows.reduce<CommitRow | undefined>(
    (a, b) => (b.bad > 0 && (a === undefined || (b.bad_share ?? 0) > (a.bad_share ?? 0)) ? b : a),
    undefined,
  )
  const worstText =
    worst === undefined ? '' : ` The largest share has ${worst.commit}: ${worst.bad} of ${worst.runs}.`
  return `${formatCount(rows.length, 'commit')}. ${summarizeRuns(counts)}${worstText}`
}

export function summarizeRegression(
  { found, tests, checked_only_after }: Regression,
  commits: number,
  counts: RunCounts,
): string {
  const diagnosed = counts.bad + counts.without_error
  if (found === null && commits < 2)
    return `There are no two commits to compare.${describeNotDiagnosed(counts)}`
  if (found === null)
    return `No significant rise in ${formatCount(diagnosed, 'diagnosed run')} of ${formatCount(commits, 'commit')} (${formatCount(tests, 'test')}, p <= ${significance}).${describeNotDiagnosed(counts)}`
  const before = describeShare(found.share_before, found.runs_before)
  const after = describeShare(found.share_after, found.runs_after)
  const coverageText =
    checked_only_after.length === 0
      ? ''
      : ` Laws checked only since then, which may explain it: ${checked_only_after.join(', ')}.`
  const metricText = found.metric === 'bad' ? 'runs with errors are' : `${found.metric} is`
  return `Since ${found.commit}, ${metricText} more frequent: ${before} before, ${after} after (corrected p ${formatNumber(found.corrected_p)}).${describeCandidates(found)}${coverageText}${describeNotDiagnosed(counts)}`
}

const describeShare = (share: number, runs: number): string =>
  `${Math.round(share * runs)} of ${formatCount(runs, 'run')}`

const describeCandidates = ({ candidates }: ChangePoint): string =>
  candidates.length === 0 ? '' : ` It may also have begun at ${candidates.slice(0, 3).join(', ')}.`

export function summarizeSimilar(
  target: RunSummary,
  [first]: readonly SimilarRun[],
  compared: number,
): string {
  if (first === undefined) return `No other diagnosed run with errors to compare ${target.recording} with.`
  const kindText = first.shared_kinds.length === 0 ? '' : `, with ${first.shared_kinds.join(' and ')} in both`
  return `Of ${formatCount(compared, 'run')} with errors, ${first.run.recording} is the most similar to ${target.recording}: similarity ${formatNumber(first.similarity)}${kindText}.`
}
