import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { globMatcher } from '../src/domain/glob.ts'
import { protectedPaths } from '../src/domain/tamper.ts'
import { judge, judged, openTrm, repairSums, scored, textOf, unittest, write } from './trm-kit.ts'

/** Tests of the same names that pass whatever the code does. */
const bribed = {
  mode: 'files',
  files: [
    {
      path: 'test_sums.py',
      content: `import unittest


class Sums(unittest.TestCase):
    def test_total(self): pass
    def test_mean(self): pass
    def test_mean_of_one(self): pass
`,
    },
  ],
}

verifies('trm:submit:guard', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { baseline } = await ask('start', { repo: 'sums', test: unittest })
  t.equal(baseline.guard, null)
  const cheat = await ask('submit', { candidate: bribed })
  t.match(cheat, {
    score: 1,
    shouldHalt: false,
    rule: null,
    guard: { files: ['test_sums.py'], passes: false, tests: { passed: 1, total: 3 } },
  })
  t.match(cheat.feedback[0], /^no success: with test_sums.py as at the start/)
  t.match(await ask('halt'), { shouldHalt: false, reasons: [/no success/] })
  t.match(textOf(root, 'sums', 'test_sums.py'), /: pass/, 'the files of the user are those of the candidate')
  const honest = await ask('submit', { candidate: repairSums })
  t.match(honest, { shouldHalt: true, rule: 'success', guard: { passes: true, tests: { passed: 3 } } })
})

verifies('trm:submit:guard', 'under write improved a bribed verdict lands nothing', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, options: { write: 'improved' } })
  t.match(await ask('submit', { candidate: bribed }), { landed: false, guard: { passes: false } })
  t.notMatch(textOf(root, 'sums', 'test_sums.py'), /: pass/)
})

verifies(
  'trm:submit:guard',
  'who does not want it does not get it, and a cheap step does not pay for it',
  async (t) => {
    const { client } = await openTrm(t, { files: judged })
    const { ask } = client()
    const tests = (note: string) => ({ mode: 'files', files: [{ path: 'tests/note.py', content: note }] })
    await ask('start', { repo: 'p', test: judge, options: { protect: [] } })
    const trusted = { ...tests('one'), files: [...tests('one').files, { path: 'score', content: '4\n' }] }
    t.match(await ask('submit', { candidate: trusted }), { rule: 'success', guard: null })
    await ask('reset')
    await ask('start', { repo: 'p', test: judge })
    t.match(await ask('submit', { candidate: tests('two') }), { guard: null, tamper: [{ isTest: true }] })
  },
)

verifies('trm:submit:protected', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'], files: { 'sums/data/rows.csv': 'a\n' } })
  const { ask } = client()
  await ask('start', { repo: 'sums', preflight: false, options: { protect: ['tests', 'data/'] } })
  const paths = ['test_sums.py']
  await t.rejects(ask('submit', { candidate: bribed }), { code: 'PROTECTED_FILE', data: { paths } })
  t.match(await ask('validate', { candidate: bribed }), {
    valid: false,
    errors: [{ code: 'PROTECTED_FILE' }],
  })
  const data = { mode: 'files', files: [{ path: 'data/rows.csv', delete: true }] }
  await t.rejects(ask('submit', { candidate: data }), { code: 'PROTECTED_FILE' })
  t.equal(textOf(root, 'sums', 'data', 'rows.csv'), 'a\n')
  t.match(await ask('submit', { candidate: repairSums }), { step: 1 })
})

t.test('protection: patterns of paths', async (t) => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['*.lock', 'a/b/yarn.lock', true],
    ['*.lock', 'yarn.lock.txt', false],
    ['data/', 'data/a/b.csv', true],
    ['data/', 'database/a.csv', false],
    ['src/*.py', 'src/a.py', true],
    ['src/*.py', 'src/deep/a.py', false],
    ['src/**/*.py', 'src/a.py', true],
    ['src/**', 'src/deep/a.py', true],
    ['a?.(b)', 'ax.(b)', true],
    ['a.b', 'aXb', false],
  ]
  for (const [pattern, path, is] of cases) t.equal(globMatcher(pattern)(path), is, `${pattern} ${path}`)
  t.same(protectedPaths(['tests/a.py', 'a.py'], ['tests'], []), ['tests/a.py'])
  t.same(protectedPaths(['tests/a.py'], 'compare', []), [])
})

verifies('trm:submit:project', async (t) => {
  const { client, critic } = await openTrm(t, {
    files: { ...judged, 'p/inner/score': '1\n', 'q/score': '1\n' },
  })
  const [one, two] = [client(), client()]
  const gate = `while [ ! -e ${critic.workDir}/../gate ]; do sleep 0.02; done`
  await one.ask('start', { repo: 'p', test: gate, preflight: false })
  await two.ask('start', { repo: 'p', test: judge, preflight: false })
  t.match(await one.ask('submit', { candidate: scored(2), wait: 0 }), { status: 'running' })
  for (const tool of ['undo', 'reset', 'save']) await t.rejects(two.ask(tool), { code: 'PROJECT_BUSY' }, tool)
  await t.rejects(two.ask('submit', { candidate: scored(3) }), { code: 'PROJECT_BUSY' })
  await t.rejects(two.ask('start', { repo: 'p/inner', test: judge }), { code: 'PROJECT_BUSY' })
  t.match(await two.ask('start', { repo: 'q', test: judge }), { status: 'done' }, 'elsewhere nothing waits')
  write(`${critic.workDir}/../gate`, '')
  t.match(await one.ask('state', { wait: 20 }), { step: 1, running: null })
  t.match(await client().ask('start', { repo: 'p', test: judge }), { status: 'done' })
})

verifies('trm:submit:project', 'of two candidates at once one is refused', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const speakers = [client(), client()]
  for (const { ask } of speakers) await ask('start', { repo: 'p', test: judge, preflight: false })
  const both = await Promise.allSettled(
    speakers.map(({ ask }, index) => ask('submit', { candidate: scored(index + 2) })),
  )
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const refused = both.find((one) => one.status === 'rejected')
  t.equal(refused?.reason.code, 'PROJECT_BUSY')
  t.equal(textOf(root, 'p', 'score'), both[0]?.status === 'fulfilled' ? '2\n' : '3\n')
})
