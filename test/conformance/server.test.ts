import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { expectedFailures } from './expected-failures.ts'
import { failures, runSuite } from './suite.ts'

t.setTimeout(240_000)

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
  verifies('wire:conformance', `what ${revision} requires passes, in the suite 0.2`, async (t) => {
    const verdict = await runSuite(t, 'conformance-0.2', [...server, '--requirements', revision])
    if (verdict === undefined) return
    if (verdict.code !== 0) t.comment(verdict.output)
    t.same(failures(verdict), expected)
    t.ok(verdict.scenarios.size >= 33, `${verdict.scenarios.size} scenarios`)
    t.equal(verdict.code, 0, 'nothing that is scored failed')
  })
}
