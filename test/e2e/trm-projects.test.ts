/** Sessions on small projects that take their time: run by continuous integration. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { verifies } from '../verifies.ts'
import { startServer } from './server-process.ts'
import { finished, refine } from './trm-conversation.ts'

t.setTimeout(300_000)

const projects = fileURLToPath(new URL('../../fixtures/projects', import.meta.url))
const folder = t.testdir({ data: {}, root: {} })
const root = join(folder, 'root')
const { url, server } = await startServer(t, {
  dir: join(folder, 'data'),
  env: { CAUSEWAY_TRM_ROOTS: root },
})

const unittest = 'python3 -m unittest'

const replacing = (file: string, oldText: string, newText: string) => ({
  mode: 'modify',
  changes: [{ file, edits: [{ type: 'replace', oldText, newText }] }],
})

const writing = (path: string, content: string) => ({ mode: 'files', files: [{ path, content }] })

verifies('trm:runs:data', async (t, channel) => {
  const repo = `sales-${channel}`
  cpSync(join(projects, 'sales'), join(root, repo), { recursive: true })
  const call = await refine(t, channel, { url, root })
  const { sessionId: sid, baseline } = await finished(call, 'start', {
    repo,
    dataQual: 'python3 validate_schema.py',
    test: unittest,
    lint: 'python3 lint.py',
    bench: 'python3 bench.py',
    signals: [{ name: 'security', command: '! grep -rn "eval(" --include=*.py .', weight: 0.25 }],
  })
  const submit = (candidate: object) => finished(call, 'submit', { sid, candidate })
  const results = [
    baseline,
    await submit(replacing('report.py', 'float(row["amount"])', 'float(row["amount"] or 0)')),
    await submit(replacing('sales.csv', 'north,2,\n', 'north,2,0\n')),
    await submit(writing('cost.txt', '200\n')),
    await submit(writing('unsafe.py', 'eval("1")\n')),
    await submit({
      mode: 'files',
      files: [
        { path: 'unsafe.py', delete: true },
        { path: 'cost.txt', content: '50\n' },
      ],
    }),
  ]
  // data quality .3, tests .4, lint .1, benchmark .2, security .25
  const sums = [0.2 + 0.1 + 0.2 + 0.25, 0.4 + 0.1 + 0.2 + 0.25, 1.25, 1.15, 0.9, 1.25]
  for (const [step, sum] of sums.entries())
    t.ok(Math.abs(results[step]?.score - sum / 1.25) < 1e-9, `step ${step}: ${results[step]?.score}`)
  t.match(results[4]?.signals.at(-1), { name: 'security', value: 0, contribution: 0, ok: false })
  t.match(results[5], { perf: { value: 0.05, unit: 's', best: 0.05 }, rule: 'success' })
})

verifies('trm:run:output', 'of 200 MB the answer is small and holds the first failure', async (t) => {
  cpSync(join(projects, 'sums'), join(root, 'flood'), { recursive: true })
  const call = await refine(t, 'http', { url, root })
  const test = `${unittest}; yes "$(seq -s , 30)" | head -c 200000000; exit 1`
  const { sessionId: sid } = await call('start', { repo: 'flood', test, preflight: false })
  const result = await finished(call, 'submit', { sid, candidate: replacing('sums.py', '+ 1', '+ 2') })
  t.ok(result.stages[0].bytes > 200_000_000)
  t.match(result.failures[0], { id: 'test_sums.Sums.test_mean', message: /AssertionError/ })
  t.match(result.feedback[0], /test_mean/)
  t.ok(JSON.stringify(result).length < 40_000, `${JSON.stringify(result).length} characters`)
  t.ok(JSON.stringify(await call('state', { sid })).length < 50_000)
  t.ok(server.process.exitCode === null)
})
