import { median, type RunSummary, type WorstValues, worstFields } from '@causeway/recording'
import { roundDerived } from '../sentence.ts'
import { computeWilsonInterval } from './fisher.ts'

/** Runs of a commit, sorted by `sealed_ms`. */
export interface CommitRuns {
  readonly commit: string
  readonly first_ms: number
  readonly runs: readonly RunSummary[]
}

/** Sorts commits by first run. Omits runs without a commit. */
export function groupByCommit(runs: readonly RunSummary[]): readonly CommitRuns[] {
  const groups = new Map<string, RunSummary[]>()
  for (const run of runs.toSorted((a, b) => a.sealed_ms - b.sealed_ms)) {
    if (run.commit === null) continue
    const group = groups.get(run.commit)
    if (group === undefined) groups.set(run.commit, [run])
    else group.push(run)
  }
  return [...groups].map(([commit, runs]) => ({ commit, first_ms: runs[0]?.sealed_ms ?? 0, runs }))
}

/** Ratios and medians of a commit's diagnosed runs. */
export interface CommitRow extends WorstValues {
  readonly commit: string
  readonly first_ms: number
  readonly runs: number
  readonly not_diagnosed: number
  readonly bad: number
  readonly bad_share: number | null
  /** 95 % confidence interval of `bad_share`. */
  readonly bad_share_range: readonly [number, number] | null
  readonly kinds: Readonly<Record<string, number>>
}

export function compareCommits(groups: readonly CommitRuns[]): readonly CommitRow[] {
  return groups.map(({ commit, first_ms, runs }) => {
    const verdicts = runs.flatMap(({ verdict }) => verdict ?? [])
    const bad = verdicts.filter(({ errors }) => errors > 0).length
    const isKnown = verdicts.length > 0
    return {
      commit,
      first_ms,
      runs: runs.length,
      not_diagnosed: runs.length - verdicts.length,
      bad,
      bad_share: isKnown ? roundDerived(bad / verdicts.length) : null,
      bad_share_range: isKnown ? computeWilsonInterval(bad, verdicts.length) : null,
      kinds: countKinds(verdicts),
      ...mapWorst((field) =>
        median(verdicts.map((verdict) => verdict[field]).filter((value) => value !== null)),
      ),
    }
  })
}

export function countKinds(
  verdicts: readonly { readonly kinds: readonly string[] }[],
): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kinds } of verdicts) for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

const mapWorst = (read: (field: keyof WorstValues) => number | null): WorstValues =>
  Object.fromEntries(worstFields.map((field) => [field, read(field)])) as unknown as WorstValues
