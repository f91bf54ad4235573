/** When to stop: the first rule that matches, in this order, with one reason. */
import { counted } from './counted.ts'
import { epsilon, type Standing } from './score.ts'
import type { SignalValue } from './signal.ts'

/** The policy of a session. */
export interface HaltPolicy {
  /** steps after which it stops */
  readonly max: number
  /** score from which a step is a success */
  readonly threshold: number
  /** steps without improvement after which it stops */
  readonly patience: number
  /** steps before which nothing is a success */
  readonly min: number
}

/** The policy where the caller says nothing (original design, section "Halting"). */
export const defaultPolicy: HaltPolicy = Object.freeze({ max: 12, threshold: 0.95, patience: 3, min: 1 })

/** Why a session should stop. */
export type HaltRule = 'success' | 'plateau' | 'limit'

/** What was decided after an evaluation. */
export interface Decision {
  readonly shouldHalt: boolean
  readonly rule: HaltRule | null
  readonly reasons: readonly string[]
}

/** The decision before any candidate was evaluated. */
export const undecided: Decision = Object.freeze({
  shouldHalt: false,
  rule: null,
  reasons: ['No evaluations yet'],
})

/**
 * Success before plateau before limit. A success needs every test to have run and passed; without a test command it
 * needs every other check to pass, so that a project without tests can be finished too.
 */
export function decide(
  { step, streak }: Standing,
  { score, signals }: { readonly score: number; readonly signals: readonly SignalValue[] },
  { max, threshold, patience, min }: HaltPolicy,
): Decision {
  if (step < 1) return undecided
  const halt = (rule: HaltRule, reason: string): Decision => ({ shouldHalt: true, rule, reasons: [reason] })
  if (step >= min && passes(signals) && score >= threshold - epsilon / 1000)
    return halt('success', `Success: checks pass and the score ${shown(score)} reaches ${shown(threshold)}`)
  if (streak >= patience) return halt('plateau', `Plateau: no improvement for ${counted(streak, 'step')}`)
  if (step >= max) return halt('limit', `Limit: ${step} of ${counted(max, 'step')} are used`)
  return { shouldHalt: false, rule: null, reasons: [] }
}

/** True where the tests pass; where there are none, where every check and lint passes, if there is any. */
export function passes(signals: readonly SignalValue[]): boolean {
  const tests = signals.filter(({ kind }) => kind === 'test')
  const judges =
    tests.length > 0 ? tests : signals.filter(({ kind }) => kind !== 'perf' && kind !== 'coverage')
  return judges.length > 0 && judges.every(({ ok }) => ok)
}

const shown = (score: number): string => String(Math.round(score * 1e4) / 1e4)
