import { createRun, locateFailure, type TestCase, type TestRun, type TestStatus } from './test-run.ts'

/** Matches `=== 3 failed, 3 passed, 1 error in 0.03s ===`. The option -q omits the `=`. */
const pytestSummary =
  /^(?:=+ )?((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$/gm

/** Parses pytest's last summary line and the failures. */
export function readPytest(output: string): TestRun | undefined {
  const summary = [...output.matchAll(pytestSummary)].at(-1)?.[1]
  if (summary === undefined) return undefined
  const count = (name: string): number => Number(new RegExp(`(\\d+) ${name}`).exec(summary)?.[1] ?? 0)
  return {
    source: 'text:pytest',
    cases: readPytestFailures(output),
    isComplete: false,
    passed: count('passed'),
    failed: count('failed'),
    errors: count('error'),
    skipped: count('skipped') + count('xfailed') + count('xpassed'),
  }
}

/** Reads each failure in the short summary with its section above. */
function readPytestFailures(output: string): TestCase[] {
  const summaryStart = output.lastIndexOf('short test summary info')
  if (summaryStart < 0) return []
  const sectionParts = output.slice(0, summaryStart).split(/^_{3,} (.+?) _{3,}$/m)
  const sections = new Map<string, string>()
  for (let i = 1; i + 1 < sectionParts.length; i += 2) {
    const name = (sectionParts[i] ?? '').replace(/^ERROR (?:at \w+ of|collecting) /, '')
    sections.set(name, (sectionParts[i + 1] ?? '').split(/^={3,}/m)[0]?.trim() ?? '')
  }
  return [...output.slice(summaryStart).matchAll(/^(FAILED|ERROR) (\S+?)(?: - (.*))?$/gm)].map(
    ([, kind, id = '', message = '']): TestCase => {
      // The section of `tests/test_sums.py::TestMean::test_wrong` is `TestMean.test_wrong`.
      const [file = '', ...names] = id.split('::')
      const section = sections.get(names.length === 0 ? file : names.join('.'))
      return { id, status: kind === 'FAILED' ? 'fail' : 'error', ...locateFailure(section ?? message) }
    },
  )
}

const unittestTotal = /^Ran (\d+) tests? in [\d.]+s$/m

/** Parses unittest's `Ran N tests`, counts, failures and, with -v, each test. */
export function readUnittest(output: string): TestRun | undefined {
  const total = Number(unittestTotal.exec(output)?.[1] ?? Number.NaN)
  const verdict = /^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$/m.exec(output.slice(output.search(unittestTotal)))
  if (Number.isNaN(total) || verdict === null) return undefined
  const failures = readUnittestFailures(output)
  const verboseCases = readVerboseLines(output, failures)
  if (verboseCases.length > 0) return createRun('text:unittest', verboseCases)
  const count = (name: string): number =>
    Number(new RegExp(`(?:^|, )${name}=(\\d+)`).exec(verdict[2] ?? '')?.[1] ?? 0)
  // Each failed subtest is listed, but its test ran only once.
  const countUnique = (testStatus: TestStatus) =>
    new Set(failures.filter(({ status }) => status === testStatus).map(({ id }) => removeSubtest(id))).size
  const failed = Math.max(countUnique('fail'), Math.min(1, count('failures') + count('unexpected successes')))
  const errors = Math.max(countUnique('error'), Math.min(1, count('errors')))
  const skipped = count('skipped') + count('expected failures')
  return {
    source: 'text:unittest',
    cases: failures,
    isComplete: false,
    passed: Math.max(0, total - failed - errors - skipped),
    failed,
    errors,
    skipped,
  }
}

const removeSubtest = (id: string): string => id.replace(/ [([].*$/, '')

/** Reads the blocks after `=====`: `FAIL: test_wrong (module.Class.test_wrong)` and text up to the next separator. */
function readUnittestFailures(output: string): TestCase[] {
  const blockPattern =
    /^={70}\n(?<kind>FAIL|ERROR): (?<name>[^\n]+)\n(?:[^\n-][^\n]*\n)?-{70}\n(?<body>[\s\S]*?)(?=^={70}$|^-{70}$)/gm
  const failures = [...output.matchAll(blockPattern)].map(
    ({ groups }): TestCase => ({
      id: toUnittestId(groups?.name ?? ''),
      status: groups?.kind === 'ERROR' ? 'error' : 'fail',
      ...locateFailure((groups?.body ?? '').trim()),
    }),
  )
  const unexpectedSuccesses = [...output.matchAll(/^UNEXPECTED SUCCESS: (.+)$/gm)].map(
    ([, name = '']): TestCase => ({ id: toUnittestId(name), status: 'fail', message: 'unexpected success' }),
  )
  return [...failures, ...unexpectedSuccesses]
}

const verdicts: readonly (readonly [RegExp, TestStatus])[] = [
  [/^ok$/, 'pass'],
  [/^FAIL$/, 'fail'],
  [/^ERROR$/, 'error'],
  [/^skipped\b/, 'skip'],
  [/^expected failure$/, 'xfail'],
  [/^unexpected success$/, 'fail'],
]

/** Reads the lines of -v. A test may print between its name and its result, and a docstring may follow the name. */
function readVerboseLines(output: string, failures: readonly TestCase[]): TestCase[] {
  const line = /^(?<name>\w+ \([\w.<>]+\))(?:\n[^\n]*?)??(?: \.\.\. )(?<rest>[^\n]*)$/gm
  return [...output.matchAll(line)].map(({ groups }) => {
    const id = toUnittestId(groups?.name ?? '')
    const foundFailure = failures.find((failure) => failure.id === id || removeSubtest(failure.id) === id)
    if (foundFailure !== undefined) return { ...foundFailure, id }
    const resultText = groups?.rest ?? ''
    return { id, status: verdicts.find(([pattern]) => pattern.test(resultText))?.[1] ?? 'pass' }
  })
}

/**
 * Converts `test_a (module.Class.test_a)` and, before Python 3.11, `test_a (module.Class)` to `module.Class.test_a`.
 */
function toUnittestId(name: string): string {
  const [, method = name, owner = '', suffix = ''] = /^(\w+) \(([^)]*)\)(.*)$/.exec(name) ?? []
  if (owner === '') return name
  return `${owner.endsWith(`.${method}`) ? owner : `${owner}.${method}`}${suffix}`
}
