import { locateFailure, type TestCase, type TestRun } from './test-run.ts'

/** Reads counts and names of failed tests from the output of commands without a report. */
export function readScriptTests(output: string): TestRun | undefined {
  return readJest(output) ?? readVitest(output) ?? readMocha(output) ?? readNode(output)
}

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly errors?: number
  readonly skipped: number
}

/** `parts` is text split at the names of failed tests. `end` matches the end of a failure. */
function toRun(
  runner: string,
  { errors = 0, ...counts }: Counts,
  parts: readonly string[],
  end: RegExp,
): TestRun {
  const cases = new Map<string, TestCase>()
  for (let i = 1; i + 1 < parts.length; i += 2) {
    const id = (parts[i] ?? '').trim().split(/\n\s*/).join(' > ')
    const body = (parts[i + 1] ?? '').split(end)[0] ?? ''
    cases.set(id, { id, status: 'fail', ...locateFailure(body.trim()) })
  }
  return { source: `text:${runner}`, cases: [...cases.values()], isComplete: false, errors, ...counts }
}

const findLast = (output: string, pattern: RegExp): string | undefined =>
  [...output.matchAll(pattern)].at(-1)?.[1]

const readCount = (line: string, word: string): number =>
  Number(new RegExp(`(\\d+) ${word}\\b`).exec(line)?.[1] ?? 0)

/** Reads `Tests:       1 failed, 1 skipped, 2 passed, 4 total`. A suite that did not run counts as an error. */
function readJest(output: string): TestRun | undefined {
  const summary = findLast(output, /^Tests: +(?! )(.*\btotal)$/gm)
  if (summary === undefined) return undefined
  const counts = {
    passed: readCount(summary, 'passed'),
    failed: readCount(summary, 'failed'),
    errors: output.match(/● Test suite failed to run/g)?.length ?? 0,
    skipped: readCount(summary, 'skipped') + readCount(summary, 'todo'),
  }
  return toRun('jest', counts, output.split(/^ {2}● (.+)$/m), /^Test Suites:/m)
}

/** Reads `      Tests  1 failed | 1 passed | 1 skipped | 1 todo (4)`. A failed file without a test name is an error. */
function readVitest(output: string): TestRun | undefined {
  const summary = findLast(output, /^ +Tests +(?! )(?=.*(?:passed|failed|skipped|todo))(.*\(\d+\))$/gm)
  if (summary === undefined || !/^ Test Files +/m.test(output)) return undefined
  const failed = [...output.matchAll(/^ FAIL +(.+)$/gm)].map(([, name = '']) => name.trim())
  const counts = {
    passed: readCount(summary, 'passed'),
    failed: readCount(summary, 'failed'),
    errors: new Set(failed.filter((name) => !name.includes(' > '))).size,
    skipped: readCount(summary, 'skipped') + readCount(summary, 'todo'),
  }
  return toRun('vitest', counts, output.split(/^ FAIL +(.+)$/m), /^⎯{3,}/m)
}

/** Reads `  1 passing (4ms)`, `  1 pending`, `  1 failing`, and then the numbered failures. */
function readMocha(output: string): TestRun | undefined {
  const count = (word: string) => findLast(output, new RegExp(`^ +(\\d+) ${word}\\b`, 'gm'))
  const passed = count('passing')
  if (passed === undefined) return undefined
  const counts = {
    passed: Number(passed),
    failed: Number(count('failing') ?? 0),
    skipped: Number(count('pending') ?? 0),
  }
  const tail = output.slice(output.lastIndexOf(`${passed} passing`))
  return toRun('mocha', counts, tail.split(/^ {2}\d+\) ([\s\S]+?):\n\n/m), /^ {2}\d+\) /m)
}

/** Reads `ℹ pass 2`, or `# pass 2` of older versions. */
function readNode(output: string): TestRun | undefined {
  const count = (word: string) => findLast(output, new RegExp(`^(?:ℹ|#) ${word} (\\d+)$`, 'gm'))
  const passed = count('pass')
  if (passed === undefined) return undefined
  const counts = {
    passed: Number(passed),
    failed: Number(count('fail') ?? 0) + Number(count('cancelled') ?? 0),
    skipped: Number(count('skipped') ?? 0) + Number(count('todo') ?? 0),
  }
  const tail = output.slice(Math.max(0, output.indexOf('failing tests:')))
  return toRun('node', counts, tail.split(/^test at [^\n]+\n✖ (.+?) \([\d.]+ms\)$/m), /^test at /m)
}
