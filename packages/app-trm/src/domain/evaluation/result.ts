import { readPythonErrors } from '../feedback/python-error.ts'
import { formatLocation, shorten } from '../format.ts'
import type { TestCase, TestRun } from '../report/test-run.ts'
import { formatLink } from './absent-path.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { Guard } from './guard.ts'
import type { Decision } from './halting.ts'
import type { StageSummary } from './judge-signal.ts'
import type { Metric } from './metric.ts'
import { roundScore } from './score.ts'
import type { ScoredSignal } from './signal.ts'
import type { Tampering } from './tamper.ts'

/** A test that failed, with a message of at most 1500 characters. */
export type Failure = TestCase & { readonly message: string }

export interface EvalResult extends Decision {
  readonly step: number
  readonly kind: 'baseline' | 'submit' | 'rerun'
  readonly score: number
  /** Moving average of the candidates' scores. It starts with the score of the first candidate. */
  readonly emaScore: number
  readonly bestScore: number
  readonly noImproveStreak: number
  /** `null` if the session has no test command or the command's output is unreadable. */
  readonly tests: Guard['tests']
  /** `null` if the session has no build command. */
  readonly okBuild: boolean | null
  readonly okDataQuality: boolean | null
  readonly okLint: boolean | null
  readonly perf: (Metric & { readonly best: number | null }) | null
  readonly signals: readonly ScoredSignal[]
  /** Most urgent first. */
  readonly feedback: readonly string[]
  readonly failures: readonly Failure[]
  /** Ids of failed tests, at most 200. Missing in results of version 0.1. */
  readonly failing?: readonly string[]
  /** Baseline tests that did not run, at most 20. */
  readonly missing: readonly string[]
  readonly missingCount: number
  readonly newlySkipped: readonly string[]
  readonly broken: readonly string[]
  readonly repaired: readonly string[]
  readonly tamper: readonly Tampering[]
  /** `null` if no second evaluation was necessary. */
  readonly guard: Guard | null
  /** Missing in results of version 0.2. */
  readonly absent?: readonly string[]
  readonly warnings: readonly string[]
  /** Isolation in effect: some of `work copy`, `process group`, `limits` and `bwrap`. */
  readonly isolation: readonly string[]
  readonly stages: readonly StageSummary[]
  readonly filesChanged: readonly string[]
  readonly landed: boolean
  readonly ms: number
}

export interface Baseline {
  readonly tests: TestRun | undefined
  readonly diagnostics: Readonly<Record<string, readonly Diagnostic[]>>
}

const maxSummaryLength = 400

export function summarizeResult(result: EvalResult): string {
  const { step, kind, score, tests, signals, guard, filesChanged } = result
  const subject = kind === 'baseline' ? 'Baseline' : `Step ${step}`
  const failedSignals = signals
    .filter(({ ok }) => !ok)
    .map(({ name, why }) => `${name}: ${shorten(why, 120)}`)
  const isUnconfirmed = guard !== null && !(guard.passes && guard.confirms)
  const status =
    signals.length === 0
      ? 'no command is configured'
      : isUnconfirmed
        ? 'the guard failed'
        : 'every signal is good'
  const parts = [
    `${subject}: score ${roundScore(score)}; ${failedSignals.length === 0 ? status : failedSignals.join('; ')}.`,
    tests === null || signals.some(({ kind, ok }) => kind === 'test' && !ok)
      ? ''
      : `${tests.passed}/${tests.total} tests pass.`,
    guard?.confirms === false ? 'Not confirmed by the guard, so not the best.' : '',
    filesChanged.length === 0 ? '' : `Changed: ${listNames(filesChanged)}.`,
    formatFailures(result),
  ]
  const nextAction = chooseNextAction(result)
  const text = parts.filter((part) => part !== '').join(' ')
  return `${shorten(text, maxSummaryLength - nextAction.length - 1)} ${nextAction}`
}

const listNames = (names: readonly string[]): string =>
  names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`

function formatFailures({ failures, tests }: EvalResult): string {
  const [first] = failures
  if (first === undefined) return ''
  const { id, file, message } = first
  const location = file === undefined ? '' : ` (${formatLocation(first)})`
  const moreCount = Math.max(0, (tests?.failed ?? 0) - 1)
  return `Fails: ${shorten(id, 100)}${location}: ${shorten(findReason(message), 100)}${moreCount > 0 ? `, and ${moreCount} more` : ''}.`
}

function findReason(message: string): string {
  const [error] = readPythonErrors(message).slice(-1)
  if (error !== undefined) return [error.type, error.message.split('\n')[0]].filter(Boolean).join(': ')
  const lines = message.split('\n').map((line) => line.replace(/^\[?Error \[ERR_TEST_FAILURE\]: /, '').trim())
  const reason = lines.findLast((line) => /^[\w.]*(?:Error|Exception)\b/.test(line)) ?? lines[0] ?? ''
  const values = lines
    .filter((line) => /^[+-]\s+\S/.test(line) && line !== '+ actual - expected')
    .map((line) => line.replace(/^([+-])\s+/, '$1').replace(/,$/, ''))
  return reason.endsWith(':') ? [reason, ...values.slice(0, 2)].join(' ') : reason
}

function chooseNextAction({
  kind,
  shouldHalt,
  rule,
  reasons,
  score,
  bestScore,
  guard,
  isolation,
  absent = [],
  missingCount,
  newlySkipped,
}: EvalResult): string {
  if (rule === 'success') {
    const sandboxHint = isolation.includes('bwrap') ? '' : '; options.sandbox confines it'
    const [suspicion] = guard?.suspicions ?? []
    const doubt = guard?.probe === 'reported' ? 'Code that recognizes its tests' : 'Forged test results'
    const suspicionText = suspicion === undefined ? '' : ` (${shorten(suspicion, 80)})`
    return `Stop: ${reasons[0]}. ${doubt}${suspicionText} cannot be excluded${sandboxHint}. Next: end.`
  }
  if (shouldHalt) return `Stop: ${reasons[0] ?? rule}. Next: end with apply best.`
  if (kind === 'baseline')
    return absent.length === 0 ? 'Next: submit a change.' : `Next: ${shorten(formatLink(absent), 200)}.`
  const [doubt] = guard?.doubts ?? []
  if (guard?.passes && doubt !== undefined)
    return `Next: remove this code, or submit again with accept: ${shorten(doubt.text, 100)}.`
  if (missingCount > 0 || newlySkipped.length > 0)
    return 'Next: undo, or run the missing and skipped tests again and submit.'
  return score < bestScore || guard?.confirms === false
    ? 'Next: undo, or correct it and submit.'
    : 'Next: correct what fails and submit.'
}

/** Returns ids. Results of version 0.1 list only failures with messages. */
export const listFailedTests = (result: EvalResult | undefined): readonly string[] =>
  result?.failing ?? result?.failures.map(({ id }) => id) ?? []

const [maxShortItems, maxShortItemLength] = [4, 500]

export function formatResult(result: EvalResult, details: boolean) {
  const { failing: _, ...allFields } = result
  const summary = summarizeResult(result)
  if (details) return { ...allFields, summary }
  const { step, score, emaScore, bestScore, tests, okBuild, okDataQuality, okLint, shouldHalt, reasons } =
    result
  const feedback = result.feedback
    .filter((item) => !/^[\w-]+ ok: |^test: \d+ of /.test(item))
    .slice(0, maxShortItems)
  return {
    step,
    score,
    emaScore,
    bestScore,
    tests,
    ...(okBuild === null ? {} : { okBuild }),
    okDataQuality,
    okLint,
    shouldHalt,
    reasons,
    feedback: feedback.map((item) => shorten(item, maxShortItemLength)),
    ...(result.warnings.length === 0 ? {} : { warnings: result.warnings.slice(0, maxShortItems) }),
    summary,
  }
}
