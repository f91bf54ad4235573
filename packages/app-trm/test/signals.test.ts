import { verifies } from '../../../test/verifies.ts'
import { judge, judged, openTrm, scored } from './trm-kit.ts'

verifies('trm:submit:fail-fast', async (t) => {
  const { client } = await openTrm(t, { files: judged })
  const { ask } = client()
  const commands = { test: judge, lint: 'true', bench: 'echo 100 ms' }
  const { baseline } = await ask('start', { repo: 'p', ...commands, options: { failFast: true } })
  t.ok(
    baseline.stages.every(({ exitCode }: { exitCode: number | null }) => exitCode !== null),
    'a baseline runs all',
  )
  const { signals, score, stages } = await ask('submit', { candidate: scored(2) })
  t.match(signals, [
    { name: 'test', value: 0.5 },
    { name: 'lint', value: 0, ok: false, why: 'not run: test failed' },
    { name: 'perf', value: 0, why: 'not run: test failed' },
  ])
  t.ok(Math.abs(score - (0.4 * 0.5) / 0.7) < 1e-9, 'what was not run counts, and is worth nothing')
  t.match(stages[1], { stage: 'lint', exitCode: null, ms: 0 })
  t.match(await ask('submit', { candidate: scored(4) }), { score: 1, rule: 'success' })
})

verifies('trm:signals:graded', 'end to end: data checks count one by one', async (t) => {
  const { client } = await openTrm(t, { files: judged })
  const { ask } = client()
  const dataQual = `echo '{"checks": [{"name": "rows", "ok": true}, {"name": "dates", "ok": false}]}'; exit 1`
  const { baseline } = await ask('start', { repo: 'p', dataQual, options: { graded: true } })
  t.match(baseline.signals, [{ value: 0.5, ok: false, why: 'exit 1: failed dates' }])
})

verifies(
  'trm:signals:coverage',
  'end to end: what the tests of this step wrote is told, and nothing older',
  async (t) => {
    const report = {
      totals: { covered_lines: 3, num_statements: 4 },
      files: { score: { missing_lines: [2] }, other: { missing_lines: [1] } },
    }
    const { client } = await openTrm(t, { files: judged })
    const { ask } = client()
    const written = `${judge}; echo '${JSON.stringify(report)}' > coverage.json`
    const { baseline } = await ask('start', { repo: 'p', test: written })
    t.match(baseline, { coverage: { source: 'coverage.json', percent: 75, uncovered: {} } })
    const { coverage } = await ask('submit', { candidate: scored(2) })
    t.same(coverage, {
      source: 'coverage.json',
      percent: 75,
      covered: 3,
      total: 4,
      uncovered: { score: [2] },
    })
    const { suggestions } = await ask('suggest')
    t.ok(suggestions.some(({ issue }: { issue: string }) => issue === 'no test runs lines 2 of score'))
    const weighed = await ask('start', { repo: 'p', test: written, weights: { coverage: 0.2 } })
    t.match(weighed.config.weights, { test: 0.4, coverage: 0.2 })
    const { score, signals } = await ask('submit', { candidate: scored(3) })
    t.ok(Math.abs(score - (0.4 * 0.75 + 0.2 * 0.75) / 0.6) < 1e-9)
    t.match(signals.at(-1), { name: 'coverage', ok: true, why: '3 of 4 lines ran, by coverage.json' })
    await t.rejects(ask('start', { repo: 'p', lint: 'true', weights: { coverage: 1 } }), {
      code: 'INVALID_ARGUMENTS',
    })
    const { baseline: none } = await ask('start', { repo: 'p', test: judge, weights: { coverage: 0.4 } })
    t.equal(none.coverage, null)
    t.ok(Math.abs(none.score - 0.375) < 1e-9, 'half of the weight is of nothing')
    await ask('start', { repo: 'p', test: judge })
    const old = [{ path: 'coverage.json', content: JSON.stringify(report) }]
    await ask('submit', { candidate: { mode: 'create', files: old } })
    t.match(await ask('submit', { candidate: scored(1) }), { coverage: null })
  },
)
