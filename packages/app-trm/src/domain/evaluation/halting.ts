import { formatCount } from '../format.ts'
import type { SessionConfig } from '../session-config.ts'
import { formatGuard, type Guard } from './guard.ts'
import { checksPass, epsilon, roundScore, type Standing } from './score.ts'
import type { SignalValue } from './signal.ts'

export interface Decision {
  readonly shouldHalt: boolean
  readonly rule: 'success' | 'plateau' | 'limit' | null
  readonly reasons: readonly string[]
}

export const noDecision: Decision = Object.freeze({
  shouldHalt: false,
  rule: null,
  reasons: ['No evaluations yet'],
})

/**
 * Checks for success, then plateau, then limit. Success requires that every test ran and passed or, without a test
 * command, that every other check passes.
 */
export function decide(
  { step, streak }: Standing,
  { score, signals }: { readonly score: number; readonly signals: readonly SignalValue[] },
  { max, threshold, patience, min }: SessionConfig['halt'],
): Decision {
  if (step < 1) return noDecision
  const createHalt = (rule: Decision['rule'], reason: string): Decision => ({
    shouldHalt: true,
    rule,
    reasons: [reason],
  })
  if (step >= min && checksPass(signals) && score >= threshold - epsilon / 1000)
    return createHalt(
      'success',
      `Success: checks pass and the score ${roundScore(score)} reaches ${roundScore(threshold)}`,
    )
  if (streak >= patience)
    return createHalt('plateau', `Plateau: no improvement for ${formatCount(streak, 'step')}`)
  if (step >= max) return createHalt('limit', `Limit: ${step} of ${formatCount(max, 'step')} are used`)
  return { shouldHalt: false, rule: null, reasons: [] }
}

export function applyGuard(decision: Decision, guard: Guard | null): Decision {
  if (guard === null || decision.rule === 'plateau' || decision.rule === 'limit') return decision
  if (guard.confirms && (guard.passes || decision.rule === null)) return decision
  return { shouldHalt: false, rule: null, reasons: [formatGuard(guard)] }
}
