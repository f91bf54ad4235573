export type SignalKind = 'check' | 'test' | 'lint' | 'perf'

/** One of a session's commands, which never change. */
export interface SignalSpec {
  /** `build`, `dataQual`, `test`, `lint`, `perf`, or a name given to `start`. */
  readonly name: string
  readonly kind: SignalKind
  readonly command: string
  /** At least 0. The weights can have any sum. */
  readonly weight: number
}

export interface SignalValue {
  readonly name: string
  readonly kind: SignalKind
  readonly weight: number
  /** 0 to 1. */
  readonly value: number
  readonly ok: boolean
  /** Reason, such as `179 of 180 passed` or `timed out after 5 s`. */
  readonly why: string
}

export interface ScoredSignal extends SignalValue {
  /** weight * value / sum of weights. The contributions sum to the score. */
  readonly contribution: number
}

/** Weights of the original design (section "Evaluation Signals"). */
export const defaultWeights: Readonly<Record<string, number>> = Object.freeze({
  build: 0,
  dataQual: 0.3,
  test: 0.4,
  lint: 0.1,
  perf: 0.2,
})
