/** Signals: what the project's own commands say about a candidate, each a value from 0 to 1 under a weight. */

/** How the output of a command becomes a value. */
export type SignalKind = 'check' | 'test' | 'lint' | 'perf' | 'coverage'

/** One configured command. The set is fixed for the life of a session, so that scores can be compared. */
export interface SignalSpec {
  /** `build`, `dataQual`, `test`, `lint`, `perf`, or a name given at the start */
  readonly name: string
  readonly kind: SignalKind
  readonly command: string
  /** >= 0; weights need not sum to 1 */
  readonly weight: number
}

/** What a signal said in one evaluation. */
export interface SignalValue {
  readonly name: string
  readonly kind: SignalKind
  readonly weight: number
  /** 0 to 1 */
  readonly value: number
  /** True where nothing is wrong with it, which is what success asks of binary signals. */
  readonly ok: boolean
  /** In words: `179 of 180 passed`, `exit 1`, `timed out after 5 s`. */
  readonly why: string
}

/** A signal with its share of the score. */
export interface ScoredSignal extends SignalValue {
  /** weight * value / sum of weights; the contributions of an evaluation sum to its score */
  readonly contribution: number
}

/** Weights of the original design (section "Evaluation Signals"); a build counts only when it is given one. */
export const defaultWeights: Readonly<Record<string, number>> = Object.freeze({
  build: 0,
  dataQual: 0.3,
  test: 0.4,
  lint: 0.1,
  perf: 0.2,
})

/** Names that further signals cannot have. */
export const reservedNames: readonly string[] = [...Object.keys(defaultWeights), 'coverage']
