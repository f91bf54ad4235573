/** What Python's unittest prints: `Ran N tests`, counts, a block for each failure; with -v a line for each test. */
import { placed } from './location.ts'
import { cutMessage, runOf, type TestCase, type TestRun, type TestStatus } from './test-run.ts'

const ran = /^Ran (\d+) tests? in [\d.]+s$/m
const verdicts: readonly (readonly [RegExp, TestStatus])[] = [
  [/^ok$/, 'pass'],
  [/^FAIL$/, 'fail'],
  [/^ERROR$/, 'error'],
  [/^skipped\b/, 'skip'],
  [/^expected failure$/, 'xfail'],
  [/^unexpected success$/, 'fail'],
]

/** The run that the output of unittest tells of; undefined for other output. */
export function readUnittest(output: string): TestRun | undefined {
  const total = Number(ran.exec(output)?.[1] ?? Number.NaN)
  const tail = output.slice(output.search(ran))
  const verdict = /^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$/m.exec(tail)
  if (Number.isNaN(total) || verdict === null) return undefined
  const failures = blocks(output)
  const verbose = lines(output, failures)
  if (verbose.length > 0) return { ...runOf('text:unittest', verbose) }
  const count = (name: string): number =>
    Number(new RegExp(`(?:^|, )${name}=(\\d+)`).exec(verdict[2] ?? '')?.[1] ?? 0)
  // A subtest that failed is a failure of its own, but its test ran once.
  const failedTests = new Set(failures.filter(({ status }) => status === 'fail').map(({ id }) => plain(id)))
  const erringTests = new Set(failures.filter(({ status }) => status === 'error').map(({ id }) => plain(id)))
  const skipped = count('skipped') + count('expected failures')
  const failed = Math.max(failedTests.size, Math.min(1, count('failures') + count('unexpected successes')))
  const errors = Math.max(erringTests.size, Math.min(1, count('errors')))
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

const plain = (id: string): string => id.replace(/ [([].*$/, '')

/** The blocks below `=====`: `FAIL: test_wrong (module.Class.test_wrong)` and what follows to the next rule. */
function blocks(output: string): TestCase[] {
  const block =
    /^={70}\n(?<kind>FAIL|ERROR): (?<name>[^\n]+)\n(?:[^\n-][^\n]*\n)?-{70}\n(?<body>[\s\S]*?)(?=^={70}$|^-{70}$)/gm
  const found = [...output.matchAll(block)].map(
    ({ groups }): TestCase => ({
      id: identity(groups?.name ?? ''),
      status: groups?.kind === 'ERROR' ? 'error' : 'fail',
      ...placed(cutMessage((groups?.body ?? '').trim())),
    }),
  )
  const surprises = [...output.matchAll(/^UNEXPECTED SUCCESS: (.+)$/gm)].map(
    ([, name = '']): TestCase => ({
      id: identity(name),
      status: 'fail',
      message: 'unexpected success',
    }),
  )
  return [...found, ...surprises]
}

/** Lines of -v. Output of the test itself may stand between the name and the verdict, and a docstring below the name. */
function lines(output: string, failures: readonly TestCase[]): TestCase[] {
  const line = /^(?<name>\w+ \([\w.<>]+\))(?:\n[^\n]*?)??(?: \.\.\. )(?<rest>[^\n]*)$/gm
  return [...output.matchAll(line)].map(({ groups }) => {
    const id = identity(groups?.name ?? '')
    const failure = failures.find((one) => one.id === id || plain(one.id) === id)
    const rest = groups?.rest ?? ''
    const told = verdicts.find(([pattern]) => pattern.test(rest))?.[1]
    if (failure !== undefined) return { ...failure, id }
    return { id, status: told ?? 'pass' }
  })
}

/** `test_a (module.Class.test_a)` and, before Python 3.11, `test_a (module.Class)` -> `module.Class.test_a`. */
function identity(written: string): string {
  const [, name = written, owner = '', more = ''] = /^(\w+) \(([^)]*)\)(.*)$/.exec(written) ?? []
  if (owner === '') return written
  const full = owner.endsWith(`.${name}`) ? owner : `${owner}.${name}`
  return `${full}${more}`
}
