/** What the test runners of JavaScript print where no report could be had: counts, and names of what failed. */
import { placed } from './location.ts'
import { cutMessage, type TestCase, type TestRun } from './test-run.ts'

/** The run that the output of jest, vitest, mocha or node --test tells of; undefined for other output. */
export function readScriptRunner(output: string): TestRun | undefined {
  return readJest(output) ?? readVitest(output) ?? readMocha(output) ?? readNode(output)
}

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly errors?: number
  readonly skipped: number
}

const run = (runner: string, { errors = 0, ...counts }: Counts, cases: readonly TestCase[]): TestRun => ({
  source: `text:${runner}`,
  cases,
  isComplete: false,
  errors,
  ...counts,
})

const number = (line: string, word: string): number =>
  Number(new RegExp(`(\\d+) ${word}\\b`).exec(line)?.[1] ?? 0)

const failing = (id: string, body: string): TestCase => ({
  id: id.trim(),
  status: 'fail',
  ...placed(cutMessage(body.trim())),
})

/** `Tests:       1 failed, 1 skipped, 2 passed, 4 total`; a suite that did not run is an error of its own. */
function readJest(output: string): TestRun | undefined {
  const tests = [...output.matchAll(/^Tests: +(?! )(.*\btotal)$/gm)].at(-1)?.[1]
  if (tests === undefined) return undefined
  const suites = output.match(/● Test suite failed to run/g)?.length ?? 0
  const parts = output.split(/^ {2}● (.+)$/m)
  const cases = pairs(parts).map(([name, body]) => failing(name, body.split(/^Test Suites:/m)[0] ?? ''))
  const counts = {
    passed: number(tests, 'passed'),
    failed: number(tests, 'failed'),
    errors: suites,
    skipped: number(tests, 'skipped') + number(tests, 'todo'),
  }
  return run('jest', counts, unique(cases))
}

/** `      Tests  1 failed | 1 passed | 1 skipped | 1 todo (4)` */
function readVitest(output: string): TestRun | undefined {
  const tests = [...output.matchAll(/^ +Tests +(?! )(?=.*(?:passed|failed|skipped|todo))(.*\(\d+\))$/gm)].at(
    -1,
  )?.[1]
  const files = /^ Test Files +(.*)$/m.exec(output)?.[1]
  if (tests === undefined || files === undefined) return undefined
  const cases = pairs(output.split(/^ FAIL +(.+)$/m)).map(([name, body]) =>
    failing(name, body.split(/^⎯{3,}/m)[0] ?? ''),
  )
  const loaded = cases.filter(({ id }) => !id.includes(' > ')).length
  const counts = {
    passed: number(tests, 'passed'),
    failed: number(tests, 'failed'),
    errors: loaded,
    skipped: number(tests, 'skipped') + number(tests, 'todo'),
  }
  return run('vitest', counts, unique(cases))
}

/** `  1 passing (4ms)`, `  1 pending`, `  1 failing`, then the failures by number. */
function readMocha(output: string): TestRun | undefined {
  const count = (word: string) => [...output.matchAll(new RegExp(`^ +(\\d+) ${word}\\b`, 'gm'))].at(-1)?.[1]
  const passed = count('passing')
  if (passed === undefined) return undefined
  const tail = output.slice(output.lastIndexOf(`${passed} passing`))
  const cases = pairs(tail.split(/^ {2}\d+\) ([\s\S]+?):\n\n/m)).map(([name, body]) =>
    failing(name.split(/\n\s*/).join(' > '), body.split(/^ {2}\d+\) /m)[0] ?? ''),
  )
  const counts = {
    passed: Number(passed),
    failed: Number(count('failing') ?? 0),
    skipped: Number(count('pending') ?? 0),
  }
  return run('mocha', counts, unique(cases))
}

/** `ℹ pass 2`, and `# pass 2` in older ones; TAP is read as TAP before. */
function readNode(output: string): TestRun | undefined {
  const count = (word: string) =>
    [...output.matchAll(new RegExp(`^(?:ℹ|#) ${word} (\\d+)$`, 'gm'))].at(-1)?.[1]
  const passed = count('pass')
  if (passed === undefined) return undefined
  const tail = output.slice(Math.max(0, output.indexOf('failing tests:')))
  const cases = pairs(tail.split(/^test at [^\n]+\n✖ (.+?) \([\d.]+ms\)$/m)).map(([name, body]) =>
    failing(name, body.split(/^test at /m)[0] ?? ''),
  )
  const counts = {
    passed: Number(passed),
    failed: Number(count('fail') ?? 0) + Number(count('cancelled') ?? 0),
    skipped: Number(count('skipped') ?? 0) + Number(count('todo') ?? 0),
  }
  return run('node', counts, unique(cases))
}

/** Name and body, of text split at names. */
function pairs(parts: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 1; i + 1 < parts.length; i += 2) found.push([parts[i] ?? '', parts[i + 1] ?? ''])
  return found
}

const unique = (cases: readonly TestCase[]): TestCase[] => [
  ...new Map(cases.map((one) => [one.id, one])).values(),
]
