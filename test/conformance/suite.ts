/** Runs the official conformance suite and parses its output. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { clientRun } from '../client/program.ts'

/** Published versions of the suite. */
export type SuiteVersion = 'conformance-0.1' | 'conformance-0.2'

/** The result of a run of the suite. */
export interface Verdict {
  readonly code: number | null
  /** Numbers of passed and failed checks by scenario. */
  readonly scenarios: ReadonlyMap<string, { readonly passed: number; readonly failed: number }>
  /** The complete output. */
  readonly output: string
}

const line = /^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm
const single = /^Passed: (\d+)\/\d+, (\d+) failed/m

/** Runs the suite in a folder of the test. Skips the test and returns `undefined` if the suite is not installed. */
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

/** Returns the scenarios with a failed check, sorted. */
export const failures = ({ scenarios }: Verdict): string[] =>
  [...scenarios].flatMap(([name, { failed }]) => (failed > 0 ? [name] : [])).sort()
