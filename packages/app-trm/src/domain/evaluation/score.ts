import type { ScoredSignal, SignalValue } from './signal.ts'

/** Scores whose difference is smaller count as equal. */
export const epsilon = 1e-6

export const roundScore = (score: number): number => Math.round(score * 1e4) / 1e4

export interface Score {
  /** 0 to 1. */
  readonly score: number
  readonly signals: readonly ScoredSignal[]
}

/**
 * Computes the weighted mean of all configured signals (original design, section "Scoring & Halting"). The score is 0
 * if the weights sum to 0.
 */
export function computeScore(values: readonly SignalValue[]): Score {
  const weights = values.reduce((sum, { weight }) => sum + weight, 0)
  const signals = values.map((signal) => ({
    ...signal,
    contribution: weights > 0 ? (signal.weight * signal.value) / weights : 0,
  }))
  const sum = signals.reduce((before, { contribution }) => before + contribution, 0)
  // 4/7 + 1/7 + 2/7 slightly exceeds 1 in floating point.
  return { score: Math.min(1, sum), signals }
}

export function checksPass(signals: readonly SignalValue[]): boolean {
  const tests = signals.filter(({ kind }) => kind === 'test')
  const checks = tests.length > 0 ? tests : signals.filter(({ kind }) => kind !== 'perf')
  return checks.length > 0 && checks.every(({ ok }) => ok)
}

export interface Standing {
  /** Number of evaluated candidates, 0 for the baseline. */
  readonly step: number
  /** Moving average of the candidates' scores, or `null` before the first candidate. */
  readonly ema: number | null
  readonly best_score: number
  /** Step of the best score, or `null` before the first evaluation. */
  readonly best_step: number | null
  /** Consecutive evaluations without improvement. */
  readonly streak: number
  /** Best benchmark result, in `perf_unit`. */
  readonly best_perf: number | null
  readonly perf_unit: string | null
  /** The best score without the benchmark's contribution, or `null` before the first evaluation. */
  readonly best_rest?: number | null
  readonly notes: string
  /** Paths for which the caller accepted warnings of suspicious code. */
  readonly accepted?: readonly string[]
}

export const createStanding = (notes: string): Standing => ({
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

/** The first score is its own average (original design, section "Scoring"). */
export const computeAverage = (before: number | null, score: number, alpha: number): number =>
  before === null ? score : alpha * score + (1 - alpha) * before

export const readAverage = ({ ema, best_score }: Standing): number => ema ?? best_score

interface Outcome {
  readonly score: number
  /** Whether the step passed its guard. A step that did not pass is never the best. */
  readonly isTrusted: boolean
  /** A baseline is measured before the first candidate and is not a step. */
  readonly isBaseline: boolean
  readonly alpha: number
  readonly perf: PerfOutcome | undefined
}

export interface PerfOutcome {
  readonly value: number
  readonly unit: string
  readonly goal: 'min' | 'max'
  readonly contribution: number
  readonly weightShare: number
  readonly noise: number
}

/**
 * An improvement within the noise of a benchmark becomes the best score, but the streak without improvement
 * continues.
 */
export function advanceStanding(
  before: Standing,
  { score, isTrusted, isBaseline, alpha, perf }: Outcome,
): Standing {
  const step = isBaseline ? before.step : before.step + 1
  const isBetter = isTrusted && (before.best_step === null || score > before.best_score + epsilon)
  const scoreWithoutPerf = score - (perf?.contribution ?? 0)
  const isNoise =
    perf !== undefined &&
    before.best_step !== null &&
    scoreWithoutPerf <= (before.best_rest ?? 0) + epsilon &&
    score <= before.best_score + perf.noise * perf.weightShare
  return {
    ...before,
    ...findBestPerf(before, isTrusted ? perf : undefined),
    step,
    ema: isBaseline ? before.ema : computeAverage(before.ema, score, alpha),
    best_score: isBetter ? score : before.best_score,
    best_step: isBetter ? step : before.best_step,
    best_rest: isBetter ? scoreWithoutPerf : (before.best_rest ?? null),
    streak: isBetter && !isNoise ? 0 : before.streak + 1,
  }
}

function findBestPerf(
  { best_perf, perf_unit }: Standing,
  perf: PerfOutcome | undefined,
): Pick<Standing, 'best_perf' | 'perf_unit'> {
  if (perf === undefined || (perf_unit !== null && perf.unit !== perf_unit)) return { best_perf, perf_unit }
  const isBetter =
    best_perf === null || (perf.goal === 'min' ? perf.value < best_perf : perf.value > best_perf)
  return { best_perf: isBetter ? perf.value : best_perf, perf_unit: perf.unit }
}

/**
 * Returns min(1, best / value), inverted for the goal `max` (original design, section "Performance"). The first
 * measurement gives 1, and a measurement of 0 or less gives 0.
 */
export function computePerfValue(value: number, best: number | null, goal: 'min' | 'max'): number {
  if (!(value > 0) || !Number.isFinite(value)) return 0
  if (best === null) return 1
  return Math.min(1, goal === 'min' ? best / value : value / best)
}
