import { type RunSummary, type RunVerdict, worstFields } from '@causeway/recording'
import { roundDerived } from '../sentence.ts'

export interface SimilarRun {
  readonly run: RunSummary
  /** 0 to 1 */
  readonly similarity: number
  readonly shared_kinds: readonly string[]
}

/** Weights, which sum to 1. */
const weights = { kinds: 0.5, first: 0.2, onset: 0.1, worst: 0.2 }

/** Compares kinds (Jaccard), the first kind and its relative time, and ratios of worst values. */
export function measureSimilarity(a: RunSummary, b: RunSummary): number {
  if (a.verdict === null || b.verdict === null) return 0
  const parts = {
    kinds: measureOverlap(a.verdict.kinds, b.verdict.kinds),
    first: a.verdict.first_bad_kind === b.verdict.first_bad_kind ? 1 : 0,
    onset: compareOnsets(a, b),
    worst: compareWorstValues(a.verdict, b.verdict),
  }
  return (
    weights.kinds * parts.kinds +
    weights.first * parts.first +
    weights.onset * parts.onset +
    weights.worst * parts.worst
  )
}

export function rankSimilarRuns(target: RunSummary, runs: readonly RunSummary[]): readonly SimilarRun[] {
  const kinds = new Set(target.verdict?.kinds)
  return runs
    .filter((run) => run.recording !== target.recording && (run.verdict?.errors ?? 0) > 0)
    .map((run) => ({
      run,
      similarity: roundDerived(measureSimilarity(target, run)),
      shared_kinds: run.verdict?.kinds.filter((kind) => kinds.has(kind)) ?? [],
    }))
    .sort((a, b) => b.similarity - a.similarity || b.run.sealed_ms - a.run.sealed_ms)
}

function measureOverlap(a: readonly string[], b: readonly string[]): number {
  const union = new Set([...a, ...b])
  if (union.size === 0) return 1
  return a.filter((kind) => b.includes(kind)).length / union.size
}

function compareOnsets(a: RunSummary, b: RunSummary): number {
  const [x, y] = [a, b].map(({ verdict, frames }) =>
    verdict?.first_bad_frame == null || frames === 0 ? null : verdict.first_bad_frame / frames,
  )
  if (x == null || y == null) return x == null && y == null ? 1 : 0
  return 1 - Math.min(1, Math.abs(x - y))
}

/** Returns 1 for equal values, 0 for a factor above 1,000. Ignores values that either run lacks. */
function compareWorstValues(a: RunVerdict, b: RunVerdict): number {
  const similarities = worstFields.flatMap((field) => {
    const [x, y] = [a[field], b[field]]
    if (x === null || y === null) return []
    const [low, high] = [Math.min(Math.abs(x), Math.abs(y)), Math.max(Math.abs(x), Math.abs(y))]
    if (high === low) return [1]
    return [1 - Math.min(1, Math.log10(high / Math.max(low, high * 1e-3)) / 3)]
  })
  return similarities.length === 0
    ? 0
    : similarities.reduce((sum, similarity) => sum + similarity, 0) / similarities.length
}
