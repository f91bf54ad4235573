/** The one way from what a test command left behind to a run. */
import { readJsonReport } from './json-report.ts'
import { readJunit } from './junit.ts'
import { readPytest } from './pytest-text.ts'
import { readScriptRunner } from './script-text.ts'
import { readTap } from './tap.ts'
import type { TestCase, TestRun } from './test-run.ts'
import { readUnittest } from './unittest-text.ts'

/** What a test command left behind. */
export interface TestEvidence {
  /** reports that were asked for and written, as text */
  readonly reports: readonly string[]
  /** without escapes */
  readonly stdout: string
  readonly stderr: string
}

/** A report before TAP before text; undefined where nothing tells of tests. */
export function readTests({ reports, stdout, stderr }: TestEvidence): TestRun | undefined {
  for (const report of reports) {
    const run = readJunit(report) ?? readJsonReport(report)
    // Node writes an empty report where no test of its own was run.
    if (run !== undefined && (run.cases.length > 0 || (reports.length === 1 && isPytest(report)))) return run
  }
  const both = `${stdout}\n${stderr}`
  return (
    readTap(stdout) ??
    readJsonReport(stdout) ??
    readUnittest(both) ??
    readPytest(both) ??
    readScriptRunner(both)
  )
}

const isPytest = (report: string): boolean => report.includes('name="pytest"')

/** The same run with every mention of a folder taken out of places, names and messages. */
export function relocated(run: TestRun, strip: (text: string) => string): TestRun {
  const cases = run.cases.map(
    (one): TestCase => ({
      ...one,
      id: strip(one.id),
      ...(one.message === undefined ? {} : { message: strip(one.message) }),
      ...(one.file === undefined ? {} : { file: strip(one.file) }),
    }),
  )
  return { ...run, cases }
}
