import { readJsonReport } from './json-report.ts'
import { readJunit } from './junit.ts'
import { readPytest, readUnittest } from './python-text.ts'
import { readScriptTests } from './script-text.ts'
import { readTap } from './tap.ts'
import type { TestRun } from './test-run.ts'

export interface TestEvidence {
  readonly reports: readonly string[]
  /** Without escape sequences. */
  readonly stdout: string
  readonly stderr: string
}

/** Reads, in this order, a report, TAP, JSON or text. Returns `undefined` if these contain no test results. */
export function readTests({ reports, stdout, stderr }: TestEvidence): TestRun | undefined {
  for (const report of reports) {
    const run = readJunit(report) ?? readJsonReport(report)
    const isPytest = reports.length === 1 && report.includes('name="pytest"')
    // For a command that runs no tests, node writes an empty report.
    if (run !== undefined && (run.cases.length > 0 || isPytest)) return run
  }
  const output = `${stdout}\n${stderr}`
  return (
    readTap(stdout) ??
    readJsonReport(stdout) ??
    readUnittest(output) ??
    readPytest(output) ??
    readScriptTests(output)
  )
}
