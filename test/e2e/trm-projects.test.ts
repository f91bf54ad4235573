/** Sessions on small projects that take their time: run by continuous integration. */
import t from 'tap'
import { openTrm, replacing } from '../../packages/app-trm/test/trm-kit.ts'
import { verifies } from '../verifies.ts'

t.setTimeout(120_000)

const unittest = 'python3 -m unittest'

verifies('trm:score:formula', 'a data project: each step has the score that its formula gives', async (t) => {
  const { client } = await openTrm(t, { copies: ['sales'] })
  const { ask } = client()
  const { baseline } = await ask('start', {
    repo: 'sales',
    dataQual: 'python3 validate_schema.py',
    test: unittest,
    lint: 'python3 lint.py',
    bench: 'python3 bench.py',
  })
  const scores = [baseline.score]
  const submit = async (candidate: object) => {
    const result = await ask('submit', { candidate })
    scores.push(result.score)
    return result
  }
  const missing = 'float(row["amount"])'
  await submit(replacing('report.py', missing, 'float(row["amount"] or 0)'))
  await submit(replacing('sales.csv', 'north,2,\n', 'north,2,0\n'))
  await submit({ mode: 'files', files: [{ path: 'cost.txt', content: '200\n' }] })
  const last = await submit({ mode: 'files', files: [{ path: 'cost.txt', content: '50\n' }] })
  const expected = [0.4 * 0.5 + 0.1 + 0.2, 0.4 + 0.1 + 0.2, 1, 0.3 + 0.4 + 0.1 + 0.2 * 0.5, 1]
  for (const [index, score] of expected.entries())
    t.ok(Math.abs((scores[index] ?? 0) - score) < 1e-9, `step ${index}: ${scores[index]}`)
  t.match(last, { perf: { value: 0.05, unit: 's', best: 0.05 }, rule: 'success' })
})

verifies('trm:run:output', 'of 200 MB the answer is small and holds the first failure', async (t) => {
  const megabytes = process.env.CAUSEWAY_LONG === undefined ? 40 : 200
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const test = `${unittest}; head -c ${megabytes}000000 /dev/zero | tr '\\0' 'x' | fold -w 100; exit 1`
  await ask('start', { repo: 'sums', test })
  const result = await ask('submit', { candidate: replacing('sums.py', '+ 1', '+ 2') })
  t.match(result.failures[0], { id: 'test_sums.Sums.test_mean', message: /AssertionError/ })
  t.match(result.feedback[0], /test_mean/)
  t.ok(JSON.stringify(result).length < 40_000, `${JSON.stringify(result).length} characters`)
  const state = await ask('state')
  t.ok(JSON.stringify(state).length < 50_000)
})
