import { verifies } from '../../../test/verifies.ts'
import { openTrm, replacing, textOf, unittest, write } from './trm-kit.ts'

verifies('trm:advice:fix', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, preflight: false })
  t.match(await ask('suggest'), { suggestions: [], message: 'No evaluations yet' })
  t.match(await ask('fix'), { suggestions: [], message: /No evaluations yet/ })
  const files = [
    {
      path: 'sums.py',
      content:
        'from statistics import fmean\n\n\ndef total(values):\n    return math.fsum(values)\n\n\ndef mean(values):\n    return fmean(values)\n',
    },
    { path: 'mathematics.py', content: '"""Nothing of use."""\n' },
    {
      path: 'test_use.py',
      content:
        'import unittest\n\n\nclass Use(unittest.TestCase):\n    def test_use(self):\n        self.assertEqual(mean([1, 3]), 2)\n',
    },
  ]
  const result = await ask('submit', { candidate: { mode: 'files', files } })
  t.equal(result.shouldHalt, false)
  t.ok(
    result.feedback.some((item: string) => /import or define 'mean'/.test(item)),
    'feedback says what to do',
  )
  const { suggestions } = await ask('suggest')
  t.ok(suggestions.length > 0 && suggestions.length <= 5)
  t.match(suggestions[0], { category: 'tests', issue: /NameError/, autoFixable: true })
  const rounds: number[] = []
  for (let round = 0; round < 3; round++) {
    const { suggestions: fixes } = await ask('fix')
    if (fixes.length === 0) break
    const { score } = await ask('submit', { candidate: fixes[0].candidateToFix })
    rounds.push(score)
  }
  t.equal(rounds.at(-1), 1, `each repair was submitted as it was: ${rounds}`)
  t.match(await ask('fix'), { suggestions: [], message: 'No errors detected' })
})

verifies('trm:advice:unsure', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, preflight: false })
  await ask('submit', { candidate: replacing('sums.py', '+ 1', '+ 2') })
  const { suggestions, focus } = await ask('fix')
  t.same(suggestions, [])
  t.match(focus[0], { file: 'test_sums.py', line: 11 })
  t.ok(focus[0].lines.some((line: string) => line.startsWith('11: ')))
})

verifies(
  'trm:advice:fix',
  'a repair that helps nothing is not offered, and trials leave the project as it is',
  async (t) => {
    const { client, root } = await openTrm(t, {
      files: {
        'p/app.py': 'def load(values):\n    return np.mean(values)\n',
        'p/test_app.py':
          'import unittest\n\nfrom app import load\n\n\nclass T(unittest.TestCase):\n    def test_load(self):\n        self.assertEqual(load([1, 3]), 2)\n',
        'p/numpy.py': 'raise ImportError("no numpy here")\n',
      },
    })
    const { ask } = client()
    await ask('start', { repo: 'p', test: unittest })
    t.match(await ask('fix'), { suggestions: [], message: 'No repair is sure' })
    t.match(await ask('fix', { verify: false }), { suggestions: [{ rationale: /'np'/ }] })
    t.match(
      await ask('fix', { wait: 0 }),
      { suggestions: [{ verified: false, scoreAfter: null }] },
      'no time to try',
    )
    t.equal(textOf(root, 'p/app.py'), 'def load(values):\n    return np.mean(values)\n')
    write(`${root}/p/numpy.py`, 'def mean(values):\n    return sum(values) / len(values)\n')
    t.match(await ask('fix'), { suggestions: [{ verified: true, scoreAfter: 1 }] }, 'now it helps')
  },
)
