/** The score of an evaluation, its moving average, and what counts as an improvement. */
import type { ScoredSignal, SignalValue } from './signal.ts'

/** Scores closer than this are the same score. */
export const epsilon = 1e-6

/** A score together with the arithmetic that gave it. */
export interface Score {
  /** 0 to 1: the sum of the contributions */
  readonly score: number
  readonly signals: readonly ScoredSignal[]
}

/**
 * The weighted mean of all configured signals (original design, section "Scoring & Halting"). A signal without a value
 * is 0 and stays in the denominator, so that a run that could not be read never scores higher than one that failed.
 * Without any weight the score is 0.
 */
export function scored(values: readonly SignalValue[]): Score {
  const weights = values.reduce((sum, { weight }) => sum + weight, 0)
  const signals = values.map((signal) => ({
    ...signal,
    contribution: weights > 0 ? (signal.weight * signal.value) / weights : 0,
  }))
  const sum = signals.reduce((before, { contribution }) => before + contribution, 0)
  // 4/7 + 1/7 + 2/7 is a little more than 1 in floating point.
  return { score: Math.min(1, sum), signals }
}

/** Where a session stands. Plain data: saved with each step, so that undo and restore give it back exactly. */
export interface Standing {
  /** candidates evaluated so far; the baseline is 0 */
  readonly step: number
  /** moving average of the scores of candidates, undefined before the first one */
  readonly ema: number | null
  readonly best_score: number
  /** the step of the best score, null before the first evaluation */
  readonly best_step: number | null
  /** evaluations in a row without an improvement */
  readonly streak: number
  /** best benchmark so far, in `perf_unit` */
  readonly best_perf: number | null
  readonly perf_unit: string | null
  /** what of the best score is not the benchmark's; null before the first evaluation */
  readonly best_rest?: number | null
  readonly notes: string
}

/** Where every session begins. */
export const freshStanding = (notes: string): Standing => ({
  step: 0,
  ema: null,
  best_score: 0,
  best_step: null,
  streak: 0,
  best_perf: null,
  perf_unit: null,
  best_rest: null,
  notes,
})

/** alpha * score + (1 - alpha) * before; the first score is its own average (original design, section "Scoring"). */
export const movingAverage = (before: number | null, score: number, alpha: number): number =>
  before === null ? score : alpha * score + (1 - alpha) * before

/** One evaluation as the standing sees it. */
export interface Outcome {
  readonly score: number
  /** a baseline is measured before the first candidate and is no step of its own */
  readonly isBaseline: boolean
  readonly alpha: number
  readonly perf: PerfOutcome | undefined
}

/** A benchmark as the standing sees it. */
export interface PerfOutcome {
  readonly value: number
  readonly unit: string
  readonly goal: 'min' | 'max'
  /** what it adds to the score */
  readonly contribution: number
  /** what it adds at most */
  readonly share: number
  /** share of a measure that is noise */
  readonly noise: number
}

/**
 * The standing after an evaluation. The first evaluation, baseline or not, always sets the best score. A score that is
 * better only by the noise of a benchmark is the best one from then on, but no improvement: the streak goes on.
 */
export function advanced(before: Standing, { score, isBaseline, alpha, perf }: Outcome): Standing {
  const step = isBaseline ? before.step : before.step + 1
  const improved = before.best_step === null || score > before.best_score + epsilon
  const rest = score - (perf?.contribution ?? 0)
  const isNoise =
    perf !== undefined &&
    before.best_step !== null &&
    rest <= (before.best_rest ?? 0) + epsilon &&
    score <= before.best_score + perf.noise * perf.share
  return {
    ...before,
    ...bestPerf(before, perf),
    step,
    ema: isBaseline ? before.ema : movingAverage(before.ema, score, alpha),
    best_score: improved ? score : before.best_score,
    best_step: improved ? step : before.best_step,
    best_rest: improved ? rest : (before.best_rest ?? null),
    streak: improved && !isNoise ? 0 : before.streak + 1,
  }
}

function bestPerf(
  { best_perf, perf_unit }: Standing,
  perf: PerfOutcome | undefined,
): Pick<Standing, 'best_perf' | 'perf_unit'> {
  if (perf === undefined || (perf_unit !== null && perf.unit !== perf_unit)) return { best_perf, perf_unit }
  const isBetter =
    best_perf === null || (perf.goal === 'min' ? perf.value < best_perf : perf.value > best_perf)
  return { best_perf: isBetter ? perf.value : best_perf, perf_unit: perf.unit }
}

/**
 * min(1, best / value), turned round where more is better (original design, section "Performance"). The first measure
 * is its own best; a measure that is not above zero is worth 0.
 */
export function perfValue(value: number, best: number | null, goal: 'min' | 'max'): number {
  if (!(value > 0) || !Number.isFinite(value)) return 0
  if (best === null) return 1
  return Math.min(1, goal === 'min' ? best / value : value / best)
}
