/** Runs the official conformance suite and reads what it says. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { clientRun } from '../client/program.ts'

/** The published versions of the suite that are run. */
export type SuiteVersion = 'conformance-0.1' | 'conformance-0.2'

/** One run of the suite. */
export interface Verdict {
  readonly code: number | null
  /** Scenario -> how many of its checks passed and failed. */
  readonly scenarios: ReadonlyMap<string, { readonly passed: number; readonly failed: number }>
  /** All that it wrote. */
  readonly output: string
}

const line = /^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm
const single = /^Passed: (\d+)\/\d+, (\d+) failed/m

/** Runs it with these arguments in a folder of the test's own; undefined, with a skipped test, where it is not installed. */
export async function runSuite(
  t: Test,
  version: SuiteVersion,
  args: readonly string[],
): Promise<Verdict | undefined> {
  const home = t.testdir({})
  const run = clientRun(t, version, home)
  if (run === undefined) return undefined
  const { code, stdout, stderr } = await run(...args, '--output-dir', join(home, 'results'))
  const scenarios = new Map(
    [...stdout.matchAll(line)].map(([, name = '', passed, failed]) => [
      name,
      { passed: Number(passed), failed: Number(failed) },
    ]),
  )
  const [, passed, failed] = single.exec(stdout + stderr) ?? []
  const scenario = args[args.indexOf('--scenario') + 1]
  if (passed !== undefined && scenario !== undefined)
    scenarios.set(scenario, { passed: Number(passed), failed: Number(failed) })
  return { code, scenarios, output: stdout + stderr }
}

/** The scenarios with a check that failed, sorted. */
export const failures = ({ scenarios }: Verdict): string[] =>
  [...scenarios].flatMap(([name, { failed }]) => (failed > 0 ? [name] : [])).sort()
