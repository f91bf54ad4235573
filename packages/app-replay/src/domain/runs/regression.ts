import { CausewayError } from '@causeway/protocol'
import { type RunSummary, type WorstValues, worstFields } from '@causeway/recording'
import { roundDerived } from '../sentence.ts'
import type { CommitRuns } from './commits.ts'
import { type Counts, computeFisherPValue, computeLogFactorials } from './fisher.ts'

/** Maximum corrected p-value of a reported increase: one false alarm in a thousand searches. */
export const significance = 0.001

/** Maximum ratio of a candidate's p-value to the smallest p-value. */
const maxCandidateRatio = 10

/** `isBad` returns `undefined` if the run cannot be judged. */
export interface Metric {
  readonly name: string
  isBad(run: RunSummary): boolean | undefined
}

export interface ChangePoint {
  readonly metric: string
  /** First commit with the higher share. */
  readonly commit: string
  readonly previous_commit: string
  readonly share_before: number
  readonly share_after: number
  readonly runs_before: number
  readonly runs_after: number
  readonly p_value: number
  /** p-value multiplied by the number of tests. */
  readonly corrected_p: number
  /** Other commits that may have caused the change, in order. */
  readonly candidates: readonly string[]
}

export interface Regression {
  /** The change with the smallest p-value; `null` if no change is significant. */
  readonly found: ChangePoint | null
  readonly others: readonly ChangePoint[]
  readonly tests: number
  /** Laws that were checked only in runs after the change. */
  readonly checked_only_after: readonly string[]
}

const errorMetric: Metric = {
  name: 'bad',
  isBad: ({ verdict }) => (verdict && verdict.errors > 0) || (verdict ? false : undefined),
}

const createKindMetric = (kind: string): Metric => ({
  name: kind,
  isBad: ({ verdict }) => verdict?.kinds.includes(kind),
})

/** Parses a kind of finding, `bad`, or a limit such as `worst_penetration_m > 0.01`. */
export function parseMetric(text: string, kinds: readonly string[]): Metric {
  if (text === errorMetric.name) return errorMetric
  if (kinds.includes(text)) return createKindMetric(text)
  const [, field, limit] = /^\s*(\w+)\s*>\s*(-?[\d.]+(?:e[+-]?\d+)?)\s*$/i.exec(text) ?? []
  const name = worstFields.find((worstField) => worstField === field)
  if (name !== undefined && Number.isFinite(Number(limit))) return createLimitMetric(name, Number(limit))
  const problem = `use bad, a kind of finding, or a limit such as ${worstFields[0]} > 0.01`
  throw new CausewayError('INVALID_ARGUMENTS', `not a metric: ${text.slice(0, 80)}`, {
    remedy: problem,
    data: { problems: [{ argument: 'metric', problem }], kinds, values: worstFields },
  })
}

const createLimitMetric = (field: keyof WorstValues, limit: number): Metric => ({
  name: `${field} > ${limit}`,
  isBad: ({ verdict }) => {
    const value = verdict?.[field]
    return value == null ? undefined : value > limit
  },
})

export function listMetrics(runs: readonly RunSummary[]): readonly Metric[] {
  const kinds = new Set(runs.flatMap(({ verdict }) => verdict?.kinds ?? []))
  return [errorMetric, ...[...kinds].sort().map(createKindMetric)]
}

/**
 * Finds the commit at which the ratio of bad runs increases, with Fisher's exact test for every metric and commit, and
 * Bonferroni's correction. `commits` must be chronological.
 */
export function findRegression(commits: readonly CommitRuns[], metrics: readonly Metric[]): Regression {
  const tests = Math.max(1, metrics.length * Math.max(0, commits.length - 1))
  const changes = metrics
    .flatMap((metric) => findChange(commits, metric, tests) ?? [])
    .filter(({ corrected_p }) => corrected_p <= significance)
    .sort((a, b) => a.p_value - b.p_value)
  const [found, ...others] = changes
  if (found === undefined) return { found: null, others: [], tests, checked_only_after: [] }
  const at = commits.findIndex(({ commit }) => commit === found.commit)
  return { found, others, tests, checked_only_after: compareCoverage(commits, at) }
}

function findChange(commits: readonly CommitRuns[], metric: Metric, tests: number): ChangePoint | undefined {
  const points = measureChanges(commits, metric)
  const bestPoint = points.reduce<Point | undefined>(
    (a, b) => (a === undefined || b.p < a.p ? b : a),
    undefined,
  )
  if (bestPoint === undefined) return undefined
  const { index, p, sums } = bestPoint
  const getCommit = (at: number): string => commits[at]?.commit ?? ''
  const [before, after] = [sums.badBefore + sums.goodBefore, sums.badAfter + sums.goodAfter]
  return {
    metric: metric.name,
    commit: getCommit(index),
    previous_commit: getCommit(index - 1),
    share_before: roundDerived(sums.badBefore / before),
    share_after: roundDerived(sums.badAfter / after),
    runs_before: before,
    runs_after: after,
    p_value: roundDerived(p),
    corrected_p: roundDerived(Math.min(1, p * tests)),
    candidates: points
      .filter((point) => point !== bestPoint && point.p <= p * maxCandidateRatio)
      .map((point) => getCommit(point.index)),
  }
}

interface Point {
  readonly index: number
  readonly p: number
  readonly sums: Counts
}

function measureChanges(commits: readonly CommitRuns[], metric: Metric): readonly Point[] {
  const strata = countRunsByScenario(commits, metric)
  const logs = computeLogFactorials(commits.reduce((sum, { runs }) => sum + runs.length, 0))
  const points: Point[] = []
  for (let index = 1; index < commits.length; index++) {
    const tables = [...strata.values()].map((stratum) => splitAt(stratum, index))
    const sums = tables.reduce(addCounts, { badBefore: 0, goodBefore: 0, badAfter: 0, goodAfter: 0 })
    const { badBefore, goodBefore, badAfter, goodAfter } = sums
    const isIncrease = badAfter * (badBefore + goodBefore) > badBefore * (badAfter + goodAfter)
    if (badBefore + goodBefore > 0 && isIncrease)
      points.push({ index, p: computeFisherPValue(tables, logs), sums })
  }
  return points
}

/** Cumulative numbers of bad and good runs of a scenario before each commit, shape [commits + 1]. */
interface Stratum {
  readonly bad: Float64Array
  readonly good: Float64Array
}

function countRunsByScenario(commits: readonly CommitRuns[], metric: Metric): ReadonlyMap<string, Stratum> {
  const size = commits.length + 1
  const strata = new Map<string, Stratum>()
  for (const [index, { runs }] of commits.entries())
    for (const run of runs) {
      const isBad = metric.isBad(run)
      if (isBad === undefined) continue
      const key = run.scenario ?? ''
      let stratum = strata.get(key)
      if (stratum === undefined) {
        stratum = { bad: new Float64Array(size), good: new Float64Array(size) }
        strata.set(key, stratum)
      }
      const counts = isBad ? stratum.bad : stratum.good
      counts[index + 1] = (counts[index + 1] ?? 0) + 1
    }
  for (const { bad, good } of strata.values())
    for (const counts of [bad, good])
      for (let i = 1; i < size; i++) counts[i] = (counts[i] ?? 0) + (counts[i - 1] ?? 0)
  return strata
}

function splitAt({ bad, good }: Stratum, index: number): Counts {
  const [badBefore, goodBefore] = [bad[index] ?? 0, good[index] ?? 0]
  return {
    badBefore,
    goodBefore,
    badAfter: (bad.at(-1) ?? 0) - badBefore,
    goodAfter: (good.at(-1) ?? 0) - goodBefore,
  }
}

const addCounts = (a: Counts, b: Counts): Counts => ({
  badBefore: a.badBefore + b.badBefore,
  goodBefore: a.goodBefore + b.goodBefore,
  badAfter: a.badAfter + b.badAfter,
  goodAfter: a.goodAfter + b.goodAfter,
})

function compareCoverage(commits: readonly CommitRuns[], at: number): readonly string[] {
  const listChecked = (part: readonly CommitRuns[]): ReadonlySet<string> =>
    new Set(part.flatMap(({ runs }) => runs.flatMap(({ verdict }) => verdict?.checked ?? [])))
  const before = listChecked(commits.slice(0, at))
  return [...listChecked(commits.slice(at))].filter((law) => !before.has(law)).sort()
}
