import { fileURLToPath } from 'node:url'
import t from 'tap'
import { expectedBridgeFailures } from './expected-failures.ts'
import { failures, runSuite } from './suite.ts'

t.setTimeout(240_000)

const driver = fileURLToPath(new URL('bridge-driver.ts', import.meta.url))
// The suite divides the command at spaces.
const command = `${process.execPath} --conditions=@causeway/source ${driver}`

/** Scenarios for clients that a bridge can be led through, and the revisions that have them; the others concern OAuth. */
const scenarios: Readonly<Record<string, readonly string[]>> = {
  initialize: ['2025-11-25'],
  tools_call: ['2025-11-25', '2026-07-28'],
  'elicitation-sep1034-client-defaults': ['2025-11-25'],
  'sse-retry': ['2025-11-25'],
  'request-metadata': ['2026-07-28'],
  'sep-2322-client-request-state': ['2026-07-28'],
  'http-standard-headers': ['2026-07-28'],
  'http-custom-headers': ['2026-07-28'],
  'http-invalid-tool-headers': ['2026-07-28'],
  'json-schema-ref-no-deref': ['2026-07-28'],
  'json-schema-2020-12-preservation': ['2025-11-25', '2026-07-28'],
}

for (const [scenario, revisions] of Object.entries(scenarios))
  for (const revision of revisions)
    t.test(`conformance: ${claim(scenario)} of ${revision}`, async (t) => {
      const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision]
      const verdict = await runSuite(t, 'conformance-0.2', args)
      if (verdict === undefined) return
      const expected = scenario in expectedBridgeFailures ? [scenario] : []
      if (failures(verdict).length !== expected.length) t.comment(verdict.output)
      t.same(failures(verdict), expected)
      t.ok((verdict.scenarios.get(scenario)?.passed ?? 0) > 0, 'something was checked')
      t.equal(verdict.code === 0, expected.length === 0)
    })

/** What a test of a scenario claims; a known failure that passes fails the build. */
function claim(scenario: string): string {
  const reason = expectedBridgeFailures[scenario]
  return reason === undefined
    ? `a client behind the bridge passes ${scenario}`
    : `a client behind the bridge is known to fail ${scenario}, for ${reason},`
}
