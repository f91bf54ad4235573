import { verifies } from '../../../test/verifies.ts'
import { openTrm, python, repairSums, replacing, textOf, unittest } from './trm-kit.ts'

verifies('trm:signals:named', async (t) => {
  const { client } = await openTrm(t, { copies: ['sales'] })
  const { ask } = client()
  const { baseline } = await ask('start', {
    repo: 'sales',
    dataQual: `${python} validate_schema.py`,
    test: unittest,
    lint: `${python} lint.py`,
    bench: `${python} bench.py`,
    signals: [{ name: 'security', command: '! grep -rn "eval(" --include=*.py .', weight: 0.1 }],
  })
  const signals = Object.fromEntries(
    baseline.signals.map(({ name, ...signal }: { name: string }) => [name, signal]),
  )
  t.match(signals.security, { weight: 0.1, value: 1, ok: true })
  t.match(signals.dataQual, { value: 0, why: 'exit 1: failed no missing amounts' })
  t.match(signals.test, { value: 0.5 })
  t.match(signals.perf, { value: 1, why: '100 ms' })
  const sum = baseline.signals.reduce(
    (total: number, { contribution }: { contribution: number }) => total + contribution,
    0,
  )
  t.ok(Math.abs(sum - baseline.score) < 1e-9)
  t.ok(Math.abs(baseline.score - (0.4 * 0.5 + 0.1 + 0.2 + 0.1) / 1.1) < 1e-9)
})

verifies(
  'trm:score:missing',
  'a syntax error is worth nothing, names its line, and undo gives all back',
  async (t) => {
    const { client, root } = await openTrm(t, { copies: ['sums'] })
    const { ask } = client()
    await ask('start', { repo: 'sums', test: unittest })
    await ask('submit', { candidate: repairSums })
    const broken = await ask('submit', {
      candidate: { mode: 'files', files: [{ path: 'test_sums.py', delete: true }] },
    })
    t.match(broken, {
      tests: { total: 0 },
      missingCount: 3,
      shouldHalt: false,
      tamper: [{ path: 'test_sums.py', isTest: true }],
    })
    t.equal(broken.score, 0)
    t.ok(broken.feedback.some((item: string) => /3 tests of the baseline did not run/.test(item)))
    await ask('undo')
    const syntax = await ask('submit', {
      candidate: replacing('sums.py', 'def mean(values):', 'def mean(values:'),
    })
    t.match(syntax, { score: 0, bestScore: 1, missingCount: 3 })
    t.ok(
      syntax.feedback.some((item: string) => /sums\.py/.test(item) && /SyntaxError/.test(item)),
      'says where',
    )
    t.match(await ask('undo'), { currentStep: 1, score: 1 })
    t.notMatch(textOf(root, 'sums', 'sums.py'), /def mean\(values:/)
  },
)

verifies('trm:submit:tamper', 'the answer warns', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest })
  const candidate = { mode: 'create', files: [{ path: 'conftest.py', content: '' }] }
  const { tamper, feedback } = await ask('submit', { candidate })
  t.match(tamper, [{ path: 'conftest.py', why: 'configures pytest' }])
  t.ok(feedback.some((item: string) => item.includes('conftest.py')))
})

verifies('trm:submit:same', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const answer = async () => {
    const { ask } = client()
    await ask('start', { repo: 'sums', test: unittest, preflight: false })
    const result = await ask('submit', { candidate: replacing('sums.py', '+ 1', '+ 3') })
    await ask('reset')
    const { ms: _, sessionId: _id, stages, ...rest } = result
    return JSON.stringify(rest).replaceAll(/\d+\.\d+s\b/g, 's')
  }
  t.equal(await answer(), await answer())
})
