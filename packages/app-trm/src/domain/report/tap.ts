import { type FinalResults, Parser } from 'tap-parser'
import { createRun, locateFailure, type TestCase, type TestRun } from './test-run.ts'

const [versionLine, planLine, testLine] = [/^TAP version 1[34]$/m, /^1\.\.\d+/m, /^(?:not )?ok \d+\b/m]

/**
 * Parses the TAP of tape, tap or node --test in an output. Returns `undefined` without TAP. A missing plan, planned
 * tests that did not run, and a bail-out count as errors, because the tests ended early.
 */
export function readTap(output: string): TestRun | undefined {
  const versionIndex = output.search(versionLine)
  if (versionIndex < 0 && !(planLine.test(output) && testLine.test(output))) return undefined
  const cases: TestCase[] = []
  const parser = new Parser({ bail: false, preserveWhitespace: false })
  collectCases(parser, [], cases)
  let problem: TestCase | undefined
  parser.on('complete', (results) => {
    problem = findEarlyEnd(results)
  })
  parser.end(output.slice(Math.max(0, versionIndex)))
  if (cases.length === 0 && !planLine.test(output) && problem?.id !== bailOut) return undefined
  return createRun('tap', problem === undefined ? cases : [...cases, problem])
}

const bailOut = 'Bail out!'

function findEarlyEnd({ bailout, plan: { start, end }, count }: FinalResults): TestCase | undefined {
  const createError = (id: string, message: string): TestCase => ({ id, status: 'error', message })
  if (bailout !== false && bailout !== undefined)
    return createError(bailOut, `Bail out! ${String(bailout)}`.trim())
  if (start === null || end === null)
    return createError('TAP plan', `no plan: the tests ended after ${count} assertions`)
  const plannedCount = end - start + 1
  return count < plannedCount
    ? createError('TAP plan', `the plan lists ${plannedCount} assertions and ${count} were reported`)
    : undefined
}

/** A test that contains assertions is a case only if it fails although its assertions pass. */
function collectCases(parser: Parser, path: readonly string[], cases: TestCase[]): void {
  let group = ''
  let lastSubtest = { name: '', count: 0, failures: 0 }
  parser.on('comment', (comment: string) => {
    const name = comment.replace(/^# */, '').trim()
    const isSummary = /^(tests|pass|fail|ok|skip|todo|duration_ms|cancelled|suites)\b|^Subtest:/.test(name)
    if (!isSummary) group = name
  })
  parser.on('child', (subtest: Parser) => {
    const previousCount = cases.length
    collectCases(subtest, [...path, subtest.name ?? ''], cases)
    subtest.on('complete', () => {
      const ownCases = cases.slice(previousCount)
      const failures = ownCases.filter(({ status }) => status === 'fail').length
      lastSubtest = { name: subtest.name ?? '', count: ownCases.length, failures }
    })
  })
  parser.on('assert', (result) => {
    const { name, count, failures } = lastSubtest
    const isParent = count > 0 && (result.name === name || name === '')
    lastSubtest = { name: '', count: 0, failures: 0 }
    if (isParent && (result.ok || failures > 0)) return
    const names = [...path, group, result.name || `assertion ${result.id}`]
    cases.push({ id: names.filter((name) => name !== '').join(' > '), ...readResult(result) })
  })
}

interface Assertion {
  readonly ok: boolean
  readonly name: string
  readonly skip?: boolean | string | undefined
  readonly todo?: boolean | string | undefined
  readonly diag?: unknown
}

function readResult({ ok, name, skip, todo, diag }: Assertion): Omit<TestCase, 'id'> {
  const isSet = (mark: boolean | string | undefined) => mark !== undefined && mark !== false
  if (isSet(skip)) return { status: 'skip' }
  if (isSet(todo)) return { status: ok ? 'pass' : 'xfail' }
  if (ok) return { status: 'pass' }
  const { error, expected, actual, stack, at, location } = (diag ?? {}) as Record<string, unknown>
  const values =
    expected === undefined && actual === undefined
      ? []
      : [`expected: ${formatValue(expected)}`, `actual: ${formatValue(actual)}`]
  const lines = [typeof error === 'string' ? error : name, ...values]
  if (typeof at === 'string') lines.push(`at: ${at}`)
  if (typeof stack === 'string') lines.push(stack)
  const failure = locateFailure(lines.join('\n'))
  // tape writes `at` and node writes `location`. Both are more exact than the first stack frame.
  const exactLocation =
    typeof location === 'string' ? `at ${location}` : typeof at === 'string' ? at : undefined
  const { message: _, ...position } = exactLocation === undefined ? failure : locateFailure(exactLocation)
  return { status: 'fail', ...failure, ...position }
}

const formatValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
