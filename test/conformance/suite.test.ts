import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { expectedBridgeFailures, expectedFailures } from './expected-failures.ts'
import { failures, runSuite } from './suite.ts'

t.setTimeout(480_000)

const { url } = await startServer(t, {
  dir: t.testdir(),
  env: {
    CAUSEWAY_USER_APPS: fileURLToPath(new URL('conformance-app.ts', import.meta.url)),
    CAUSEWAY_APPS: 'Conformance',
  },
})
const server = ['server', '--url', `${url}/mcp/conformance`]

verifies('wire:conformance', 'every scenario of the suite 0.1 passes', async (t) => {
  const verdict = await runSuite(t, 'conformance-0.1', [...server, '--suite', 'all'])
  if (verdict === undefined) return
  if (verdict.code !== 0) t.comment(verdict.output)
  t.same(failures(verdict), [])
  t.equal(verdict.scenarios.size, 32)
  t.equal(verdict.code, 0)
})

for (const [revision, expected] of Object.entries(expectedFailures)) {
  verifies('wire:conformance', `the suite 0.2 passes for the requirements of ${revision}`, async (t) => {
    const verdict = await runSuite(t, 'conformance-0.2', [...server, '--requirements', revision])
    if (verdict === undefined) return
    if (verdict.code !== 0) t.comment(verdict.output)
    t.same(failures(verdict), expected)
    t.ok(verdict.scenarios.size >= 33, `${verdict.scenarios.size} scenarios`)
    t.equal(verdict.code, 0, 'no scored scenario failed')
  })
}

const driver = fileURLToPath(new URL('bridge-driver.ts', import.meta.url))
// The suite splits the command at spaces.
const command = `${process.execPath} --conditions=@causeway/source ${driver}`

/** Client scenarios that apply to the bridge, with their protocol versions. All others concern OAuth. */
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
    t.test(`conformance: ${formatTitle(scenario)} of ${revision}`, async (t) => {
      const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision]
      const verdict = await runSuite(t, 'conformance-0.2', args)
      if (verdict === undefined) return
      const expected = scenario in expectedBridgeFailures ? [scenario] : []
      if (failures(verdict).length !== expected.length) t.comment(verdict.output)
      t.same(failures(verdict), expected)
      t.ok((verdict.scenarios.get(scenario)?.passed ?? 0) > 0, 'at least one check ran')
      t.equal(verdict.code === 0, expected.length === 0)
    })

/** Returns the test title for a scenario. A known failure that passes fails the build. */
function formatTitle(scenario: string): string {
  const reason = expectedBridgeFailures[scenario]
  return reason === undefined
    ? `a client behind the bridge passes ${scenario}`
    : `a client behind the bridge fails ${scenario} as expected (${reason})`
}
